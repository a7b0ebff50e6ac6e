// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One direction of a coherent PIO NIC: two control lines, of which the host holds one at a time, and overflow lines.
/// Collects lines that are taken back, and knows when all are there.

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/memory/line_home.h"
#include "models/nic/pio/pio_regs.h"

namespace sluice::nic {

class LineWindow {
 public:
  using Line = std::array<std::uint8_t, PIO_LINE>;
  static constexpr unsigned kNone = 2;  ///< as the number of a control line

  /// base: bus address of its first control line.
  void attach(base::LineCaches& caches, std::uint64_t base) {
    caches_ = &caches;
    base_ = base;
  }
  std::uint64_t control_line(unsigned n) const { return base_ + PIO_CONTROL_LINE(n); }
  std::uint64_t overflow_line(unsigned n) const { return base_ + PIO_OVERFLOW + n * PIO_LINE; }
  /// The control line at an address, or kNone.
  unsigned control_at(std::uint64_t line) const {
    return line == control_line(0) ? 0 : line == control_line(1) ? 1 : kNone;
  }
  /// The overflow line at an address; PIO_OVERFLOW_LINES: it is none.
  unsigned overflow_at(std::uint64_t line) const {
    const std::uint64_t offset = line - overflow_line(0);
    return offset < PIO_OVERFLOW_LINES * PIO_LINE ? static_cast<unsigned>(offset / PIO_LINE) : PIO_OVERFLOW_LINES;
  }
  /// Overflow lines of a frame of this many bytes.
  static unsigned overflow_lines(std::uint64_t bytes) {
    return bytes <= PIO_INLINE_BYTES ? 0 : static_cast<unsigned>((bytes - PIO_INLINE_BYTES + PIO_LINE - 1) / PIO_LINE);
  }

  // The device's bytes of the lines.
  Line& control(unsigned n) { return control_[n]; }
  Line& overflow(unsigned n) { return overflow_[n]; }
  /// Bytes that have come back.
  void written(std::uint64_t line, std::span<const std::uint8_t> bytes) {
    const unsigned n = control_at(line);
    Line& own = n != kNone ? control_[n] : overflow_[overflow_at(line)];
    std::copy(bytes.begin(), bytes.end(), own.begin());
  }
  /// Puts a frame's bytes into a control line and the overflow lines.
  void put(unsigned control, std::span<const std::uint8_t> frame);
  /// Takes them out again.
  void get(unsigned control, std::span<std::uint8_t> frame) const;

  /// Takes lines away from the caches: a line may be there at once, so the series has a begin and an end.
  void begin_recalls() { ++missing_; }
  void recall(std::uint64_t line) {
    ++missing_;
    recalled_.push_back(line);
    caches_->recall(line, base::Recall::nothing);
  }
  /// An overflow line is given to the host.
  void give_overflow(unsigned n) { given_[n] = true; }
  /// Takes back those of the first n overflow lines that the host has been given.
  void recall_overflow(unsigned n);
  /// A recalled line is there, or the series has ended. Returns whether nothing is missing any more.
  bool take() { return --missing_ == 0; }
  bool is_recalling() const { return missing_ > 0; }
  /// Lets the caches have again what was recalled.
  void unlock();
  void reset();

 private:
  base::LineCaches* caches_ = nullptr;
  std::uint64_t base_ = 0;
  std::array<Line, 2> control_{};
  std::array<Line, PIO_OVERFLOW_LINES> overflow_{};
  std::bitset<PIO_OVERFLOW_LINES> given_;  ///< overflow lines, since they were last taken back
  unsigned missing_ = 0;
  std::vector<std::uint64_t> recalled_;
};

}  // namespace sluice::nic
