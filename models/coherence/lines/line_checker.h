// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Watches the lines with homes of their own of one system: one writer or many readers, and each load reads what was
/// stored last. It changes nothing. Plain C++.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "models/coherence/link/coherent_message.h"

namespace sluice::coherence {

/// What the caches or a home did wrong, with the line.
class Incoherence : public std::logic_error {
  using std::logic_error::logic_error;
};

/// Its functions throw Incoherence.
class LineChecker {
 public:
  using Bytes = std::span<const std::uint8_t>;
  using Describe = std::function<std::string(std::uint64_t line)>;

  /// describe: says who holds a line and what is under way, for what is thrown.
  explicit LineChecker(Describe describe) : describe_(std::move(describe)) {}

  /// A hart is about to read bytes of a line that it holds, or to write them. What it writes is noted by the next call
  /// of anything: `line` must live until then.
  void used(unsigned hart, std::uint64_t line, Bytes bytes, bool own);
  /// A home grants a line. alone: no cache has any of it, so the device may have changed its bytes.
  void granted(std::uint64_t line, Bytes bytes, bool alone);
  /// A changed line has come back to its home.
  void written(std::uint64_t line, Bytes bytes);
  /// The states of all harts' lines may have changed. writers, readers: harts that may write it now, or read it.
  void held(std::uint64_t line, unsigned writers, unsigned readers);
  /// A line is about to leave a hart's caches: its bytes are not looked at any more.
  void settle();
  /// The caches have forgotten everything.
  void reset();

  std::uint64_t accesses() const { return accesses_; }

 private:
  using Line = std::array<std::uint8_t, kMostLineBytes>;
  void compare(std::uint64_t line, Bytes bytes, const std::string& who);
  [[noreturn]] void fail(std::uint64_t line, const std::string& what) const;

  const Describe describe_;
  std::unordered_map<std::uint64_t, Line> lines_;  ///< what every reader must find
  std::uint64_t storing_ = 0;                      ///< the line that a hart is writing; 0: none
  Bytes stored_;
  std::uint64_t accesses_ = 0;
};

}  // namespace sluice::coherence
