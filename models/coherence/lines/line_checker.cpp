// SPDX-License-Identifier: Apache-2.0
#include "models/coherence/lines/line_checker.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::coherence {

void LineChecker::settle() {
  if (storing_ == 0) return;
  std::copy(stored_.begin(), stored_.end(), lines_[storing_].begin());
  storing_ = 0;
}

void LineChecker::fail(std::uint64_t line, const std::string& what) const {
  throw Incoherence(fmt::format("line {:#x}: {}; {}", line, what, describe_(line)));
}

void LineChecker::compare(std::uint64_t line, Bytes bytes, const std::string& who) {
  const auto known = lines_.find(line);
  if (known == lines_.end() || std::equal(bytes.begin(), bytes.end(), known->second.begin())) return;
  const auto differs = std::mismatch(bytes.begin(), bytes.end(), known->second.begin());
  fail(line, fmt::format("{} has {:#04x} in byte {}, where {:#04x} was written last", who, *differs.first,
                         differs.first - bytes.begin(), *differs.second));
}

void LineChecker::used(unsigned hart, std::uint64_t line, Bytes bytes, bool own) {
  settle();
  ++accesses_;
  compare(line, bytes, fmt::format("hart {}", hart));
  if (!own) return;
  storing_ = line;
  stored_ = bytes;
}

void LineChecker::granted(std::uint64_t line, Bytes bytes, bool alone) {
  settle();
  if (!alone) return compare(line, bytes, "what the home grants, though caches hold the line,");
  std::copy(bytes.begin(), bytes.end(), lines_[line].begin());
}

void LineChecker::written(std::uint64_t line, Bytes bytes) {
  settle();
  compare(line, bytes, "what comes back to the home");
}

void LineChecker::held(std::uint64_t line, unsigned writers, unsigned readers) {
  if (writers == 0 || readers == 1) return;
  fail(line, fmt::format("{} harts may write it, and {} may read it", writers, readers));
}

void LineChecker::reset() {
  storing_ = 0;
  lines_.clear();
}

}  // namespace sluice::coherence
