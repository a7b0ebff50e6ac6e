// SPDX-License-Identifier: Apache-2.0
// Steps that compute, access memory and jump.
#include <algorithm>
#include <stdexcept>

#include "models/riscv/iss/privileged/csr.h"
#include "tests/differential/differences.h"
#include "tests/differential/encodings.h"
#include "tests/differential/operands.h"
#include "tests/differential/random_program.h"

namespace sluice::differential {
namespace {

const std::vector<Opcode>& operations(bool (*wanted)(Opcode)) {
  static std::vector<std::pair<bool (*)(Opcode), std::vector<Opcode>>> lists;
  for (const auto& [test, list] : lists)
    if (test == wanted) return list;
  std::vector<Opcode> list;
  for (unsigned n = 0; n < kOpcodes; ++n)
    if (wanted(static_cast<Opcode>(n))) list.push_back(static_cast<Opcode>(n));
  lists.reserve(8);
  return lists.emplace_back(wanted, std::move(list)).second;
}

bool computes(Opcode op) { return is_integer_op(op) || (op >= Opcode::probe && op <= Opcode::prefetch); }
bool accesses(Opcode op) { return is_load(op) || is_store(op); }

const std::vector<std::uint16_t>& short_computations() {
  static const auto list = [] {
    std::vector<std::uint16_t> halves;
    for (const Opcode op : operations(is_integer_op)) {
      const auto& more = Encodings::get().of(op).halves;
      halves.insert(halves.end(), more.begin(), more.end());
    }
    return halves;
  }();
  return list;
}

}  // namespace

void Steps::write(std::uint64_t n) {
  struct Family {
    void (Steps::*write)();
    unsigned weight;
    bool only_paged;
    bool only_locked = false;
  };
  static constexpr Family kFamilies[] = {
      {&Steps::integer, 10, false},         {&Steps::loop, 3, false},
      {&Steps::floating, 12, false},        {&Steps::memory, 10, false},
      {&Steps::atomic, 5, false},           {&Steps::jump, 8, false},
      {&Steps::reservation, 2, false},      {&Steps::lock, 40, false, true},
      {&Steps::modify_code, 3, false},      {&Steps::csr, 10, false},
      {&Steps::counter, 1, false},          {&Steps::status_of_float, 2, false},
      {&Steps::environment, 6, false},      {&Steps::illegal, 2, false},
      {&Steps::return_from_trap, 4, false}, {&Steps::fence, 2, false},
      {&Steps::interrupt, 3, false},        {&Steps::wait, 2, false},
      {&Steps::access_mapping, 8, false},   {&Steps::fetch_mapping, 5, false},
      {&Steps::modify_mapping, 5, true},    {&Steps::toggle_translation, 3, true},
      {&Steps::other_privilege, 3, false},  {&Steps::protection, 3, false},
  };
  n_ = n;
  const auto weight = [this](const Family& f) {
    return (f.only_paged && !s_.paged) || (f.only_locked && !s_.locked) ? 0 : f.weight;
  };
  unsigned sum = 0;
  for (const Family& f : kFamilies) sum += weight(f);
  auto choice = static_cast<unsigned>(draw_.below(sum));
  const Family* family = std::begin(kFamilies);
  for (; choice >= weight(*family); ++family) choice -= weight(*family);
  if (reserved_)
    conditional();
  else
    (this->*family->write)();
  const std::uint64_t end = (n + 1) * kStep;
  if (p_.code.here() > end) throw std::runtime_error("a step is too long");
  while (p_.code.here() + 8 <= end && !draw_.one_in(8)) compute();
  if (p_.code.here() % 4 != 0) p_.code.half(0x0001);
  while (p_.code.here() < end) p_.code.addi(0, 0, 0);
}

unsigned Steps::other(unsigned than) {
  const unsigned r = one();
  return r == than ? (r == 31 ? 5 : r + 1) : r;
}

std::int64_t Steps::step_ahead() {
  const std::uint64_t to = std::min<std::uint64_t>(n_ + 1 + draw_.below(6), s_.steps);
  return static_cast<std::int64_t>(to * kStep);
}

void Steps::compute(unsigned spared) {
  if (draw_.one_in(3)) {
    const std::uint16_t half = draw_.from(short_computations());
    if (spared == 0 || riscv::decode(half).rd != spared) return p_.code.half(half);
  }
  const Opcode op = draw_.from(operations(computes));
  unsigned rd = any();
  const unsigned rs1 = any();
  if (rd == spared) rd = 0;
  if (operand_differs(op)) {
    if (rs1 == spared) return;
    p_.code.word(0x1b | rs1 << 7 | rs1 << 15);  // sext.w
  }
  p_.code.word(Encodings::get().draw(op, draw_, rd, rs1));
}

void Steps::integer() {
  for (std::uint64_t n = 2 + draw_.below(5); n > 0; --n) compute();
}

void Steps::loop() {
  const unsigned counter = one();
  p_.code.li(counter, static_cast<std::int64_t>(2 + draw_.below(4)));
  const auto top = static_cast<std::int64_t>(p_.code.here());
  for (std::uint64_t n = 1 + draw_.below(5); n > 0; --n) compute(counter);
  p_.code.addi(counter, counter, -1);
  p_.code.branch(1, counter, 0, top);
}

void Steps::floating() {
  const unsigned f = any();
  if (draw_.one_in(2)) {
    const Opcode op = draw_.from(operations(is_float_op));
    p_.fliteral(f, one(), draw_float(source_of(op) == Source::single ? Source::single : Source::full, draw_));
  }
  if (draw_.one_in(3))
    p_.code.csr(5, any(), 2, static_cast<unsigned>(draw_.one_in(12) ? draw_.below(8) : draw_.below(5)));
  if (draw_.one_in(6)) p_.code.csr(5, any(), 1, any());
  for (std::uint64_t n = 2 + draw_.below(5); n > 0; --n) {
    const Opcode op = draw_.from(operations(is_float_op));
    p_.code.word(Encodings::get().draw(op, draw_, any(), draw_.one_in(2) ? f : any()));
  }
}

/// A load or store at base + offset.
void Steps::access(unsigned base, std::int32_t offset, bool may_store, unsigned rd) {
  Opcode op = draw_.from(operations(may_store ? accesses : is_load));
  const auto u = static_cast<std::uint32_t>(offset);
  const std::uint32_t word = Encodings::get().of(op).words.front() & 0x707f;
  if (is_store(op))
    p_.code.word(word | (u & 31) << 7 | base << 15 | any() << 20 | u >> 5 << 25);
  else
    p_.code.word(word | (riscv::uses_float(op) ? any() : rd) << 7 | base << 15 | u << 20);
}

void Steps::memory() {
  const unsigned base = one();
  std::uint64_t at = (kCodePages * kPage) + 64 + draw_.below(p_.data_size() - kCodePages * kPage - 128);
  if (draw_.one_in(2)) at &= ~std::uint64_t{7};
  if (draw_.one_in(6)) at = (at | (kPage - 1)) - draw_.below(8);
  // See draw_address().
  if (s_.protected_memory) at = (at & ~(kPage - 1)) | (64 + (draw_.below(kPage - 128) & ~std::uint64_t{3}));
  at = std::min(at, p_.data_size() - 80);
  const auto shift = static_cast<std::int32_t>(draw_.between(-2000, 2000));
  p_.code.address(base, p_.data_offset() + static_cast<std::int64_t>(at) - shift);
  for (std::uint64_t n = 1 + draw_.below(4); n > 0; --n)
    access(base,
           shift + 8 * static_cast<std::int32_t>(draw_.below(2)) + (!s_.protected_memory && draw_.one_in(4) ? 1 : 0),
           true);
  if (base < 16 && base >= 8 && draw_.one_in(2)) {
    p_.code.address(base, p_.data_offset() + static_cast<std::int64_t>(at & ~std::uint64_t{7}) - 0);
    const std::uint32_t regs = (base - 8) << 7 | static_cast<std::uint32_t>(draw_.below(8)) << 2;
    // c.fld, c.lw, c.ld, c.fsd, c.sw, c.sd at offset 0 to 56
    const auto kind = draw_.from({1u, 2u, 3u, 5u, 6u, 7u});
    p_.code.half(static_cast<std::uint16_t>(kind << 13 | regs | draw_.below(8) << 10));
  }
}

void Steps::atomic() {
  const unsigned base = one();
  std::uint64_t at = (kCodePages * kPage) + 64 + draw_.below(p_.data_size() - kCodePages * kPage - 256);
  at &= ~std::uint64_t{7};
  if (draw_.one_in(8)) at += s_.protected_memory ? 4 : 1 + draw_.below(7);
  p_.code.address(base, p_.data_offset() + static_cast<std::int64_t>(at));
  const std::uint32_t width = draw_.one_in(2) ? 2u : 3u;
  const auto order = [&] { return static_cast<std::uint32_t>(draw_.below(4)) << 25; };
  const auto lr = [&](unsigned rd) { p_.code.word(0x2f | rd << 7 | width << 12 | base << 15 | order() | 2u << 27); };
  const auto sc = [&](unsigned rd) {
    p_.code.word(0x2f | rd << 7 | width << 12 | base << 15 | any() << 20 | order() | 3u << 27);
  };
  switch (draw_.below(4)) {
    case 0:
      lr(other(base));
      if (draw_.one_in(2)) compute(base);
      sc(other(base));
      if (draw_.one_in(3)) sc(any());
      break;
    case 1: {
      // SC of another line fails on both machines. QEMU does not look at the page then, so a store comes first.
      const unsigned before = other(base);
      const std::int32_t distance = draw_.one_in(2) ? 64 : 128;
      p_.code.store(any(), base, distance);
      lr(before);
      p_.code.addi(base, base, distance);
      sc(other(base));
      break;
    }
    default:
      for (std::uint64_t n = 1 + draw_.below(4); n > 0; --n)
        p_.code.word(Encodings::get().draw(width == 2 ? Opcode::amo_w : Opcode::amo_d, draw_, other(base), base));
  }
}

/// LR and a trap, or a return from one, which end the reservation. The store shows that the page can be written: see
/// known_differences().
void Steps::reservation() {
  const unsigned base = 5 + static_cast<unsigned>(draw_.below(25)), held = base + 1, t = base + 2;
  const std::int64_t offset =
      p_.data_offset() + static_cast<std::int64_t>(kCodePages * kPage + 64 + 8 * draw_.below(kPage / 8 * 5));
  const std::uint32_t width = draw_.one_in(2) ? 2 : 3;
  p_.code.address(base, offset);
  p_.code.store(any(), base, 0);
  p_.code.word(0x2f | width << 12 | base << 15 | 2u << 27);
  p_.code.addi(held, base, 0);
  // Not an ecall: in another mode the SC might have to trap, which QEMU leaves out when the SC fails anyway.
  switch (draw_.below(3)) {
    case 0:
      p_.code.word(0x0010'0073);  // ebreak
      break;
    case 1:
      p_.code.half(0);
      break;
    default:
      p_.literal(t, p_.d.code[3] + (n_ + 1) * kStep);
      p_.code.csrw(riscv::csr::kMepc, t);
      p_.code.li(t, static_cast<std::int64_t>(riscv::mstatus::kMpp));
      p_.code.csr(2, 0, riscv::csr::kMstatus, t);
      p_.code.word(0x3020'0073);  // mret
  }
  reserved_ = {base, held, offset, width};
}

/// SC of reservation(), skipped if the program has come from elsewhere, or sees its data at another address now.
void Steps::conditional() {
  const Reservation r = *reserved_;
  reserved_.reset();
  p_.code.address(r.base, r.offset);
  p_.code.branch(1, r.base, r.held, static_cast<std::int64_t>(p_.code.here()) + 8);
  p_.code.word(0x2f | any() << 7 | r.width << 12 | r.base << 15 | any() << 20 | 3u << 27);
}

void Steps::jump() {
  const std::int64_t to = step_ahead();
  const unsigned t = one();
  switch (draw_.below(6)) {
    case 0:
      return p_.code.jump(to, any());
    case 1: {
      const std::int64_t imm = draw_.between(-2048, 2047);
      p_.code.address(t, to - imm);
      // jalr clears the lowest bit of the sum.
      const auto u = static_cast<std::uint32_t>(draw_.one_in(3) && imm < 2047 ? imm + 1 : imm);
      const bool odd = (static_cast<std::uint64_t>(to) & 1) != 0;
      return p_.code.word(0x67 | any() << 7 | t << 15 | (odd ? static_cast<std::uint32_t>(imm) : u) << 20);
    }
    case 2:
      p_.code.address(t, to);
      return p_.code.half(static_cast<std::uint16_t>((draw_.one_in(2) ? 0x8002u : 0x9002u) | t << 7));
    default:
      for (std::uint64_t n = 1 + draw_.below(3); n > 0; --n) {
        const unsigned funct3 = draw_.from({0u, 1u, 4u, 5u, 6u, 7u});
        const unsigned rs1 = any();
        p_.code.branch(funct3, rs1, draw_.one_in(4) ? rs1 : any(), to);
        compute();
      }
  }
}

/// Replaces an instruction, which may have run already, and runs what replaced it.
void Steps::modify_code() {
  const unsigned at = one(), word = other(at), counter = draw_.one_in(2) ? 0 : std::max(at, word) == 31 ? 4 : 31;
  const auto harmless = [&] {
    const unsigned rd = 12 + static_cast<unsigned>(draw_.below(4));
    return 0x13 | rd << 7 | any() << 15 | static_cast<std::uint32_t>(draw_.below(4096)) << 20;
  };
  std::uint32_t old_word = harmless(), new_word = harmless();
  // Registers that the instruction must not change.
  const auto safe = [&](std::uint32_t w) {
    const unsigned rd = w >> 7 & 31;
    return rd != at && rd != word && rd != counter;
  };
  while (!safe(old_word)) old_word = harmless();
  while (!safe(new_word)) new_word = harmless();
  if (counter != 0) p_.code.li(counter, 2);
  p_.literal(word, new_word);
  const std::uint64_t address_at = p_.code.here();
  p_.code.address(at, 0);
  const auto top = static_cast<std::int64_t>(p_.code.here());
  const auto patched = static_cast<std::int64_t>(p_.code.here() + (counter != 0 ? 0 : 8));
  const auto emit_store = [&] {
    p_.code.word(0x2023 | at << 15 | word << 20);  // sw
    p_.code.word(0x0000'100f);                     // fence.i
  };
  if (counter == 0) emit_store();
  p_.code.word(old_word);
  if (counter != 0) {
    emit_store();
    p_.code.addi(counter, counter, -1);
    p_.code.branch(1, counter, 0, top);
  }
  // The address is known now.
  Code at_code;
  const std::int64_t distance = patched - static_cast<std::int64_t>(address_at);
  at_code.address(at, distance);
  p_.code.patch(address_at, at_code.word_at(0));
  p_.code.patch(address_at + 4, at_code.word_at(4));
}

}  // namespace sluice::differential
