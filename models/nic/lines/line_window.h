// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Cache lines through which a NIC and its host pass messages in one direction: two control lines, of which the host
/// holds one at a time, and overflow lines for what a control line has no room for. Collects lines that are taken back,
/// and knows when all are there.

#include <cstdint>
#include <span>
#include <vector>

#include "models/base/memory/line_home.h"

namespace sluice::nic {

class LineWindow {
 public:
  static constexpr unsigned kNone = 2;  ///< as the number of a control line

  /// Where a window has what, in bytes. The control lines are the first two lines.
  struct Shape {
    unsigned line;            ///< bytes of a line
    unsigned inline_at;       ///< in a control line: where a message's bytes begin
    unsigned overflow_at;     ///< in the window: the first overflow line; a multiple of `line`
    unsigned overflow_lines;  ///< their number
  };

  explicit LineWindow(const Shape& shape) : shape_(shape) {}

  /// base: bus address of its first control line.
  void attach(base::LineCaches& caches, std::uint64_t base) {
    caches_ = &caches;
    base_ = base;
  }
  const Shape& shape() const { return shape_; }
  std::uint64_t control_line(unsigned n) const { return base_ + std::uint64_t{n} * shape_.line; }
  std::uint64_t overflow_line(unsigned n) const { return base_ + shape_.overflow_at + std::uint64_t{n} * shape_.line; }
  /// The control line at an address, or kNone.
  unsigned control_at(std::uint64_t line) const {
    return line == control_line(0) ? 0 : line == control_line(1) ? 1 : kNone;
  }
  bool is_overflow(std::uint64_t line) const { return overflow_at(line) < shape_.overflow_lines; }
  /// The overflow line at an address, which is one.
  unsigned overflow_at(std::uint64_t line) const {
    return static_cast<unsigned>((line - overflow_line(0)) / shape_.line);
  }
  /// Bytes of a message that a control line has room for.
  unsigned inline_bytes() const { return shape_.line - shape_.inline_at; }
  /// Overflow lines of a message of this many bytes.
  unsigned overflow_lines(std::uint64_t bytes) const {
    return bytes <= inline_bytes() ? 0
                                   : static_cast<unsigned>((bytes - inline_bytes() + shape_.line - 1) / shape_.line);
  }
  /// Bytes of the longest message.
  std::uint64_t capacity() const { return inline_bytes() + std::uint64_t{shape_.overflow_lines} * shape_.line; }

  // The device's bytes of the lines.
  std::span<std::uint8_t> control(unsigned n) { return at(n); }
  std::span<std::uint8_t> overflow(unsigned n) { return at(2 + n); }
  /// Bytes that have come back.
  void written(std::uint64_t line, std::span<const std::uint8_t> bytes);
  /// Puts a message's bytes into a control line and the overflow lines.
  void put(unsigned control, std::span<const std::uint8_t> message);
  /// Takes them out again.
  void get(unsigned control, std::span<std::uint8_t> message);
  void clear_control(unsigned n);

  /// Takes lines away from the caches: a line may be there at once, so the series has a begin and an end.
  void begin_recalls() { ++missing_; }
  void recall(std::uint64_t line) {
    ++missing_;
    recalled_.push_back(line);
    caches_->recall(line, base::Recall::nothing);
  }
  /// An overflow line is given to the host.
  void give_overflow(unsigned n);
  /// Takes back those of the first n overflow lines that the host has been given.
  void recall_overflow(unsigned n);
  /// A recalled line is there, or the series has ended. Returns whether nothing is missing any more.
  bool take() { return --missing_ == 0; }
  bool is_recalling() const { return missing_ > 0; }
  /// Lets the caches have again what was recalled.
  void unlock();
  void reset();

 private:
  std::span<std::uint8_t> at(unsigned line);

  const Shape shape_;
  base::LineCaches* caches_ = nullptr;
  std::uint64_t base_ = 0;
  std::vector<std::uint8_t> bytes_;  ///< control lines, then overflow lines; none before the first use
  std::vector<bool> given_;          ///< overflow lines, since they were last taken back
  unsigned missing_ = 0;
  std::vector<std::uint64_t> recalled_;
};

}  // namespace sluice::nic
