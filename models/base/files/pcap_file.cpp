// SPDX-License-Identifier: Apache-2.0
#include "models/base/files/pcap_file.h"

#include <utility>

namespace sluice::base {
namespace {

constexpr std::uint32_t kMagicNanoseconds = 0xa1b23c4d, kSnapLength = 262144;

void put32(std::string& out, std::uint32_t v) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(v >> (8 * i)));
}

}  // namespace

PcapFile::PcapFile(std::string path, std::uint32_t link_type) : file_(std::move(path)) {
  put32(record_, kMagicNanoseconds);
  put32(record_, 2 | 4 << 16);  // version 2.4
  put32(record_, 0);            // stamps are UTC
  put32(record_, 0);            // their accuracy is not stated
  put32(record_, kSnapLength);
  put32(record_, link_type);
  file_.write(record_);
}

void PcapFile::write(std::uint64_t nanoseconds, std::string_view bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  record_.clear();
  put32(record_, static_cast<std::uint32_t>(nanoseconds / 1'000'000'000));
  put32(record_, static_cast<std::uint32_t>(nanoseconds % 1'000'000'000));
  put32(record_, length);
  put32(record_, length);
  record_.append(bytes);
  file_.write(record_);
  ++records_;
}

}  // namespace sluice::base
