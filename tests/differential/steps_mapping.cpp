// SPDX-License-Identifier: Apache-2.0
// Steps that use and change translations and PMP rules.
#include "models/riscv/iss/privileged/csr.h"
#include "tests/differential/encodings.h"
#include "tests/differential/random_program.h"

namespace sluice::differential {
namespace {

using namespace riscv;

constexpr std::uint32_t kFenceVma = 0x1200'0073;

}  // namespace

void Steps::access_mapping() {
  const unsigned base = one();
  for (unsigned n = 0; n < 2; ++n) {
    p_.literal(base, draw_address(p_, s_, draw_));
    if (draw_.one_in(5))
      p_.code.word(Encodings::get().draw(draw_.from({Opcode::amo_w, Opcode::amo_d, Opcode::lr_w, Opcode::lr_d}), draw_,
                                         any(), base));
    else
      access(base, 0, true);
  }
}

void Steps::fetch_mapping() {
  const unsigned t = other(reg::ra);
  p_.literal(t, draw_fetch_address(p_, s_, draw_));
  p_.code.word(0x67 | reg::ra << 7 | t << 15);
}

/// Writes two leaves of a page, one after the other, and uses the page after each. The second use must see the second
/// leaf whatever form of sfence.vma lies before the use.
void Steps::modify_mapping() {
  const bool code = draw_.one_in(3);
  const std::uint64_t page = code ? kTestPages + draw_.below(kFetchPages) : draw_.below(kTestPages - 1);
  const unsigned at = 12 + static_cast<unsigned>(draw_.below(16));  // not a1: the code that is fetched changes it
  const unsigned entry = at + 1, va = at + 2, asid = at + 3, rd = at + 4;
  const std::uint64_t address = s_.test_pages + page * kPage +
                                (code ? draw_.from(kEntries) : 64 + (draw_.below(kPage - 128) & ~std::uint64_t{3}));
  const auto use = [&] {
    if (code)
      p_.code.word(0x67 | reg::ra << 7 | va << 15);  // jalr
    else
      access(va, 0, true, rd);
  };
  p_.literal(at, s_.test_table + page * 8);
  p_.literal(entry, draw_.one_in(4) ? draw_entry(p_, page, draw_) : draw_open_entry(p_, page, draw_));
  p_.code.word(kFenceVma);  // where TVM forbids sfence.vma, this one traps before anything has changed
  p_.code.store(entry, at, 0);
  p_.literal(va, address);
  use();
  p_.literal(entry, draw_entry(p_, page, draw_));
  p_.code.store(entry, at, 0);
  const bool by_asid = draw_.one_in(2);
  if (by_asid) p_.literal(asid, p_.d.csr.satp >> 44 & 0xffff);
  p_.code.word(kFenceVma | (draw_.one_in(2) ? va : 0) << 15 | (by_asid ? asid : 0) << 20);
  use();
}

/// SUM and MXR: the same access with either value, so that a stale translation is noticed.
void Steps::toggle_translation() {
  const unsigned t = one(), base = other(t);
  const std::uint64_t bits = draw_() & (mstatus::kSum | mstatus::kMxr);
  const bool set_first = draw_.one_in(2);
  p_.literal(base, draw_address(p_, s_, draw_));
  const auto write = [&](bool set) {
    p_.code.li(t, static_cast<std::int64_t>(bits ? bits : mstatus::kSum));
    p_.code.csr(set ? 2 : 3, 0, csr::kSstatus, t);
  };
  write(set_first);
  access(base, 0, draw_.one_in(2));
  write(!set_first);
  access(base, 0, false);
}

/// MPRV: data accesses of M mode with the privilege in MPP.
void Steps::other_privilege() {
  const unsigned t = one(), base = other(t);
  p_.code.li(t, 3 << 11);
  p_.code.csr(3, 0, csr::kMstatus, t);
  p_.literal(base, draw_address(p_, s_, draw_));
  p_.code.li(t, static_cast<std::int64_t>(mstatus::kMprv | draw_.below(2) << 11));
  p_.code.csr(2, 0, csr::kMstatus, t);
  access(base, 0, true);
  if (draw_.one_in(2)) access(base, 0, true);
  p_.code.li(t, static_cast<std::int64_t>(mstatus::kMprv));
  p_.code.csr(3, 0, csr::kMstatus, t);
}

/// Writes another address into one of entries 2 to 14 and accesses memory; or loads where entry 0 decides.
void Steps::protection() {
  if (!s_.protected_memory) return environment();
  const unsigned t = one();
  if (draw_.one_in(3)) {
    p_.literal(t, p_.d.begin + 8 * draw_.below(D_CSRS / 8));
    return access(t, 0, false);
  }
  pmp_address(static_cast<unsigned>(2 + draw_.below(13)), t);
  p_.code.word(kFenceVma);  // as the specification demands
  access_mapping();
}

void Steps::pmp_address(unsigned n, unsigned t) {
  p_.literal(t, draw_pmp_address(p_, 3, draw_));
  p_.code.csrw(csr::kPmpaddr0 + n, t);
  // QEMU 7.2 forgets that the next entry may begin here, until that entry is written. This writes its configuration,
  // because its address may be locked by the entry behind it.
  const unsigned next = csr::kPmpcfg0 + (n + 1) / 8 * 2;
  p_.code.csrr(t, next);
  p_.code.csrw(next, t);
}

/// Writes rules, some of which are locked by themselves or by a next entry that begins there, and locks more.
void Steps::lock() {
  const unsigned t = one();
  if (draw_.one_in(3)) {
    const unsigned number = draw_.from({0u, 2u});
    p_.literal(t, draw_pmp_configs(p_, number, draw_));
    p_.code.csrw(csr::kPmpcfg0 + number, t);
    p_.code.csrr(other(t), csr::kPmpcfg0 + number);
  } else {
    const auto n = static_cast<unsigned>(2 + draw_.below(13));
    pmp_address(n, t);
    p_.code.csrr(other(t), csr::kPmpaddr0 + n);
  }
  p_.code.word(kFenceVma);
  access_mapping();
}

}  // namespace sluice::differential
