// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/differences.h"

#include "models/riscv/iss/privileged/csr.h"
#include "tests/differential/encodings.h"
#include "tests/differential/random_program.h"

namespace sluice::differential {

const std::vector<Difference>& known_differences() {
  static const std::vector<Difference> list = {
      {"xtval of a breakpoint", "freedom: QEMU writes 0, the ISS the address; QEMU's 0 is expected to be the address",
       "this comparison"},
      {"xtval of a misaligned access to nothing",
       "QEMU makes aligned accesses of it and reports theirs: a tval aligned down to the size of the access is "
       "accepted if the access is misaligned and its address outside RAM or in a page that may lead there",
       "test_iss_engine"},
      {"an AMO to nothing",
       "QEMU loads and stores there, so that the load traps: its load access fault is taken for the store access fault "
       "that the specification demands",
       "test_iss_engine"},
      {"priority in mtopi and stopi",
       "freedom: QEMU has default priorities, the ISS reports 1; the identity is compared", "test_csr"},
      {"mvien, mvip, mireg, sireg, mtopei, stopei", "there is no IMSIC here, and QEMU 7.2 has neither mvien nor mvip",
       "test_csr, test_imsic"},
      {"vstimecmp (0x24d)", "QEMU 7.2 has it without the H extension", "test_csr"},
      {"tselect, tdata, tinfo", "freedom: QEMU's triggers are off, the ISS has the registers and no trigger",
       "test_csr"},
      {"mhpmevent", "freedom: QEMU stores them, in the ISS they are zero", "test_csr"},
      {"cycle, time, instret and their machine forms",
       "what they count is time, which differs: their existence and rights are compared, values are cleared",
       "test_csr"},
      {"xepc bit 0; MPP = 2; UXL, SXL; TM in mcountinhibit; R=0 with W=1 in pmpcfg",
       "QEMU 7.2 stores values that are not legal: not written", "test_csr, test_pmp"},
      {"VS, GVA, MPV in mstatus; bits of the H extension in medeleg, mideleg, mie, mip",
       "QEMU 7.2 has them writable without H and V: not written", "test_csr"},
      {"upper bits of xcounteren, senvcfg, menvcfg, xiselect, pmpaddr; satp modes 9 and 10",
       "QEMU stores more bits, and has Sv48 and Sv57: not written", "test_csr"},
      {"MPRV when M mode is left", "QEMU 7.2 keeps it: the handlers clear it, programs set it for one step only",
       "test_privileged"},
      {"ctzw of a word that is zero below a part that is not",
       "QEMU 7.2 counts into the upper half: the operand is sign-extended first", "test_iss_decode"},
      {"STIP while STCE changes", "no rule says what it becomes: STCE is constant in a program", "test_csr"},
      {"FS after an operation that changes at most fflags",
       "freedom: QEMU leaves it, the ISS makes it dirty: FS is off or dirty, except around operations that write an f "
       "register or surely do not",
       "test_csr"},
      {"SC of another address in the reserved line, of other bytes, or behind a store",
       "freedom: QEMU compares address and value, the ISS lines of 64 bytes: not drawn", "test_iss_engine"},
      {"SC that fails on a page it may not write", "freedom: QEMU does not look at the page: a store comes first",
       "test_iss_engine"},
      {"an access across pages under PMP rules; one half of it to nothing",
       "freedom: QEMU asks the PMP about the whole, the ISS about the parts; which fault comes first, and whether the "
       "first part is stored, is open: not drawn",
       "test_pmp, test_iss_engine"},
      {"a PMP rule wholly within an access",
       "QEMU 7.2 asks about the first and the last byte only: accesses are aligned to 4 under PMP rules", "test_pmp"},
      {"pmpaddr of the entry below a TOR entry",
       "QEMU 7.2 forgets the bound until the TOR entry itself is written: its pmpcfg is, and sfence.vma follows",
       "test_pmp"},
      {"A and D in a table that the PMP lets be read only", "QEMU 7.2 writes them: tables are all or nothing",
       "test_mmu"},
      {"tables outside RAM", "QEMU 7.2 raises a page fault, the specification an access fault: not drawn", "test_mmu"},
      {"PMP locks", "QEMU 7.2 keeps them over a reset: only the last program before QEMU ends has any",
       "this comparison, test_pmp"},
      {"wfi with nothing to wake it", "would wait: in S mode only under TW or with an interrupt pending",
       "golden_traps, test_iss_engine"},
      {"Zawrs, IMSIC", "not in QEMU 7.2; not in this machine", "test_zawrs, test_imsic"},
  };
  return list;
}

bool csr_differs(unsigned number) {
  using namespace riscv::csr;
  constexpr unsigned kVstimecmp = 0x24d;
  if (number == kVstimecmp || (number >= kTselect && number <= kTinfo)) return true;
  if (number >= kMhpmevent3 && number < kMscratch) return true;
  return number == kMvip || number == kMireg || number == kSireg || number == kMtopei || number == kStopei;
}

std::uint64_t drawn_bits(unsigned number) {
  using namespace riscv;
  constexpr std::uint64_t kVs = 3 << 9, kHypervisor = std::uint64_t{3} << 38;
  switch (number) {
    case csr::kMepc:
    case csr::kSepc:
      return ~std::uint64_t{1};
    case csr::kMstatus:
      return ~(mstatus::kMpp | mstatus::kUxl | mstatus::kSxl | kVs | kHypervisor);
    case csr::kMedeleg:
      return 0xb3ff;
    case csr::kMideleg:
    case csr::kMip:
      return irq::kSupervisor;
    case csr::kMie:
      return irq::kSupervisor | irq::kMachine;
    case csr::kSstatus:
      return ~(mstatus::kUxl | kVs);
    case csr::kMcounteren:
    case csr::kScounteren:
      return 0xffff'ffff;
    case csr::kMcountinhibit:
      return 5;
    case csr::kMenvcfg:
      return 1 | kMenvcfgStce;
    case csr::kSenvcfg:
      return 1;
    case csr::kSatp:
      return ~(std::uint64_t{3} << 60);
    case csr::kMiselect:
    case csr::kSiselect:
      return 0xff;
    default:
      return number >= csr::kPmpaddr0 && number < csr::kPmpaddr0 + 64 ? (std::uint64_t{1} << 54) - 1
                                                                      : ~std::uint64_t{0};
  }
}

bool operand_differs(riscv::Opcode op) { return op == riscv::Opcode::ctzw; }

bool word_differs(std::uint32_t) { return false; }

std::uint64_t draw_pmp_config(Draw& draw) {
  std::uint64_t config = draw.below(32);
  if (!(config & 1)) config &= ~std::uint64_t{2};
  return config;
}

namespace {

constexpr std::uint64_t kBreakpoint = 3, kLoadAccess = 5, kStoreAccess = 7;

/// Whether a data access of this trap may have gone where there is neither RAM nor a device.
bool may_be_nothing(const LogEntry& trap, const Descriptor& program, bool to_supervisor) {
  constexpr std::uint64_t kPageBits = 12, kView = 12 * (2 << 20);  // see draw_tables(): aliases of the test pages
  const bool from_machine = !to_supervisor && (trap.status & riscv::mstatus::kMpp) == riscv::mstatus::kMpp;
  const bool untranslated = program.csr.satp == 0 || (from_machine && !(trap.status & riscv::mstatus::kMprv));
  if (untranslated) return trap.tval - kRam >= kRamSize;
  return trap.tval - program.test_pages < kView && may_map_nothing(trap.tval >> kPageBits & 511);
}

/// `size`: bytes of the data access at epc; 0: the instruction there makes none.
std::uint64_t expected_tval(const LogEntry& q, const LogEntry& s, unsigned size, bool nothing) {
  if (q.cause == kBreakpoint && q.tval == 0) return q.epc;
  const bool access_fault = q.cause == kLoadAccess || q.cause == kStoreAccess;
  if (!access_fault || size == 0 || s.tval % size == 0 || !nothing) return q.tval;
  return q.tval == s.tval / size * size ? s.tval : q.tval;
}

}  // namespace

void expect(LogEntry& q, const LogEntry& s, std::uint32_t word, const Descriptor& program, bool to_supervisor) {
  const riscv::Opcode op = riscv::decode(word).op;
  const unsigned size = is_load(op) || is_store(op) ? access_bytes(op) : 0;
  q.tval = expected_tval(q, s, size, may_be_nothing(s, program, to_supervisor));
  const bool amo = op == riscv::Opcode::amo_w || op == riscv::Opcode::amo_d;
  if (amo && q.cause == kLoadAccess && s.cause == kStoreAccess) q.cause = kStoreAccess;
}

void expect(Result& q, const Result& s) {
  constexpr unsigned kIdentity = 16;
  for (const auto top : {&FinalCsrs::mtopi, &FinalCsrs::stopi})
    if (q.csr.*top >> kIdentity == s.csr.*top >> kIdentity) q.csr.*top = s.csr.*top;
}

}  // namespace sluice::differential
