// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Control and status registers of an RV64 hart: numbers, fields, and the list of those implemented.

#include <cstdint>
#include <string>
#include <vector>

#include "models/riscv/iss/hart_state.h"

namespace sluice::riscv {

struct PrivilegedConfig {
  bool aia = false;            ///< Smaia and Ssaia CSRs exist
  bool sstc = true;            ///< stimecmp and menvcfg.STCE exist
  bool svpbmt = true;          ///< menvcfg.PBMTE exists
  bool write_through = false;  ///< PBMT 3 is write-through memory, and not reserved. Hart sets it
  unsigned pmp_regions = 16;   ///< implemented PMP entries, 0 to 64
  std::uint64_t hart_id = 0;
  std::uint64_t reset_pc = 0x1000;
  unsigned issue_width = 1;  ///< slots per cycle, at least 1: mcycle = slots / issue_width
};

enum class CsrOp : std::uint8_t { write, set, clear };

/// CSRs that are stored as written, under their WARL masks. All other CSRs (mip, fcsr, counters, PMP, views of CSRs)
/// are computed.
struct CsrRegisters {
  std::uint64_t mstatus = 0, medeleg = 0, mideleg = 0, mie = 0, mtvec = 0, mcounteren = 0, mcountinhibit = 0;
  std::uint64_t menvcfg = 0, mscratch = 0, mepc = 0, mcause = 0, mtval = 0;
  std::uint64_t stvec = 0, scounteren = 0, senvcfg = 0, sscratch = 0, sepc = 0, scause = 0, stval = 0, satp = 0;
  std::uint64_t stimecmp = ~std::uint64_t{0};
  std::uint64_t miselect = 0, siselect = 0;
};

/// Bits of mstatus and sstatus.
namespace mstatus {
constexpr std::uint64_t kSie = 1u << 1, kMie = 1u << 3, kSpie = 1u << 5, kMpie = 1u << 7, kSpp = 1u << 8;
constexpr std::uint64_t kMppShift = 11, kMpp = 3u << 11, kFs = 3u << 13;
constexpr std::uint64_t kMprv = 1u << 17, kSum = 1u << 18, kMxr = 1u << 19;
constexpr std::uint64_t kTvm = 1u << 20, kTw = 1u << 21, kTsr = 1u << 22;
constexpr std::uint64_t kUxl = std::uint64_t{3} << 32, kSxl = std::uint64_t{3} << 34, kSd = std::uint64_t{1} << 63;
constexpr std::uint64_t kUxl64 = std::uint64_t{2} << 32, kSxl64 = std::uint64_t{2} << 34;
}  // namespace mstatus

/// Interrupt numbers: bit positions in mip and mie.
namespace irq {
constexpr unsigned kSsi = 1, kMsi = 3, kSti = 5, kMti = 7, kSei = 9, kMei = 11;
constexpr std::uint64_t bit(unsigned number) { return std::uint64_t{1} << number; }
constexpr std::uint64_t kSupervisor = bit(kSsi) | bit(kSti) | bit(kSei);
constexpr std::uint64_t kMachine = bit(kMsi) | bit(kMti) | bit(kMei);
}  // namespace irq

/// Of menvcfg and senvcfg.
constexpr std::uint64_t kEnvcfgFiom = 1, kEnvcfgCbie = 3u << 4, kEnvcfgCbieReserved = 2u << 4, kEnvcfgCbcfe = 1u << 6,
                        kEnvcfgCbze = 1u << 7;
constexpr std::uint64_t kEnvcfg = kEnvcfgFiom | kEnvcfgCbie | kEnvcfgCbcfe | kEnvcfgCbze;  ///< what both have
constexpr std::uint64_t kMenvcfgPbmte = std::uint64_t{1} << 62, kMenvcfgStce = std::uint64_t{1} << 63;

/// Numbers of the CSRs that code outside the CSR table uses.
namespace csr {
constexpr unsigned kFflags = 0x001, kFrm = 0x002, kFcsr = 0x003;
constexpr unsigned kSstatus = 0x100, kSie = 0x104, kStvec = 0x105, kScounteren = 0x106, kSenvcfg = 0x10a;
constexpr unsigned kSscratch = 0x140, kSepc = 0x141, kScause = 0x142, kStval = 0x143, kSip = 0x144;
constexpr unsigned kStimecmp = 0x14d, kSiselect = 0x150, kSireg = 0x151, kStopei = 0x15c, kSatp = 0x180;
constexpr unsigned kStopi = 0xdb0;
constexpr unsigned kMstatus = 0x300, kMisa = 0x301, kMedeleg = 0x302, kMideleg = 0x303, kMie = 0x304, kMtvec = 0x305;
constexpr unsigned kMcounteren = 0x306, kMvien = 0x308, kMvip = 0x309, kMenvcfg = 0x30a, kMcountinhibit = 0x320;
constexpr unsigned kMhpmevent3 = 0x323, kMscratch = 0x340, kMepc = 0x341, kMcause = 0x342, kMtval = 0x343;
constexpr unsigned kMip = 0x344, kMiselect = 0x350, kMireg = 0x351, kMtopei = 0x35c, kMtopi = 0xfb0;
constexpr unsigned kPmpcfg0 = 0x3a0, kPmpaddr0 = 0x3b0, kTselect = 0x7a0, kTdata1 = 0x7a1, kTinfo = 0x7a4;
constexpr unsigned kMcycle = 0xb00, kMinstret = 0xb02, kMhpmcounter3 = 0xb03;
constexpr unsigned kCycle = 0xc00, kTime = 0xc01, kInstret = 0xc02, kHpmcounter3 = 0xc03;
constexpr unsigned kMvendorid = 0xf11, kMarchid = 0xf12, kMimpid = 0xf13, kMhartid = 0xf14, kMconfigptr = 0xf15;
}  // namespace csr

struct CsrInfo {
  unsigned number;
  std::string name;
};
/// Every CSR that a hart with this configuration has, by number.
std::vector<CsrInfo> csr_list(const PrivilegedConfig& config);

}  // namespace sluice::riscv
