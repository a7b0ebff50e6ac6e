// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The lines with homes of their own that one hart's caches hold, with their states and bytes. Plain C++.

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>

#include "models/coherence/link/coherent_message.h"
#include "models/coherence/protocol/cache_line.h"

namespace sluice::coherence {

class HartLines {
 public:
  struct Line {
    std::uint64_t address = 0;
    std::uint64_t used = 0;       ///< the greater, the later
    bool is_leaving = false;      ///< on its way home
    base::RequestId request = 0;  ///< the ledger's request that the bytes belong to
    protocol::CacheLine state;
    std::array<std::uint8_t, kMostLineBytes> bytes;
  };

  /// most: lines that it holds; those that are on their way home do not count.
  /// line_bytes: a power of two.
  HartLines(unsigned line_bytes, std::size_t most)
      : shift_(static_cast<unsigned>(std::countr_zero(line_bytes))), offset_(line_bytes - 1), most_(most) {}

  /// The bytes from `address` on, if the hart may use them so; the line is the most recently used then. Else null.
  std::uint8_t* use(std::uint64_t address, bool own) {
    const std::uint64_t start = address & ~offset_;
    Line*& recent = recent_[(address >> shift_) % kRecent];
    Line* line = recent;
    if (!line || line->address != start) [[unlikely]] {
      line = find(start);
      if (!line) return nullptr;
      recent = line;
    }
    if (own ? !line->state.may_write() : !line->state.may_read()) return nullptr;
    if (own) line->state.write(0);
    line->used = ++uses_;
    return &line->bytes[address & offset_];
  }

  /// Null: the line is not here.
  Line* find(std::uint64_t line) {
    const auto found = lines_.find(line);
    return found == lines_.end() ? nullptr : &found->second;
  }
  bool is_full() const { return held_ >= most_; }
  /// A place for a line that is not here.
  Line& add(std::uint64_t line);
  /// The least recently used line that may be evicted; null: all wait for something.
  Line* to_evict();
  /// The line goes home, and counts no more.
  void move_out(Line&);
  void remove(const Line&);
  void clear();

  template <class F>
  void for_each(const F& f) const {
    for (const auto& [address, line] : lines_) f(line);
  }

 private:
  static constexpr std::size_t kRecent = 256;

  const unsigned shift_;
  const std::uint64_t offset_;  ///< the bits of an address within a line
  const std::size_t most_;
  std::size_t held_ = 0;
  std::uint64_t uses_ = 0;
  std::unordered_map<std::uint64_t, Line> lines_;  ///< by address
  std::array<Line*, kRecent> recent_{};            ///< by number: lines that use() has found
};

}  // namespace sluice::coherence
