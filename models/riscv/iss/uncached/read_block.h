// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The block that a load of non-cacheable memory has read, for the loads that follow directly. It stands for a host
/// whose instructions load more than 8 bytes. Plain C++.

#include <array>
#include <cstdint>
#include <cstring>

namespace sluice::riscv {

class ReadBlock {
 public:
  static constexpr unsigned kMostBytes = 64;
  /// How many instructions further a load may be that follows directly; compilers put others between.
  static constexpr unsigned kNear = 4;

  /// The block is about to be read: returns where its bytes go. size: a power of two, at most kMostBytes.
  std::uint8_t* begin(std::uint64_t address, unsigned size) {
    address_ = address;
    size_ = size;
    unread_ = size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
    return bytes_.data();
  }
  bool is_open() const { return unread_ != 0; }
  void close() { unread_ = 0; }
  /// Whether a load at `pc`, before which `instret` instructions have retired, follows directly, and its bytes have
  /// been read for no other.
  bool has(std::uint64_t address, unsigned size, std::uint64_t pc, std::uint64_t instret) const {
    return is_open() && instret - instret_ <= kNear && pc - pc_ <= 4 * kNear && address - address_ < size_ &&
           size <= size_ - (address - address_) && (~unread_ & mask(address, size)) == 0;
  }
  /// Gives bytes of the block to the load at `pc`.
  void take(std::uint64_t address, void* data, unsigned size, std::uint64_t pc, std::uint64_t instret) {
    std::memcpy(data, bytes_.data() + (address - address_), size);
    unread_ &= ~mask(address, size);
    pc_ = pc;
    instret_ = instret;
  }

 private:
  std::uint64_t mask(std::uint64_t address, unsigned size) const {
    return ((std::uint64_t{1} << size) - 1) << (address - address_);
  }

  std::uint64_t address_ = 0;
  unsigned size_ = 0;
  std::uint64_t unread_ = 0;            ///< bit n: byte n
  std::uint64_t pc_ = 0, instret_ = 0;  ///< of the last load that has got bytes
  std::array<std::uint8_t, kMostBytes> bytes_{};
};

}  // namespace sluice::riscv
