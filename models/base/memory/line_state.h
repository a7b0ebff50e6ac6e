// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Tags and states of one set-associative cache, without data. Plain C++: execution engines read it inline, coherence
/// and DMA write it.

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace sluice::base {

/// What a hart does with a line. An atomic operation owns the line like a store and waits for it like a load. A
/// prefetch only brings it.
enum class LineUse : std::uint8_t { fetch, load, prefetch, store, atomic };
constexpr bool writes(LineUse use) { return use >= LineUse::store; }

class LineState {
 public:
  enum State : std::uint8_t { kInvalid, kShared, kExclusive, kModified };
  struct Line {
    std::uint64_t address = 0;  ///< of the line's first byte; means nothing while invalid
    State state = kInvalid;
  };

  /// size and line in bytes, line a power of two, at least 8; size = sets x ways x line, with any number of ways and
  /// sets. The set of a line is its number, address / line, modulo the sets.
  LineState(std::uint64_t size, unsigned ways, unsigned line);

  unsigned line_bytes() const { return 1u << line_shift_; }
  std::uint64_t line_of(std::uint64_t address) const { return address & line_mask_; }

  /// True when the access needs nothing from outside: the line is present and, for a write, owned. A write to an
  /// exclusive line makes it modified. Makes the line the set's most recently used. Counts nothing.
  bool hit(std::uint64_t address, bool write) {
    // Without a mask, this looks at an entry that holds nothing, and hit_further() at the set.
    Entry* set = &masked_sets_[((address >> line_shift_) & set_mask_) * ways_];
    const std::uint64_t line = line_of(address);
    if (holds(set[0], line)) [[likely]]
      return touch(set[0], write);
    return hit_further(set, line, write);
  }
  State state(std::uint64_t address) const;
  /// Puts a line in, as most recently used; returns what it displaced (state kInvalid: nothing). most: 0, or of a
  /// writer that has only so many ways of a set, such as DDIO. Of the lines that such writers have brought, a set has
  /// at most so many: a further one displaces the one of them that was used least recently. What is there already keeps
  /// its place.
  Line fill(std::uint64_t address, State state, unsigned most = 0);
  /// Changes a present line to shared or invalid; returns the state it had.
  State downgrade(std::uint64_t address, State to);
  void clear();
  /// How often a line may have gone or been downgraded. While it stays the same, lines that are there stay, and those
  /// that may be written may still be.
  std::uint64_t removals() const { return removals_; }

 private:
  /// A line's address with its state in the lowest two bits, and kLimited; 0 where there is none, so that untouched
  /// sets of a large cache take no memory.
  using Entry = std::uint64_t;
  static constexpr Entry kLimited = 4;  ///< a writer that has only some of the ways has brought it
  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };

  Entry* set_of(std::uint64_t address) const;
  static bool holds(Entry e, std::uint64_t line) { return e - line - 1 < (kLimited | kModified); }
  static State state_of(Entry e) { return static_cast<State>(e & 3); }
  static bool touch(Entry& e, bool write) {
    if (!write) return true;
    if (state_of(e) < kExclusive) return false;
    e |= kModified;
    return true;
  }
  bool hit_further(Entry* set, std::uint64_t line, bool write);
  Line fill_limited(Entry* set, std::uint64_t line, State state, unsigned most);
  unsigned find(const Entry* set, std::uint64_t line, unsigned w = 0) const;

  // What hit() reads comes first.
  unsigned ways_;
  unsigned line_shift_;
  std::uint64_t line_mask_;
  std::uint64_t set_mask_ = 0;    ///< sets - 1 where that is a mask
  Entry* masked_sets_ = nullptr;  ///< the sets, or the empty entry behind them where there is no mask
  std::uint64_t removals_ = 0;
  std::uint64_t sets_;
  std::uint64_t reciprocal_ = 0;  ///< 2^(64 + reciprocal_shift_) / sets_, rounded up; 0 where there is a mask
  unsigned reciprocal_shift_ = 0;
  std::uint64_t count_;
  std::unique_ptr<Entry[], Free>
      entries_;  ///< a set's lines in order of last use, then empty entries; behind all sets, one more
};

}  // namespace sluice::base
