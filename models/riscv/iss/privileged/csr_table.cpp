// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/privileged/csr_table.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "models/riscv/iss/privileged/pmp.h"

namespace sluice::riscv {

namespace {

using T = CsrTable;
using R = CsrRegisters;
using Needs = CsrTable::Needs;

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};
constexpr std::uint64_t kEven = ~std::uint64_t{1};
constexpr std::uint64_t kWord = 0xffff'ffff;
/// Exceptions that may be delegated: all that a hart without the H extension raises, but not ECALL from M mode.
constexpr std::uint64_t kDelegable = 0xb3ff;

using Read = decltype(T::Row::read);
using Write = decltype(T::Row::write);

constexpr std::uint16_t narrow(unsigned number) { return static_cast<std::uint16_t>(number); }

/// A CSR that is storage under a mask.
constexpr T::Row stored(unsigned number, const char* name, std::uint64_t R::*field, std::uint64_t mask) {
  return {.name = name, .number = narrow(number), .field = field, .mask = mask};
}
/// A CSR with a rule of its own for writes, reads, or both.
constexpr T::Row ruled(unsigned number, const char* name, Read read, Write write, Needs needs = Needs::nothing,
                       std::uint64_t R::*field = nullptr) {
  return {.name = name, .number = narrow(number), .needs = needs, .field = field, .read = read, .write = write};
}
/// `count` CSRs named name<index>, name<index + 1>, ...
constexpr T::Row run(unsigned number, unsigned count, const char* name, std::uint8_t index, Needs needs,
                     Read read = nullptr, Write write = nullptr) {
  return {.name = name,
          .number = narrow(number),
          .count = narrow(count),
          .name_index = index,
          .needs = needs,
          .read = read,
          .write = write};
}
/// A CSR that reads zero; writes are ignored.
constexpr T::Row zero(unsigned number, const char* name, Needs needs = Needs::nothing) {
  return {.name = name, .number = narrow(number), .needs = needs};
}

constexpr T::Row kRows[] = {
    ruled(csr::kFflags, "fflags", T::read_fcsr, T::write_fcsr, Needs::fp),
    ruled(csr::kFrm, "frm", T::read_fcsr, T::write_fcsr, Needs::fp),
    ruled(csr::kFcsr, "fcsr", T::read_fcsr, T::write_fcsr, Needs::fp),

    ruled(csr::kSstatus, "sstatus", T::read_status, T::write_status),
    ruled(csr::kSie, "sie", T::read_interrupts, T::write_interrupts),
    ruled(csr::kStvec, "stvec", nullptr, T::write_vector, Needs::nothing, &R::stvec),
    stored(csr::kScounteren, "scounteren", &R::scounteren, kWord),
    ruled(csr::kSenvcfg, "senvcfg", nullptr, T::write_senvcfg, Needs::nothing, &R::senvcfg),
    stored(csr::kSscratch, "sscratch", &R::sscratch, kAllBits),
    stored(csr::kSepc, "sepc", &R::sepc, kEven),
    stored(csr::kScause, "scause", &R::scause, kAllBits),
    stored(csr::kStval, "stval", &R::stval, kAllBits),
    ruled(csr::kSip, "sip", T::read_interrupts, T::write_interrupts),
    ruled(csr::kStimecmp, "stimecmp", nullptr, T::write_stimecmp, Needs::sstc, &R::stimecmp),
    ruled(csr::kSiselect, "siselect", nullptr, T::write_aia, Needs::aia, &R::siselect),
    ruled(csr::kSireg, "sireg", T::read_aia, T::write_aia, Needs::aia),
    ruled(csr::kStopei, "stopei", T::read_aia, T::write_aia, Needs::aia),
    ruled(csr::kSatp, "satp", nullptr, T::write_satp, Needs::satp, &R::satp),
    ruled(csr::kStopi, "stopi", T::read_aia, nullptr, Needs::aia),

    ruled(csr::kMstatus, "mstatus", T::read_status, T::write_status),
    ruled(csr::kMisa, "misa", T::read_identity, nullptr),
    stored(csr::kMedeleg, "medeleg", &R::medeleg, kDelegable),
    ruled(csr::kMideleg, "mideleg", nullptr, T::write_interrupts, Needs::nothing, &R::mideleg),
    ruled(csr::kMie, "mie", nullptr, T::write_interrupts, Needs::nothing, &R::mie),
    ruled(csr::kMtvec, "mtvec", nullptr, T::write_vector, Needs::nothing, &R::mtvec),
    stored(csr::kMcounteren, "mcounteren", &R::mcounteren, kWord),
    zero(csr::kMvien, "mvien", Needs::aia),
    ruled(csr::kMvip, "mvip", T::read_interrupts, T::write_interrupts, Needs::aia),
    ruled(csr::kMenvcfg, "menvcfg", nullptr, T::write_menvcfg, Needs::nothing, &R::menvcfg),
    ruled(csr::kMcountinhibit, "mcountinhibit", nullptr, T::write_counter, Needs::nothing, &R::mcountinhibit),
    run(csr::kMhpmevent3, 29, "mhpmevent", 3, Needs::nothing),
    stored(csr::kMscratch, "mscratch", &R::mscratch, kAllBits),
    stored(csr::kMepc, "mepc", &R::mepc, kEven),
    stored(csr::kMcause, "mcause", &R::mcause, kAllBits),
    stored(csr::kMtval, "mtval", &R::mtval, kAllBits),
    ruled(csr::kMip, "mip", T::read_interrupts, T::write_interrupts),
    ruled(csr::kMiselect, "miselect", nullptr, T::write_aia, Needs::aia, &R::miselect),
    ruled(csr::kMireg, "mireg", T::read_aia, T::write_aia, Needs::aia),
    ruled(csr::kMtopei, "mtopei", T::read_aia, T::write_aia, Needs::aia),
    ruled(csr::kMtopi, "mtopi", T::read_aia, nullptr, Needs::aia),

    run(csr::kPmpcfg0, 16, "pmpcfg", 0, Needs::pmp, T::read_pmp, T::write_pmp),
    run(csr::kPmpaddr0, 64, "pmpaddr", 0, Needs::pmp, T::read_pmp, T::write_pmp),
    zero(csr::kTselect, "tselect"),
    run(csr::kTdata1, 3, "tdata", 1, Needs::nothing),
    ruled(csr::kTinfo, "tinfo", T::read_identity, nullptr),

    ruled(csr::kMcycle, "mcycle", T::read_counter, T::write_counter),
    ruled(csr::kMinstret, "minstret", T::read_counter, T::write_counter),
    run(csr::kMhpmcounter3, 29, "mhpmcounter", 3, Needs::nothing),
    ruled(csr::kCycle, "cycle", T::read_counter, nullptr, Needs::counter),
    ruled(csr::kTime, "time", T::read_counter, nullptr, Needs::counter),
    ruled(csr::kInstret, "instret", T::read_counter, nullptr, Needs::counter),
    run(csr::kHpmcounter3, 29, "hpmcounter", 3, Needs::counter),
    zero(csr::kMvendorid, "mvendorid"),
    zero(csr::kMarchid, "marchid"),
    zero(csr::kMimpid, "mimpid"),
    ruled(csr::kMhartid, "mhartid", T::read_identity, nullptr),
    zero(csr::kMconfigptr, "mconfigptr"),
};

constexpr unsigned kNumbers = 4096;
constexpr std::uint8_t kNone = 0xff;
static_assert(std::size(kRows) < kNone);

constexpr auto kIndex = [] {
  std::array<std::uint8_t, kNumbers> index{};
  index.fill(kNone);
  for (unsigned row = 0; row < std::size(kRows); ++row)
    for (unsigned i = 0; i < kRows[row].count; ++i) index[kRows[row].number + i] = static_cast<std::uint8_t>(row);
  return index;
}();

/// The PMP has CSRs for 0, 16 or 64 entries; those that are not implemented read zero. RV64 has no odd pmpcfg.
bool pmp_exists(unsigned number, unsigned regions) {
  const unsigned entries = regions == 0 ? 0 : regions <= 16 ? 16 : Pmp::kMaxRegions;
  if (number >= csr::kPmpaddr0) return number - csr::kPmpaddr0 < entries;
  const unsigned index = number - csr::kPmpcfg0;
  return index % 2 == 0 && index * 4 < entries;
}

}  // namespace

const CsrTable::Row* CsrTable::find(unsigned number, const PrivilegedConfig& config) {
  if (number >= kNumbers || kIndex[number] == kNone) return nullptr;
  const Row& row = kRows[kIndex[number]];
  if (row.needs == Needs::aia && !config.aia) return nullptr;
  if (row.needs == Needs::sstc && !config.sstc) return nullptr;
  if (row.needs == Needs::pmp && !pmp_exists(number, config.pmp_regions)) return nullptr;
  return &row;
}

std::vector<CsrInfo> csr_list(const PrivilegedConfig& config) {
  std::vector<CsrInfo> list;
  for (unsigned number = 0; number < kNumbers; ++number) {
    const CsrTable::Row* row = CsrTable::find(number, config);
    if (!row) continue;
    std::string name = row->name;
    if (row->count > 1) name += std::to_string(row->name_index + number - row->number);
    list.push_back({number, std::move(name)});
  }
  return list;
}

}  // namespace sluice::riscv
