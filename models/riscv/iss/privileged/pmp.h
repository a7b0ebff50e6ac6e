// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Physical memory protection (pmpcfg, pmpaddr): 4-byte granularity, OFF, TOR, NA4 and NAPOT, locks.

#include <array>
#include <cstdint>

#include "models/riscv/iss/hart_state.h"

namespace sluice::riscv {

class Pmp {
 public:
  static constexpr unsigned kMaxRegions = 64;
  /// Permission bits, as in pmpcfg.
  enum Permission : std::uint8_t { kRead = 1, kWrite = 2, kExecute = 4, kAll = 7 };

  /// regions: implemented entries, 0 (no PMP: everything is allowed) to 64. Larger values count as 64.
  explicit Pmp(unsigned regions);

  void reset();
  unsigned regions() const { return regions_; }

  /// Register `index` of the pmpcfg (8 entries per register, even indices only on RV64) or pmpaddr group. Entries that
  /// are not implemented read zero. Writes return true when the rules may have changed.
  std::uint64_t config(unsigned index) const;
  bool set_config(unsigned index, std::uint64_t value);
  std::uint64_t address(unsigned index) const { return index < kMaxRegions ? address_[index] : 0; }
  bool set_address(unsigned index, std::uint64_t value);

  /// The permissions of `privilege` for the bytes [address, address + size). Zero when an entry matches only part of
  /// them.
  std::uint8_t permissions(std::uint64_t address, std::uint64_t size, Privilege privilege) const;
  /// Bytes of the largest naturally aligned region around `address` in which the same permissions hold everywhere.
  /// Tries `largest` bytes (a power of two), and divides by 512 until a size fits. Zero when no size of at least
  /// `smallest` bytes fits.
  std::uint64_t uniform_region(std::uint64_t address, std::uint64_t largest, std::uint64_t smallest) const;

 private:
  struct Rule {
    std::uint64_t first;
    std::uint64_t last;  ///< inclusive
    std::uint8_t config;
  };
  bool locked(unsigned entry) const;
  void rebuild();

  unsigned regions_;
  std::array<std::uint8_t, kMaxRegions> config_{};
  std::array<std::uint64_t, kMaxRegions> address_{};
  std::array<Rule, kMaxRegions> rules_{};  ///< entries that can match, in order of priority
  unsigned rule_count_ = 0;
};

}  // namespace sluice::riscv
