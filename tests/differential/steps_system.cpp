// Steps around CSRs, traps, translation and protection.
#include "models/riscv/iss/csr.h"
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

bool is_counter(unsigned number) { return (number >> 8 == 0xb || number >> 8 == 0xc) && (number & 0x7f) < 32; }

/// FS is off or dirty: when the others become dirty is not settled between the machines (status_of_float tries them).
std::uint64_t with_whole_fs(std::uint64_t status) { return status & mstatus::kFs ? status | mstatus::kFs : status; }

}  // namespace

void Steps::csr_restored(unsigned number, std::uint64_t value) {
  const unsigned a = one(), b = other(a);
  p_.literal(a, value);
  p_.code.csr(1, b, number, a);
  p_.code.csr(1, draw_.one_in(2) ? any() : a, number, b);
}

void Steps::csr() {
  const unsigned number = draw_.one_in(5) ? static_cast<unsigned>(draw_.below(4096)) : draw_.from(all_csrs()).number;
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
      value &= 1;  // what becomes of STIP while STCE changes is nobody's rule
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
    return p_.code.word(0x1200'0073);  // sfence.vma: QEMU 7.2 caches what it made of the rules meanwhile
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

/// wfi with something to wake it. Below M mode the first instruction traps.
void Steps::wait() {
  const unsigned t = one();
  p_.code.li(t, 2);
  p_.code.csr(2, 0, csr::kMie, t);
  p_.code.csr(2, 0, csr::kMip, t);
  p_.code.word(0x1050'0073);
  if (draw_.one_in(2)) p_.code.csr(3, 0, csr::kMip, t);
}

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

void Steps::modify_mapping() {
  const unsigned at = one(), entry = other(at);
  const std::uint64_t page = draw_.below(31);
  p_.literal(at, s_.test_table + page * 8);
  p_.literal(entry, draw_entry(p_, page, draw_));
  p_.code.word(0x1200'0073);  // sfence.vma: where TVM forbids it, it traps before anything has changed
  p_.code.store(entry, at, 0);
  p_.literal(at, s_.test_pages + page * kPage + 64 + draw_.below(kPage - 128));
  p_.code.word(0x1200'0073 | (draw_.one_in(2) ? 0 : at) << 15);  // sfence.vma
  access(at, 0, true);
}

/// SUM and MXR: the same access with the one and the other value, so that a translation that is kept shows.
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

/// Another rule, in a pair of entries that may change; and an access near to it.
void Steps::protection() {
  if (!s_.protected_memory) return environment();
  const unsigned t = one();
  const auto n = static_cast<unsigned>(2 + draw_.below(13));
  p_.literal(t, draw_pmp_address(p_, 3, draw_));
  p_.code.csrw(csr::kPmpaddr0 + n, t);
  // QEMU 7.2 forgets that the next entry may begin here, until that is written.
  p_.code.csrr(t, csr::kPmpaddr0 + n + 1);
  p_.code.csrw(csr::kPmpaddr0 + n + 1, t);
  p_.code.word(0x1200'0073);  // sfence.vma, as the specification demands
  access_mapping();
}

}  // namespace sluice::differential
