// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The lines of write-through device memory that a hart caches. They are copies: the hart's own stores change them, and
/// its cache-block operations drop them, but nothing tells the hart when the device changes what it has. Plain C++.

#include <array>
#include <cstdint>
#include <list>
#include <unordered_map>

namespace sluice::riscv {

class WriteThroughLines {
 public:
  static constexpr unsigned kMostBytes = 128;

  struct Shape {
    unsigned lines = 0;  ///< that a hart holds; 0: there is no write-through memory
    unsigned ahead = 0;  ///< that prefetch instructions may have under way
  };

  /// line_bytes: a power of two, at most kMostBytes.
  WriteThroughLines(const Shape& shape, unsigned line_bytes) : shape_(shape), line_bytes_(line_bytes) {}

  unsigned line_bytes() const { return line_bytes_; }
  std::uint64_t line_of(std::uint64_t address) const { return address & ~std::uint64_t{line_bytes_ - 1}; }

  /// The bytes from `address` on, whose line is the most recently used then; null: the line is not here.
  std::uint8_t* find(std::uint64_t address);
  /// Puts in a line that is not here. The least recently used one makes room. Returns its bytes.
  std::uint8_t* put(std::uint64_t line, const std::uint8_t* bytes);
  void drop(std::uint64_t line);
  void clear();

  // Lines that prefetch instructions have asked for.

  /// Whether one more may be asked for.
  bool may_expect(std::uint64_t line) { return coming_.size() < shape_.ahead && !is_coming(line) && !find(line); }
  void expect(std::uint64_t line) { coming_[line] = false; }
  bool is_any_coming() const { return !coming_.empty(); }
  bool is_coming(std::uint64_t line) const { return coming_.contains(line); }
  /// A line that was expected is there; bytes null: it will not come. A line that was dropped meanwhile is not kept.
  void arrived(std::uint64_t line, const std::uint8_t* bytes);

 private:
  struct Line {
    std::uint64_t address;
    std::array<std::uint8_t, kMostBytes> bytes;
  };

  const Shape shape_;
  const unsigned line_bytes_;
  std::list<Line> lines_;  ///< in order of last use
  std::unordered_map<std::uint64_t, std::list<Line>::iterator> places_;
  std::unordered_map<std::uint64_t, bool> coming_;  ///< true: the bytes are too old when they come
};

}  // namespace sluice::riscv
