// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/privileged/pmp.h"

#include <algorithm>

namespace sluice::riscv {

namespace {

enum Mode : std::uint8_t { kOff = 0, kTor = 1, kNa4 = 2, kNapot = 3 };
constexpr std::uint8_t kLock = 0x80;
constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << 54) - 1;

Mode mode_of(std::uint8_t config) { return static_cast<Mode>((config >> 3) & 3); }

/// Bits 6:5 are zero; W without R is reserved and stored as neither.
std::uint8_t legal(std::uint8_t config) {
  config &= kLock | 0x1f;
  return config & Pmp::kRead ? config : config & ~Pmp::kWrite;
}

}  // namespace

Pmp::Pmp(unsigned regions) : regions_(std::min(regions, kMaxRegions)) {}

void Pmp::reset() {
  config_.fill(0);
  address_.fill(0);
  rebuild();
}

bool Pmp::locked(unsigned entry) const { return (config_[entry] & kLock) != 0; }

std::uint64_t Pmp::config(unsigned index) const {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned entry = index * 4 + i;
    if (entry < kMaxRegions) value |= std::uint64_t{config_[entry]} << (8 * i);
  }
  return value;
}

bool Pmp::set_config(unsigned index, std::uint64_t value) {
  bool changed = false;
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned entry = index * 4 + i;
    if (entry >= regions_ || locked(entry)) continue;
    const std::uint8_t config = legal(static_cast<std::uint8_t>(value >> (8 * i)));
    changed |= config != config_[entry];
    config_[entry] = config;
  }
  if (changed) rebuild();
  return changed;
}

bool Pmp::set_address(unsigned index, std::uint64_t value) {
  if (index >= regions_ || locked(index)) return false;
  // A locked TOR entry also locks the address below it, which is its lower bound.
  if (index + 1 < regions_ && locked(index + 1) && mode_of(config_[index + 1]) == kTor) return false;
  value &= kAddressMask;
  if (address_[index] == value) return false;
  address_[index] = value;
  rebuild();
  return true;
}

void Pmp::rebuild() {
  rule_count_ = 0;
  for (unsigned i = 0; i < regions_; ++i) {
    Rule rule{0, 0, config_[i]};
    switch (mode_of(config_[i])) {
      case kOff:
        continue;
      case kTor: {
        const std::uint64_t low = i == 0 ? 0 : address_[i - 1];
        if (low >= address_[i]) continue;  // an empty range matches nothing
        rule.first = low << 2;
        rule.last = (address_[i] << 2) - 1;
        break;
      }
      case kNa4:
        rule.first = address_[i] << 2;
        rule.last = rule.first + 3;
        break;
      case kNapot: {
        const std::uint64_t mask = address_[i] ^ (address_[i] + 1);  // trailing ones and the zero above them
        rule.first = (address_[i] & ~mask) << 2;
        rule.last = rule.first | (mask << 2) | 3;
        break;
      }
    }
    rules_[rule_count_++] = rule;
  }
}

std::uint8_t Pmp::permissions(std::uint64_t address, std::uint64_t size, Privilege privilege) const {
  const bool machine = privilege == Privilege::machine;
  if (regions_ == 0) return kAll;
  const std::uint64_t last = address + (size - 1);
  for (unsigned i = 0; i < rule_count_; ++i) {
    const Rule& rule = rules_[i];
    if (last < rule.first || address > rule.last) continue;
    if (address < rule.first || last > rule.last) return 0;
    return machine && !(rule.config & kLock) ? std::uint8_t{kAll} : static_cast<std::uint8_t>(rule.config & kAll);
  }
  return machine ? kAll : 0;
}

std::uint64_t Pmp::uniform_region(std::uint64_t address, std::uint64_t largest, std::uint64_t smallest) const {
  std::uint64_t size = largest;
  for (unsigned i = 0; i < rule_count_; ++i) {
    const Rule& rule = rules_[i];
    while (true) {
      const std::uint64_t first = address & ~(size - 1);
      const std::uint64_t last = first + (size - 1);
      if (last < rule.first || first > rule.last) break;
      // A rule that covers the whole region decides for all of it; rules after it have no say.
      if (first >= rule.first && last <= rule.last) return size;
      size >>= 9;
      if (size < smallest) return 0;
    }
  }
  return size;
}

}  // namespace sluice::riscv
