// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/encodings.h"

#include <algorithm>
#include <string_view>

namespace sluice::differential {
namespace {

constexpr std::uint32_t kRd = 31u << 7, kRs1 = 31u << 15, kRs2 = 31u << 20, kRm = 7u << 12, kRs3 = 31u << 27;

constexpr const char* kNames[] = {
#define SLUICE_NAME(name, cost) #name,
    SLUICE_RV_OPS(SLUICE_NAME)
#undef SLUICE_NAME
};

std::string_view last_part(Opcode op) {
  const std::string_view name = opcode_name(op);
  return name.substr(name.rfind('_') + 1);
}

bool between(Opcode op, Opcode first, Opcode last) { return op >= first && op <= last; }

}  // namespace

const char* opcode_name(Opcode op) { return kNames[static_cast<std::size_t>(op)]; }

Encodings::Encodings() {
  // Most operations let rd and rs1 be anything; the second and third passes find those that fix them to zero.
  struct Pass {
    std::uint32_t registers;
    bool rd_is_zero, rs1_is_zero;
  };
  constexpr Pass kPasses[] = {{1 << 7 | 1 << 15, false, false}, {1 << 15, true, false}, {0, true, true}};
  std::array<bool, kOpcodes> found{};
  for (const Pass& pass : kPasses) {
    const std::array<bool, kOpcodes> before = found;
    for (std::uint32_t n = 0; n < 1u << 20; ++n) {
      const std::uint32_t word = 3 | (n & 31) << 2 | (n >> 5 & 7) << 12 | n >> 8 << 20;
      const Instruction i = riscv::decode(word | pass.registers);
      const auto index = static_cast<std::size_t>(i.op);
      if (i.op == Opcode::illegal || before[index]) continue;
      found[index] = true;
      Encoding& e = table_[index];
      e.words.push_back(word);
      e.rd_is_zero = pass.rd_is_zero;
      e.rs1_is_zero = pass.rs1_is_zero;
      e.immediates.push_back(i.imm);
      if (is_float_op(i.op)) e.rounding_modes = static_cast<std::uint8_t>(e.rounding_modes | 1u << (word >> 12 & 7));
    }
  }
  for (Encoding& e : table_) {
    // A rounding mode is a field that may also say "dynamic"; where funct3 selects the operation there is only one.
    if (!(e.rounding_modes & 0x80) || !(e.rounding_modes & 1)) e.rounding_modes = 0;
    std::sort(e.immediates.begin(), e.immediates.end());
    e.immediates.erase(std::unique(e.immediates.begin(), e.immediates.end()), e.immediates.end());
    if (!e.immediates.empty()) e.least = e.immediates.front(), e.most = e.immediates.back();
  }
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    if (!riscv::is_compressed(half)) continue;
    const Instruction i = riscv::decode(half);
    if (i.op == Opcode::illegal)
      illegal_halves_.push_back(static_cast<std::uint16_t>(half));
    else
      table_[static_cast<std::size_t>(i.op)].halves.push_back(static_cast<std::uint16_t>(half));
  }
}

const Encodings& Encodings::get() {
  static const Encodings encodings;
  return encodings;
}

std::uint32_t Encodings::draw(Opcode op, Draw& draw, unsigned rd, unsigned rs1) const {
  const Encoding& e = of(op);
  const std::uint32_t word = draw.from(e.words);
  const bool rd_field_is_immediate = is_store(op) || riscv::is_branch(op);
  if (rd_field_is_immediate) rd = static_cast<unsigned>(draw.below(32));
  return word | (e.rd_is_zero ? 0 : rd << 7) | (e.rs1_is_zero ? 0 : rs1 << 15);
}

std::uint32_t Encodings::word(Opcode op, unsigned rd, unsigned rs1, unsigned rs2, unsigned rm, unsigned rs3) const {
  std::uint32_t word = of(op).words.front() | rd << 7 | rs1 << 15;
  if (reads_rs2(op)) word = (word & ~kRs2) | rs2 << 20;
  if (of(op).rounding_modes) word = (word & ~kRm) | rm << 12;
  if (reads_rs3(op)) word = (word & ~kRs3) | rs3 << 27;
  return word;
}

std::uint32_t Encodings::with_immediate(Opcode op, unsigned rd, unsigned rs1, std::int32_t immediate) const {
  for (const std::uint32_t word : of(op).words) {
    const std::uint32_t candidate = word | rd << 7 | rs1 << 15;
    if (riscv::decode(candidate).imm == immediate) return candidate;
  }
  return 0;
}

bool reads_rs2(Opcode op) {
  if (reads_rs3(op) || is_store(op) || riscv::is_branch(op)) return true;
  if (op == Opcode::bind || op == Opcode::open || op == Opcode::sfence_vma || between(op, Opcode::sc_w, Opcode::amo_d))
    return true;
  if (is_memory_op(op) || op >= Opcode::jal) return false;
  // Register forms have the whole field free and no immediate.
  static const auto table = [] {
    std::array<bool, kOpcodes> t{};
    for (std::size_t n = 0; n < kOpcodes; ++n) {
      const Encoding& e = Encodings::get().of(static_cast<Opcode>(n));
      std::uint32_t seen = 0;
      for (const std::uint32_t word : e.words) seen |= 1u << (word >> 20 & 31);
      const std::uint32_t major = e.words.empty() ? 0 : e.words.front() >> 2 & 31;
      t[n] = seen == ~0u && (major == 0x0c || major == 0x0e || major == 0x14);
    }
    return t;
  }();
  return table[static_cast<std::size_t>(op)];
}

bool reads_rs3(Opcode op) { return between(op, Opcode::fmadd_s, Opcode::fnmadd_d); }

Source source_of(Opcode op) {
  if (!is_float_op(op)) return Source::integer;
  if (between(op, Opcode::fcvt_s_w, Opcode::fcvt_d_lu) || op == Opcode::fmv_w_x || op == Opcode::fmv_d_x)
    return Source::integer;
  return last_part(op) == "d" ? Source::full : Source::single;
}

bool is_integer_op(Opcode op) { return op < Opcode::fence; }
bool is_memory_op(Opcode op) { return between(op, Opcode::lb, Opcode::amo_d); }
bool is_float_op(Opcode op) { return between(op, Opcode::fadd_s, Opcode::fcvt_d_s); }
bool is_load(Opcode op) { return between(op, Opcode::lb, Opcode::fld); }

unsigned access_bytes(Opcode op) {
  const std::string_view name = opcode_name(op);
  if (is_load(op) || is_store(op)) {
    const char width = name[name[0] == 'f' ? 2 : 1];
    return width == 'b' ? 1 : width == 'h' ? 2 : width == 'w' ? 4 : 8;
  }
  return last_part(op) == "w" ? 4 : 8;
}

}  // namespace sluice::differential
