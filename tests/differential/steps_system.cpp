// SPDX-License-Identifier: Apache-2.0
// Steps around CSRs, traps, translation and protection.
#include "models/riscv/iss/privileged/csr.h"
#include "tests/differential/differences.h"
#include "tests/differential/encodings.h"
#include "tests/differential/operands.h"
#include "tests/differential/random_program.h"

namespace sluice::differential {
namespace {

using namespace riscv;

const std::vector<CsrInfo>& all_csrs() {
  static const std::vector<CsrInfo> list = csr_list({.aia = true});
  return list;
}

constexpr std::uint32_t kWfi = 0x1050'0073;

bool is_counter(unsigned number) { return (number >> 8 == 0xb || number >> 8 == 0xc) && (number & 0x7f) < 32; }

/// Makes FS off or dirty: the machines differ in when other values become dirty (status_of_float() tries those).
std::uint64_t with_whole_fs(std::uint64_t status) { return status & mstatus::kFs ? status | mstatus::kFs : status; }

}  // namespace

void Steps::csr_restored(unsigned number, std::uint64_t value) {
  const unsigned a = one(), b = other(a);
  p_.literal(a, value);
  p_.code.csr(1, b, number, a);
  p_.code.csr(1, draw_.one_in(2) ? any() : a, number, b);
}

void Steps::csr() {
  const unsigned number = draw_.one_in(5)    ? static_cast<unsigned>(draw_.below(4096))
                          : draw_.one_in(12) ? csr::kSatp  // rare among so many, and TVM is about it
                                             : draw_.from(all_csrs()).number;
  const bool read_only = number >> 10 == 3;
  if (csr_differs(number) || number == csr::kMtopi || number == csr::kStopi) return environment();
  if (is_counter(number)) return counter();
  std::uint64_t value = draw_.one_in(3) ? draw_integer(draw_) : draw_() & draw_();
  value &= drawn_bits(number);
  switch (number) {
    case csr::kMtvec:
    case csr::kStvec:
      return csr_restored(number, value);
    case csr::kMedeleg:
      return csr_restored(number, value);
    case csr::kSatp:
      // From S mode the next instruction is fetched under the new value: another ASID, or a mode that does not exist.
      if (draw_.one_in(2)) return csr_restored(number, p_.d.csr.satp ^ (draw_() & 0xffff) << 44);
      return csr_restored(number, (p_.d.csr.satp & ~(std::uint64_t{15} << 60)) | (1 + draw_.below(7)) << 60);
    case csr::kMstatus:
    case csr::kSstatus:
      value = with_whole_fs(value) & ~mstatus::kMprv;  // see other_privilege()
      break;
    case csr::kMenvcfg:
      value &= 1;  // no rule says what becomes of STIP while STCE changes
      return csr_restored(number, value | p_.d.csr.menvcfg);
    case csr::kStimecmp:
      if (!(p_.d.csr.menvcfg & kMenvcfgStce)) return environment();
      value = draw_.one_in(2) ? 0 : ~std::uint64_t{0};
      return csr_restored(number, value);
    default:
      break;
  }
  if (number >= csr::kPmpcfg0 && number < csr::kPmpaddr0) {
    value = 0;
    for (unsigned i = 0; i < 64; i += 8) value |= draw_pmp_config(draw_) << i;
    return csr_restored(number, value);
  }
  if (number >= csr::kPmpaddr0 && number < csr::kPmpaddr0 + 64) {
    csr_restored(number, value);
    return p_.code.word(0x1200'0073);  // sfence.vma: QEMU 7.2 caches what the rules in between permitted
  }
  const unsigned rs1 = one();
  const auto kind = static_cast<unsigned>(1 + draw_.below(3));
  if (read_only && kind != 1) return p_.code.csr(kind, any(), number, 0);
  if (draw_.one_in(4)) {
    auto immediate = static_cast<unsigned>(draw_.below(32) & drawn_bits(number));
    return p_.code.csr(kind + 4, any(), number, immediate);
  }
  p_.literal(rs1, value);
  p_.code.csr(kind, any(), number, rs1);
  if (draw_.one_in(2)) p_.code.csrr(any(), number);
}

/// Whether a counter may be read and written; what it counts differs.
void Steps::counter() {
  constexpr unsigned kNumbers[] = {csr::kCycle, csr::kTime, csr::kInstret, csr::kMcycle, csr::kMinstret};
  const unsigned number = draw_.from(kNumbers), rd = one();
  p_.code.csrr(rd, number);
  p_.code.li(rd, 0);
  if (draw_.one_in(2)) p_.code.csr(1, 0, number, any());
}

/// FS before and after one instruction that surely changes an f register, or surely does not.
void Steps::status_of_float() {
  constexpr Opcode kOps[] = {Opcode::fadd_s,   Opcode::fmadd_d, Opcode::fsgnj_d,  Opcode::fmv_w_x,
                             Opcode::fcvt_d_l, Opcode::fmin_s,  Opcode::fcvt_s_d, Opcode::fsqrt_d,
                             Opcode::fclass_s, Opcode::fmv_x_d, Opcode::fmv_x_w,  Opcode::fdiv_s};
  const unsigned bits = one(), rd = other(bits);
  const unsigned number = s_.mode == 3 && draw_.one_in(2) ? csr::kMstatus : csr::kSstatus;
  p_.code.li(bits, static_cast<std::int64_t>(mstatus::kFs));
  p_.code.csr(3, 0, number, bits);
  p_.code.li(bits, static_cast<std::int64_t>((1 + draw_.below(2)) << 13));
  p_.code.csr(2, 0, number, bits);
  const Opcode op = draw_.from(kOps);
  p_.code.word(Encodings::get().word(op, one(), any(), any(), static_cast<unsigned>(draw_.below(5)), any()));
  p_.code.csrr(rd, number);
  p_.code.li(bits, static_cast<std::int64_t>(mstatus::kFs));
  p_.code.csr(2, 0, number, bits);
}

void Steps::environment() {
  if (draw_.one_in(4)) {
    if (draw_.one_in(2)) return p_.code.half(0x9002);
    return p_.code.word(0x0010'0073);
  }
  if (draw_.one_in(2)) p_.code.li(reg::a0, static_cast<std::int64_t>(draw_.from({0u, 1u, 1u, 3u})));
  p_.code.ecall();
}

void Steps::illegal() {
  if (draw_.one_in(2)) return p_.code.half(draw_.from(Encodings::get().illegal_halves()));
  std::uint32_t word = 0;
  do word = static_cast<std::uint32_t>(draw_()) | 3;
  while (decode(word).op != Opcode::illegal || word_differs(word));
  p_.code.word(word);
}

void Steps::return_from_trap() {
  const unsigned t = one();
  const auto ahead = static_cast<std::uint64_t>(step_ahead());
  if (draw_.one_in(2)) {
    const unsigned mode = draw_.from({0u, 1u, 3u});
    p_.literal(t, p_.d.code[mode] + ahead);
    p_.code.csrw(csr::kMepc, t);
    p_.code.li(t, 3 << 11);
    p_.code.csr(3, 0, csr::kMstatus, t);
    if (mode != 0) {
      p_.code.li(t, static_cast<std::int64_t>(mode << 11));
      p_.code.csr(2, 0, csr::kMstatus, t);
    }
    return p_.code.word(0x3020'0073);
  }
  const auto mode = static_cast<unsigned>(draw_.below(2));
  p_.literal(t, p_.d.code[mode] + ahead);
  p_.code.csrw(csr::kSepc, t);
  p_.code.li(t, static_cast<std::int64_t>(mstatus::kSpp));
  p_.code.csr(mode == 1 ? 2 : 3, 0, csr::kSstatus, t);
  p_.code.word(0x1020'0073);
}

void Steps::fence() {
  switch (draw_.below(4)) {
    case 0:
      return p_.code.word(0x0000'100f);
    case 1:
      return p_.code.word(Encodings::get().draw(draw_.one_in(2) ? Opcode::fence : Opcode::pause, draw_, 0, 0));
    default:
      p_.code.word(0x1200'0073 | (draw_.one_in(2) ? 0 : any()) << 15 | (draw_.one_in(2) ? 0 : any()) << 20);
  }
}

void Steps::interrupt() {
  const unsigned t = one();
  const std::uint64_t pending = draw_() & irq::kSupervisor;
  const bool machine = draw_.one_in(2);
  p_.code.li(t, static_cast<std::int64_t>(pending));
  p_.code.csr(2, 0, machine ? csr::kMip : csr::kSip, t);
  if (draw_.one_in(2)) p_.code.li(t, static_cast<std::int64_t>(draw_() & irq::kSupervisor));
  p_.code.csr(2, any(), machine ? csr::kMie : csr::kSie, t);
  p_.code.csr(6, any(), machine ? csr::kMstatus : csr::kSstatus, machine ? draw_.below(16) & 10 : 2);  // csrrsi
  compute();
  if (draw_.one_in(2)) p_.code.csr(7, any(), machine ? csr::kMip : csr::kSip, 2);
}

/// wfi in M mode, with an interrupt to wake it; in S mode, with that and without TW, or trapped by TW; in U mode, where
/// it traps. A program that runs such a step below M mode traps at its first CSR access.
void Steps::wait() {
  switch (draw_.below(4)) {
    case 0:
      return wait_below(0);
    case 1:
      return wait_below(1);
    default:
      break;
  }
  const unsigned t = one();
  p_.code.li(t, 2);
  p_.code.csr(2, 0, csr::kMie, t);
  p_.code.csr(2, 0, csr::kMip, t);
  p_.code.word(kWfi);
  if (draw_.one_in(2)) p_.code.csr(3, 0, csr::kMip, t);
}

/// Only the mret in front of it leads to the wfi, so that no other mode waits there.
void Steps::wait_below(unsigned mode) {
  const unsigned t = one();
  const bool trapped = mode == 0 || draw_.one_in(2);
  if (!trapped) {
    p_.code.csr(6, 0, csr::kMie, irq::bit(irq::kSsi));  // csrrsi
    p_.code.csr(6, 0, csr::kMip, irq::bit(irq::kSsi));
  }
  p_.code.li(t, static_cast<std::int64_t>(mstatus::kTw));
  p_.code.csr(mode == 0 ? 2 + static_cast<unsigned>(draw_.below(2)) : trapped ? 2 : 3, 0, csr::kMstatus, t);
  p_.code.li(t, static_cast<std::int64_t>(mstatus::kMpp));
  p_.code.csr(mode == 1 ? 2 : 3, 0, csr::kMstatus, t);
  p_.code.li(t, 1 << 12);  // the upper bit of MPP
  p_.code.csr(3, 0, csr::kMstatus, t);
  p_.literal(t, p_.d.code[mode] + p_.code.here() + 16);
  p_.code.csrw(csr::kMepc, t);
  p_.code.word(0x3020'0073);  // mret
  p_.code.word(kWfi);
}

}  // namespace sluice::differential
