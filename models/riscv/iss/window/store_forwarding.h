// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which stores in the store buffer have the bytes of a load.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace sluice::riscv {

/// Stores have numbers that grow from 1 on. A store that crosses an aligned 8 bytes (a granule) makes two entries.
class StoreForwarding {
 public:
  struct Store {
    std::uint64_t granule = 0;   ///< address / 8
    std::uint64_t previous = 0;  ///< number of the last store of the same hash
    std::uint64_t ready = 0;     ///< cycle in which the data can be forwarded
    std::uint64_t written = 0;   ///< cycle in which the store is in L1D; grows from store to store
    std::uint8_t bytes = 0;      ///< bit n: byte n of the granule
  };

  explicit StoreForwarding(unsigned store_buffer)
      : stores_(std::bit_ceil(2 * store_buffer + kMostInRun)), mask_(stores_.size() - 1) {}

  std::size_t capacity() const { return stores_.size(); }
  std::uint64_t next() const { return next_; }
  const Store& operator[](std::uint64_t number) const { return stores_[number & mask_]; }

  bool knows(std::uint64_t number) const { return number >= oldest_; }

  /// A store to these bytes follows.
  void note(std::uint64_t granule, unsigned bytes, std::uint64_t ready, std::uint64_t written) {
    Store& s = note_order(granule, bytes);
    s.ready = ready;
    s.written = written;
  }
  /// Whether a store that is written after this cycle may have bytes of this granule.
  bool may_have(std::uint64_t granule, std::uint64_t cycle) const {
    for (std::uint64_t n = last_[hash(granule)]; n >= oldest_; n = (*this)[n].previous) {
      const Store& s = (*this)[n];
      if (s.written <= cycle) return false;
      if (s.granule == granule) return true;
    }
    return false;
  }
  /// The last store to some of these bytes, if it is written after this cycle. Earlier ones are written before it.
  const Store* find(std::uint64_t granule, unsigned bytes, std::uint64_t cycle) const {
    for (std::uint64_t n = last_[hash(granule)]; n >= oldest_; n = (*this)[n].previous) {
      const Store& s = (*this)[n];
      if (s.written <= cycle) return nullptr;
      if (s.granule == granule && (s.bytes & bytes) != 0) return &s;
    }
    return nullptr;
  }

  // For stores of which only the order is known.

  Store& note_order(std::uint64_t granule, unsigned bytes) {
    const std::uint64_t number = next_++;
    std::uint64_t& last = last_[hash(granule)];
    Store& s = stores_[number & mask_];
    s.granule = granule;
    s.previous = last;
    s.bytes = static_cast<std::uint8_t>(bytes);
    last = number;
    if (number - oldest_ > mask_) oldest_ = number - mask_;
    return s;
  }
  /// The number of the last store of the same hash, or 0.
  std::uint64_t last_alike(std::uint64_t granule) const { return last_[hash(granule)]; }
  /// The number of the last store to some of these bytes, or 0 if none from number `oldest` on is one. last:
  /// last_alike().
  std::uint64_t find_number(std::uint64_t last, std::uint64_t granule, unsigned bytes, std::uint64_t oldest) const {
    for (std::uint64_t n = last; n >= oldest; n = (*this)[n].previous)
      if (const Store& s = (*this)[n]; s.granule == granule && (s.bytes & bytes) != 0) return n;
    return 0;
  }
  std::uint64_t find_number(std::uint64_t granule, unsigned bytes, std::uint64_t oldest) const {
    return find_number(last_alike(granule), granule, bytes, oldest);
  }
  void take_back_to(std::uint64_t number) {
    while (next_ > number) {
      const Store& s = (*this)[--next_];
      last_[hash(s.granule)] = s.previous;
    }
  }
  /// Stores before this number have been written.
  void forget_before(std::uint64_t number) { oldest_ = number; }
  void set_times(std::uint64_t number, std::uint64_t ready, std::uint64_t written) {
    Store& s = stores_[number & mask_];
    s.ready = ready;
    s.written = written;
  }
  void clear() { oldest_ = next_; }

 private:
  static constexpr std::size_t kHashes = 512;
  static constexpr unsigned kMostInRun = 128;  ///< entries that the stores of one run make at most
  static std::size_t hash(std::uint64_t granule) { return granule % kHashes; }

  std::vector<Store> stores_;                  ///< ring
  std::uint64_t mask_;                         ///< of a place in it
  std::array<std::uint64_t, kHashes> last_{};  ///< by hash: number of the last store, 0: none
  std::uint64_t next_ = 1;
  std::uint64_t oldest_ = 1;
};

}  // namespace sluice::riscv
