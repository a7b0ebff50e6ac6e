// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A hart's privileged architecture on 16 MiB of RAM, with an IMSIC of two plain registers and a settable time.

#include <array>
#include <cstdint>
#include <cstring>
#include <map>

#include "models/base/memory/guest_ram.h"
#include "models/riscv/iss/privileged/privileged.h"

namespace sluice::riscv {

struct PrivilegedBench : Bus {
  static constexpr std::uint64_t kRam = 0x8000'0000, kRamSize = 16 << 20;

  explicit PrivilegedBench(const PrivilegedConfig& config = {}) : hart(state, *this, config) {}

  base::GuestRam* ram_at(std::uint64_t address) override { return ram.contains(address, 1) ? &ram : nullptr; }
  bool load(std::uint64_t, void*, unsigned) override { return false; }
  bool store(std::uint64_t, const void*, unsigned) override { return false; }
  std::uint64_t slot_limit() override { return 0; }
  std::uint64_t time() override { return now; }
  void set_stimecmp(std::uint64_t value) override { due = value; }
  void cache_miss(std::uint64_t, base::LineUse) override {}
  void probe(unsigned, std::uint64_t) override {}
  void bind(std::uint64_t, std::uint64_t) override {}
  void account(unsigned) override {}
  bool imsic_read(unsigned file, std::uint64_t select, std::uint64_t& value) override {
    if (!has_imsic) return false;
    value = imsic[file][select];
    return true;
  }
  bool imsic_write(unsigned file, std::uint64_t select, std::uint64_t value) override {
    if (!has_imsic) return false;
    imsic[file][select] = value;
    return true;
  }
  bool imsic_top(unsigned file, std::uint64_t& value) override {
    if (!has_imsic) return false;
    value = top[file] << 16 | top[file];
    return true;
  }
  bool imsic_claim(unsigned file, std::uint64_t identity) override {
    if (!has_imsic) return false;
    claimed[file] = identity;
    ++claims;
    top[file] = 0;
    hart.set_mip(file == 0 ? irq::kMei : irq::kSei, false);
    return true;
  }

  /// For expectations: the value, or ~0 when the access is illegal.
  std::uint64_t read(unsigned number) {
    std::uint64_t value = 0;
    return hart.csr_read(number, value) ? value : ~std::uint64_t{0};
  }
  bool legal(unsigned number) {
    std::uint64_t value = 0;
    return hart.csr_read(number, value);
  }
  /// Writes from M mode, reads back what the hart made of it.
  std::uint64_t written(unsigned number, std::uint64_t value) {
    if (!hart.csr_write(number, value)) return ~std::uint64_t{0};
    return read(number);
  }
  void set_bits(unsigned number, std::uint64_t bits) { poke(number, peek(number) | bits); }
  void clear_bits(unsigned number, std::uint64_t bits) { poke(number, peek(number) & ~bits); }
  std::uint64_t peek(unsigned number) {
    std::uint64_t value = 0;
    hart.csr_peek(number, value);
    return value;
  }
  void poke(unsigned number, std::uint64_t value) { hart.csr_poke(number, value); }
  void go(Privilege privilege) { hart.set_privilege(privilege); }
  /// PMP entry 0: everything, for everyone.
  void open_pmp() {
    poke(csr::kPmpaddr0, ~std::uint64_t{0});
    poke(csr::kPmpcfg0, 0x1f);
  }

  std::uint64_t pte(std::uint64_t address) const {
    std::uint64_t entry;
    ram.read(address, &entry, sizeof entry);
    return entry;
  }
  void set_pte(std::uint64_t address, std::uint64_t entry) { ram.write(address, &entry, sizeof entry); }

  base::GuestRam ram{kRam, kRamSize};
  std::uint64_t now = 0;
  std::uint64_t due = 0;
  bool has_imsic = false;
  std::array<std::map<std::uint64_t, std::uint64_t>, 2> imsic;
  std::array<std::uint64_t, 2> top{}, claimed{};
  int claims = 0;
  HartState state;
  Privileged hart;
};

}  // namespace sluice::riscv
