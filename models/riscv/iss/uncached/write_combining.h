// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The write-combining buffers of a hart. A store to non-cacheable memory stays in one until the buffer is written:
/// when all of its bytes are there, when another block needs it, or when the hart orders its stores. Plain C++.

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "models/base/memory/guest_ram.h"

namespace sluice::riscv {

class WriteCombining {
 public:
  static constexpr unsigned kMostBytes = 128, kMostBuffers = 64;

  struct Shape {
    unsigned buffers = 0;  ///< 0 to kMostBuffers; 0: no store waits
    unsigned bytes = 64;   ///< of a buffer: a power of two, 8 to kMostBytes
  };
  struct Buffer {
    std::uint64_t block = 0;        ///< physical address
    base::GuestRam* ram = nullptr;  ///< null: a device
    std::bitset<kMostBytes> written;
    std::array<std::uint8_t, kMostBytes> bytes{};
  };
  /// A part of a buffer that has been written without a gap.
  struct Run {
    unsigned first, count;
  };

  explicit WriteCombining(const Shape& shape) : shape_(shape) {}

  bool empty() const { return open_.empty(); }
  const Shape& shape() const { return shape_; }

  /// What a store of `size` bytes, which lie in one block, would do.
  struct Outlook {
    bool merges = false;  ///< its block has a buffer
    bool fills = false;   ///< its buffer is full then, or it needs none
  };
  Outlook look_ahead(std::uint64_t address, unsigned size) const;
  /// Whether all buffers hold stores.
  bool is_full() const { return open_.size() == shape_.buffers; }
  /// When a buffer is free for a new block, if `is_full()` is false: slots, at least `slot`.
  std::uint64_t free_from(std::uint64_t slot) const;

  /// Puts a store into its block's buffer, or a free one.
  void store(std::uint64_t address, base::GuestRam*, const void* data, unsigned size);
  /// Takes out the buffer of an address, or the one that was opened first. There must be one.
  Buffer take(std::uint64_t address) { return take_at(find(block_of(address))); }
  Buffer take_oldest() { return take_at(0); }
  /// A buffer that was taken out is free from this slot on.
  void drained(std::uint64_t slot);

  /// The next run at or behind byte `from` of a buffer; count 0: there is none.
  Run next_run(const Buffer&, unsigned from) const;
  void reset() { open_.clear(); }

 private:
  std::uint64_t block_of(std::uint64_t address) const { return address & ~std::uint64_t{shape_.bytes - 1}; }
  /// Index of a block's buffer in open_; its size: it has none.
  std::size_t find(std::uint64_t block) const;
  Buffer take_at(std::size_t index);

  Shape shape_;
  std::vector<Buffer> open_;             ///< with stores in them, in the order in which they were opened
  std::vector<std::uint64_t> draining_;  ///< slot from which each is free
};

}  // namespace sluice::riscv
