#pragma once
/// Tags and states of one set-associative cache, without data. Plain C++: execution engines read it inline, coherence
/// and DMA write it.

#include <cstdint>
#include <vector>

namespace sluice::base {

class LineState {
 public:
  enum State : std::uint8_t { kInvalid, kShared, kExclusive, kModified };
  struct Line {
    std::uint64_t address = ~std::uint64_t{0};  ///< of the line's first byte; all ones while invalid
    State state = kInvalid;
  };

  /// size and line in bytes, powers of two; size = sets x ways x line.
  LineState(std::uint64_t size, unsigned ways, unsigned line);

  unsigned line_bytes() const { return 1u << line_shift_; }
  std::uint64_t line_of(std::uint64_t address) const { return address >> line_shift_ << line_shift_; }

  /// True when the access needs nothing from outside: the line is present and, for a write, owned. A write to an
  /// exclusive line makes it modified. Makes the line the set's most recently used. Counts nothing.
  bool hit(std::uint64_t address, bool write) {
    Line* set = set_of(address);
    const std::uint64_t line = line_of(address);
    if (set[0].address == line) [[likely]]
      return touch(set[0], write);
    return hit_further(set, line, write);
  }
  State state(std::uint64_t address) const;
  /// Puts a line in, as most recently used; returns what it displaced (state kInvalid: nothing). A new line displaces
  /// only among the set's `least_recent` least recently used lines and stays among them (0: all); so a writer that is
  /// limited to a few ways, such as DDIO, does not sweep the set.
  Line fill(std::uint64_t address, State state, unsigned least_recent = 0);
  /// Changes a present line to shared or invalid; returns the state it had.
  State downgrade(std::uint64_t address, State to);
  void clear();

 private:
  Line* set_of(std::uint64_t address) { return &lines_[((address >> line_shift_) & set_mask_) * ways_]; }
  const Line* set_of(std::uint64_t address) const { return &lines_[((address >> line_shift_) & set_mask_) * ways_]; }
  static bool touch(Line& l, bool write) {
    if (!write) return true;
    if (l.state < kExclusive) return false;
    l.state = kModified;
    return true;
  }
  bool hit_further(Line* set, std::uint64_t line, bool write);

  unsigned ways_;
  unsigned line_shift_;
  std::uint64_t set_mask_;
  std::vector<Line> lines_;  ///< a set's lines in order of last use
};

}  // namespace sluice::base
