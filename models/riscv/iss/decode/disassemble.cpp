// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/decode/disassemble.h"

#include <array>
#include <cctype>

#include <fmt/format.h>

#include "models/riscv/iss/decode/decode.h"
#include "models/riscv/iss/privileged/csr.h"

namespace sluice::riscv {
namespace {

constexpr const char* kIntegerNames[] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                         "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                         "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
constexpr const char* kFloatNames[] = {"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
                                       "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
                                       "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
constexpr const char* kRounding[] = {"rne", "rtz", "rdn", "rup", "rmm", "unknown", "unknown", "dyn"};

const char* x(unsigned n) { return kIntegerNames[n & 31]; }
const char* f(unsigned n) { return kFloatNames[n & 31]; }

/// The assembler's name of an Opcode: with dots, and without the underscore that keeps some from being C++ keywords.
std::string mnemonic(Opcode op) {
  static constexpr const char* names[] = {
#define SLUICE_NAME(name, cost) #name,
      SLUICE_RV_OPS(SLUICE_NAME)
#undef SLUICE_NAME
  };
  std::string text = names[static_cast<unsigned>(op)];
  if (text.back() == '_') text.pop_back();
  for (char& c : text)
    if (c == '_') c = '.';
  return text;
}

std::string ordering(std::uint32_t bits) {
  std::string text;
  for (unsigned i = 0; i < 4; ++i)
    if (bits >> (3 - i) & 1) text += "iorw"[i];
  return text.empty() ? "unknown" : text;
}

std::string fence_text(const Instruction& i) {
  const std::uint32_t predecessor = i.raw >> 24 & 15, successor = i.raw >> 20 & 15;
  if (i.raw >> 28 == 8 && predecessor == 3 && successor == 3 && i.rd == 0 && i.rs1 == 0) return "fence.tso";
  return fmt::format("fence\t{},{}", ordering(predecessor), ordering(successor));
}

std::string atomic(const Instruction& i) {
  const bool word = i.op == Opcode::lr_w || i.op == Opcode::sc_w || i.op == Opcode::amo_w;
  const char* name = "";
  switch (i.aux) {
    case 0x00:
      name = "amoadd";
      break;
    case 0x01:
      name = "amoswap";
      break;
    case 0x02:
      name = "lr";
      break;
    case 0x03:
      name = "sc";
      break;
    case 0x04:
      name = "amoxor";
      break;
    case 0x08:
      name = "amoor";
      break;
    case 0x0c:
      name = "amoand";
      break;
    case 0x10:
      name = "amomin";
      break;
    case 0x14:
      name = "amomax";
      break;
    case 0x18:
      name = "amominu";
      break;
    default:
      name = "amomaxu";
      break;
  }
  constexpr const char* order[] = {"", ".rl", ".aq", ".aqrl"};
  const std::string full = fmt::format("{}.{}{}", name, word ? 'w' : 'd', order[i.raw >> 25 & 3]);
  if (i.aux == 0x02) return fmt::format("{}\t{},({})", full, x(i.rd), x(i.rs1));
  return fmt::format("{}\t{},{},({})", full, x(i.rd), x(i.rs2), x(i.rs1));
}

/// Conversions that are always exact: objdump leaves their rounding mode out when it is rne, the assembler's default.
bool exact_conversion(Opcode op) { return op == Opcode::fcvt_d_w || op == Opcode::fcvt_d_wu || op == Opcode::fcvt_d_s; }

std::string floating(const Instruction& i) {
  using enum Opcode;
  const std::string name = mnemonic(i.op);
  const bool rounds = !(i.op >= fsgnj_s && i.op <= fmv_d_x);
  std::string mode;
  if (exact_conversion(i.op) ? i.aux != 0 : rounds && i.aux != 7) mode = std::string(",") + kRounding[i.aux];
  if (i.op >= fmadd_s && i.op <= fnmadd_d)
    return fmt::format("{}\t{},{},{},{}{}", name, f(i.rd), f(i.rs1), f(i.rs2), f(static_cast<unsigned>(i.imm)), mode);
  if (float_to_integer(i.op)) {
    if (i.op >= feq_s && i.op <= fle_d) return fmt::format("{}\t{},{},{}", name, x(i.rd), f(i.rs1), f(i.rs2));
    return fmt::format("{}\t{},{}{}", name, x(i.rd), f(i.rs1), mode);
  }
  if (i.op == fmv_w_x || i.op == fmv_d_x || (i.op >= fcvt_s_w && i.op <= fcvt_d_lu))
    return fmt::format("{}\t{},{}{}", name, f(i.rd), x(i.rs1), mode);
  if (i.op == fsqrt_s || i.op == fsqrt_d || i.op == fcvt_d_s || i.op == fcvt_s_d)
    return fmt::format("{}\t{},{}{}", name, f(i.rd), f(i.rs1), mode);
  return fmt::format("{}\t{},{},{}{}", name, f(i.rd), f(i.rs1), f(i.rs2), mode);
}

std::string memory(const Instruction& i) {
  using enum Opcode;
  const bool store = i.op >= sb && i.op <= fsd;
  const unsigned data = store ? i.rs2 : i.rd;
  return fmt::format("{}\t{},{}({})", mnemonic(i.op), uses_float(i.op) ? f(data) : x(data), i.imm, x(i.rs1));
}

std::string system(const Instruction& i, std::uint64_t pc) {
  using enum Opcode;
  std::string name = mnemonic(i.op);
  const std::uint64_t target = pc + static_cast<std::uint64_t>(std::int64_t{i.imm});
  switch (i.op) {
    case jal:
      return fmt::format("jal\t{},{:x}", x(i.rd), target);
    case jalr:
      return fmt::format("jalr\t{},{}({})", x(i.rd), i.imm, x(i.rs1));
    case csrrw:
    case csrrs:
    case csrrc:
      return fmt::format("{}\t{},{},{}", name, x(i.rd), csr_name(static_cast<unsigned>(i.imm)), x(i.rs1));
    case csrrwi:
    case csrrsi:
    case csrrci:
      return fmt::format("{}\t{},{},{}", name, x(i.rd), csr_name(static_cast<unsigned>(i.imm)), i.rs1);
    case sfence_vma:
      return fmt::format("sfence.vma\t{},{}", x(i.rs1), x(i.rs2));
    default:
      break;
  }
  if (is_branch(i.op)) return fmt::format("{}\t{},{},{:x}", name, x(i.rs1), x(i.rs2), target);
  return name;
}

/// Operations whose last operand is an immediate shown in hexadecimal: shift amounts and bit numbers.
bool has_shift_amount(Opcode op) {
  using enum Opcode;
  switch (op) {
    case slli:
    case srli:
    case srai:
    case slliw:
    case srliw:
    case sraiw:
    case slli_uw:
    case rori:
    case roriw:
    case bclri:
    case bexti:
    case binvi:
    case bseti:
      return true;
    default:
      return false;
  }
}

bool has_one_operand(Opcode op) {
  using enum Opcode;
  return (op >= clz && op <= cpopw) || (op >= sext_b && op <= zext_h) || op == orc_b || op == rev8;
}

std::string integer(const Instruction& i) {
  using enum Opcode;
  const std::string name = mnemonic(i.op);
  switch (i.op) {
    case lui:
    case auipc:
      return fmt::format("{}\t{},{:#x}", name, x(i.rd), static_cast<std::uint32_t>(i.imm) >> 12);
    case addi:
    case slti:
    case sltiu:
    case xori:
    case ori:
    case andi:
    case addiw:
      return fmt::format("{}\t{},{},{}", name, x(i.rd), x(i.rs1), i.imm);
    case probe:
      return fmt::format("slti\tzero,{},{}", x(i.rs1), i.imm);
    case account:
      return fmt::format("sltiu\tzero,{},{}", x(i.rs1), i.imm);
    case bind:
      return fmt::format("slt\tzero,{},{}", x(i.rs1), x(i.rs2));
    case open:
      return fmt::format("sltu\tzero,{},{}", x(i.rs1), x(i.rs2));
    case pause:
      return "pause";
    case prefetch: {
      const char kind = i.aux == Instruction::kPrefetchI ? 'i' : i.aux == Instruction::kPrefetchR ? 'r' : 'w';
      return fmt::format("prefetch.{}\t{}({})", kind, i.imm, x(i.rs1));
    }
    case cbo: {
      constexpr const char* kinds[] = {"inval", "clean", "flush", "", "zero"};
      return fmt::format("cbo.{}\t({})", kinds[i.aux], x(i.rs1));
    }
    default:
      break;
  }
  if (has_shift_amount(i.op)) return fmt::format("{}\t{},{},{:#x}", name, x(i.rd), x(i.rs1), i.imm);
  if (has_one_operand(i.op)) return fmt::format("{}\t{},{}", name, x(i.rd), x(i.rs1));
  return fmt::format("{}\t{},{},{}", name, x(i.rd), x(i.rs1), x(i.rs2));
}

/// A shift amount of 0 means 64 on RV128: objdump prints such an instruction under the name that it has there.
std::string compressed_shift(const Instruction& i) {
  if (i.imm == 0) return fmt::format("c.{}64\t{}", mnemonic(i.op), x(i.rd));
  return fmt::format("c.{}\t{},{:#x}", mnemonic(i.op), x(i.rd), i.imm);
}

/// The 16-bit instruction that `i` was decoded from, under its compressed mnemonic.
std::string compressed(const Instruction& i, std::uint64_t pc) {
  const std::uint32_t h = i.raw, quadrant = h & 3, funct3 = h >> 13;
  const std::uint64_t target = pc + static_cast<std::uint64_t>(std::int64_t{i.imm});
  using enum Opcode;
  if (quadrant == 0) {
    if (funct3 == 0) return fmt::format("c.addi4spn\t{},sp,{}", x(i.rd), i.imm);
    return "c." + memory(i);
  }
  if (quadrant == 1) {
    switch (funct3) {
      case 0:
      case 1:
        return fmt::format("c.{}\t{},{}", mnemonic(i.op), x(i.rd), i.imm);
      case 2:
        return fmt::format("c.li\t{},{}", x(i.rd), i.imm);
      case 3:
        if (i.op == addi) return fmt::format("c.addi16sp\tsp,{}", i.imm);
        return fmt::format("c.lui\t{},{:#x}", x(i.rd), static_cast<std::uint32_t>(i.imm) >> 12);
      case 4:
        if (i.op == andi) return fmt::format("c.andi\t{},{}", x(i.rd), i.imm);
        if (has_shift_amount(i.op)) return compressed_shift(i);
        return fmt::format("c.{}\t{},{}", mnemonic(i.op), x(i.rd), x(i.rs2));
      case 5:
        return fmt::format("c.j\t{:x}", target);
      default:
        return fmt::format("c.{}z\t{},{:x}", mnemonic(i.op), x(i.rs1), target);
    }
  }
  switch (funct3) {
    case 0:
      return compressed_shift(i);
    case 4:
      if (i.op == ebreak) return "c.ebreak";
      if (i.op == jalr) return fmt::format("c.{}\t{}", i.rd == 0 ? "jr" : "jalr", x(i.rs1));
      if (h >> 12 & 1) return fmt::format("c.add\t{},{}", x(i.rd), x(i.rs2));
      return fmt::format("c.mv\t{},{}", x(i.rd), x(i.rs2));
    default: {
      const bool store = funct3 >= 5;
      const unsigned data = store ? i.rs2 : i.rd;
      return fmt::format("c.{}sp\t{},{}(sp)", mnemonic(i.op), uses_float(i.op) ? f(data) : x(data), i.imm);
    }
  }
}

}  // namespace

std::string csr_name(unsigned number) {
  static const std::array<std::string, 4096> names = [] {
    std::array<std::string, 4096> table;
    PrivilegedConfig all;
    all.aia = true;
    all.pmp_regions = 64;
    for (const CsrInfo& c : csr_list(all)) table[c.number] = c.name;
    return table;
  }();
  return names[number].empty() ? fmt::format("{:#x}", number) : names[number];
}

const char* integer_register(unsigned n) { return x(n); }
const char* float_register(unsigned n) { return f(n); }

std::string disassemble(std::uint32_t word, std::uint64_t pc) {
  using enum Opcode;
  const Instruction i = decode(word);
  if (i.op == illegal) {
    if (i.length == 2 && i.raw == 0) return "c.unimp";
    return i.length == 2 ? fmt::format(".2byte\t{:#x}", i.raw) : fmt::format(".4byte\t{:#x}", i.raw);
  }
  if (i.length == 2) return compressed(i, pc);
  if (i.op == Opcode::fence) return fence_text(i);
  if (i.op >= lb && i.op <= fsd) return memory(i);
  if (i.op >= lr_w && i.op <= amo_d) return atomic(i);
  if (uses_float(i.op)) return floating(i);
  if (ends_block(i.op)) return system(i, pc);
  return integer(i);
}

}  // namespace sluice::riscv
