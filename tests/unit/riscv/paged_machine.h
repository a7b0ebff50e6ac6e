// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A hart in S mode under Sv39, and instructions for it.

#include <cstdint>
#include <vector>

#include "tests/unit/riscv/iss_machine.h"

namespace sluice::riscv {

constexpr std::uint64_t kRam = IssMachine::kRam, kPage = 4096;
constexpr std::uint64_t kRoot = kRam + 0x10'0000, kMiddle = kRoot + kPage, kLast = kMiddle + kPage;
/// kLast maps the virtual pages from here on; all the RAM is also mapped to itself.
constexpr std::uint64_t kView = 0x4000'0000;
constexpr std::uint64_t kFrames = kRam + 0x20'0000, kHandler = kRam + 0x8000, kAsid = 7;
constexpr std::uint64_t kPointer = 0x01, kAll = 0xcf;  // V; V, R, W, X, A, D
constexpr unsigned kRa = 1, kS0 = 8, kA0 = 10, kA1 = 11, kS2 = 18, kS3 = 19, kS4 = 20;
constexpr std::uint32_t kLoop = 0x0000'006f, kReturn = 0x0000'8067;

constexpr std::uint32_t addi(unsigned rd, unsigned rs1, int imm) {
  return 0x13 | rd << 7 | rs1 << 15 | static_cast<std::uint32_t>(imm) << 20;
}
constexpr std::uint32_t ld(unsigned rd, unsigned rs1) { return 0x3003 | rd << 7 | rs1 << 15; }
constexpr std::uint32_t sd(unsigned rs2, unsigned rs1) { return 0x3023 | rs1 << 15 | rs2 << 20; }
constexpr std::uint32_t call(unsigned rs1) { return 0x67 | kRa << 7 | rs1 << 15; }
constexpr std::uint32_t fence_vma(unsigned rs1, unsigned rs2) { return 0x1200'0073 | rs1 << 15 | rs2 << 20; }
constexpr std::uint64_t frame(unsigned n) { return kFrames + n * kPage; }
constexpr std::uint64_t entry(std::uint64_t physical, std::uint64_t flags) { return physical >> 12 << 10 | flags; }

/// Sv39 with this ASID.
constexpr std::uint64_t satp(std::uint64_t asid, std::uint64_t root = kRoot) {
  return std::uint64_t{8} << 60 | asid << 44 | root >> 12;
}

/// S mode, its code at the start of the RAM, and virtual page n of kView on frame n.
struct Paged : IssMachine {
  explicit Paged(const std::vector<std::uint32_t>& words, const HartConfig& config = {}) : IssMachine(config) {
    load_words(words);
    load_words({kLoop}, kHandler);
    put(kRoot + (kView >> 30) * 8, entry(kMiddle, kPointer));
    put(kRoot + (kRam >> 30) * 8, entry(kRam, kAll));
    put(kMiddle, entry(kLast, kPointer));
    for (unsigned n = 0; n < 8; ++n) map(n, frame(n));
    Privileged& privileged = hart.privileged();
    privileged.csr_poke(csr::kMtvec, kHandler);
    privileged.csr_poke(csr::kPmpaddr0, ~std::uint64_t{0});
    privileged.csr_poke(csr::kPmpcfg0, 0x1f);
    privileged.csr_poke(csr::kSatp, satp(kAsid));
    privileged.set_privilege(Privilege::supervisor);
  }
  void put(std::uint64_t address, std::uint64_t value) { ram.write(address, &value, sizeof value); }
  void map(unsigned page, std::uint64_t physical) { put(kLast + page * 8, entry(physical, kAll)); }
  std::uint64_t csr(unsigned number) {
    std::uint64_t value = ~std::uint64_t{0};
    hart.privileged().csr_peek(number, value);
    return value;
  }
  void go(std::uint64_t pc) {
    hart.state().pc = pc;
    limit = hart.state().slots + 1000;
    hart.run();
  }
};

}  // namespace sluice::riscv
