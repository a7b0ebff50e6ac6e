// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/coverage.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "models/riscv/iss/interpreter/interpreter_fusion.h"
#include "models/riscv/iss/privileged/csr.h"
#include "tests/differential/differences.h"
#include "tests/differential/operands.h"

namespace sluice::differential {
namespace {

/// What distinguishes the cells of an operation.
enum class Kind : std::uint8_t {
  rounded,     ///< rounding mode (0 to 4 in the instruction, 5 to 9 dynamic), class of each operand
  floating,    ///< class of each operand
  conversion,  ///< to an integer: rounding mode, class, magnitude
  integer,     ///< class of each operand; with an immediate: class of rs1 and of the immediate
  access,      ///< address modulo 8, whether it crosses a page
  atomic,      ///< funct5, classes of memory and operand; LR, SC: whether SC succeeded
  anywhere,    ///< privilege
};
constexpr unsigned kRoundings = 10, kImmediateClasses = 7;

Kind kind_of(Opcode op) {
  if (is_float_op(op)) {
    const bool rounded = Encodings::get().of(op).rounding_modes != 0;
    if (rounded && riscv::float_to_integer(op)) return Kind::conversion;
    return rounded ? Kind::rounded : Kind::floating;
  }
  if (is_load(op) || is_store(op)) return Kind::access;
  if (op >= Opcode::lr_w && op <= Opcode::amo_d) return Kind::atomic;
  if (is_integer_op(op) || riscv::is_branch(op)) return Kind::integer;
  return Kind::anywhere;
}

unsigned classes(Source s) { return s == Source::integer ? kIntegerClasses : kFloatClasses - (s == Source::full); }
std::uint8_t class_of(std::uint64_t value, Source s) {
  return s == Source::integer ? static_cast<std::uint8_t>(integer_class(value))
                              : static_cast<std::uint8_t>(float_class(value, s));
}
std::string class_name(unsigned c, Source s) {
  return s == Source::integer ? name_of(static_cast<IntegerClass>(c)) : name_of(static_cast<FloatClass>(c));
}

bool all_immediates_count(Opcode op) { return Encodings::get().of(op).immediates.size() <= 64; }
bool upper(Opcode op) { return op == Opcode::lui || op == Opcode::auipc; }

/// Class of an immediate: its index where there are few, else zero, one, minus one, least, most, other positive or
/// negative.
std::uint8_t immediate_class(Opcode op, std::int32_t v) {
  const Encoding& e = Encodings::get().of(op);
  if (all_immediates_count(op))
    return static_cast<std::uint8_t>(std::lower_bound(e.immediates.begin(), e.immediates.end(), v) -
                                     e.immediates.begin());
  if (upper(op)) return v == 0 ? 0 : v > 0 ? 5 : 6;
  return v == 0 ? 0 : v == 1 ? 1 : v == -1 ? 2 : v == e.least ? 3 : v == e.most ? 4 : v > 0 ? 5 : 6;
}

/// All immediate classes that an operation can have by the decoder's table.
std::vector<std::uint8_t> immediate_classes(Opcode op) {
  if (upper(op)) return {0, 5, 6};
  const std::size_t n = all_immediates_count(op) ? Encodings::get().of(op).immediates.size() : kImmediateClasses;
  std::vector<std::uint8_t> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<std::uint8_t>(i);
  return v;
}

constexpr unsigned kAmos[] = {0, 1, 4, 8, 12, 16, 20, 24, 28};

/// Whether a sign-extended word can be of this class.
bool fits_word(unsigned c) {
  const auto v = static_cast<IntegerClass>(c);
  return v != IntegerClass::least64 && v != IntegerClass::most64 && v != IntegerClass::all_ones32;
}

/// The privileges in which an operation must be executed.
std::vector<std::uint8_t> privileges(Opcode op) {
  switch (op) {
    case Opcode::mret:
    case Opcode::wfi:  // rarely executed in S mode, where it needs a delegated interrupt and SIE = 0
      return {3};
    case Opcode::sret:
    case Opcode::sfence_vma:
      return {1, 3};
    case Opcode::ecall:
    case Opcode::ebreak:
    case Opcode::illegal:
    case Opcode::wrs_nto:
    case Opcode::wrs_sto:
    case Opcode::cbo:
      return {};  // traps, which are counted apart; QEMU 7.2 has neither Zawrs nor Zicbom
    default:
      return {0, 1, 3};
  }
}

void for_rounding(Opcode op, const std::function<void(std::uint8_t)>& visit) {
  const unsigned n = Encodings::get().of(op).rounding_modes ? kRoundings : 1;
  for (unsigned mode = 0; mode < n; ++mode) visit(static_cast<std::uint8_t>(mode));
}

/// Every cell that an operation has.
void cells_of(Opcode op, const std::function<void(const Cell&)>& visit) {
  const Source source = source_of(op);
  const auto n = static_cast<std::uint8_t>(classes(source));
  const std::uint8_t n2 = reads_rs2(op) ? n : 1, n3 = reads_rs3(op) ? n : 1;
  switch (kind_of(op)) {
    case Kind::rounded:
    case Kind::floating:
      for_rounding(op, [&](std::uint8_t mode) {
        for (std::uint8_t a = 0; a < n; ++a)
          for (std::uint8_t b = 0; b < n2; ++b)
            for (std::uint8_t c = 0; c < n3; ++c) visit({op, mode, a, b, c});
      });
      return;
    case Kind::conversion:
      for_rounding(op, [&](std::uint8_t mode) {
        for (std::uint8_t a = 0; a < n; ++a) {
          const auto c = static_cast<FloatClass>(a);
          const bool normal = c == FloatClass::plus_normal || c == FloatClass::minus_normal;
          for (std::uint8_t m = 0; m < (normal ? kMagnitudes : 1u); ++m) visit({op, mode, a, m});
        }
      });
      return;
    case Kind::integer: {
      if (upper(op) || reads_rs2(op)) {
        for (std::uint8_t a = 0; a < (upper(op) ? 1 : n); ++a)
          if (upper(op))
            for (const std::uint8_t i : immediate_classes(op)) visit({op, a, i});
          else
            for (std::uint8_t b = 0; b < n2; ++b) visit({op, a, b});
        return;
      }
      for (std::uint8_t a = 0; a < n; ++a)
        for (const std::uint8_t i : immediate_classes(op)) {
          // QEMU 7.2 is wrong there.
          if (operand_differs(op) && static_cast<IntegerClass>(a) == IntegerClass::least64) continue;
          visit({op, a, i});
        }
      return;
    }
    case Kind::access:
      for (std::uint8_t offset = 0; offset < 8; ++offset)
        for (std::uint8_t crosses = 0; crosses < 2; ++crosses)
          if (!crosses || offset + access_bytes(op) > 8) visit({op, offset, crosses});
      return;
    case Kind::atomic:
      if (op == Opcode::lr_w || op == Opcode::lr_d) return visit({op});
      if (op == Opcode::sc_w || op == Opcode::sc_d) return visit({op, 0}), visit({op, 1});
      for (const unsigned funct5 : kAmos)
        for (std::uint8_t a = 0; a < n; ++a)
          for (std::uint8_t b = 0; b < n; ++b)
            if (op == Opcode::amo_d || (fits_word(a) && fits_word(b)))
              visit({op, static_cast<std::uint8_t>(funct5), a, b});
      return;
    case Kind::anywhere:
      for (const std::uint8_t p : privileges(op)) visit({op, p});
      return;
  }
}

std::string describe(const Cell& cell) {
  const Source s = source_of(cell.op);
  std::string text = opcode_name(cell.op);
  const auto add = [&](const std::string& more) { text += " " + more; };
  switch (kind_of(cell.op)) {
    case Kind::rounded:
    case Kind::floating:
    case Kind::conversion:
      if (Encodings::get().of(cell.op).rounding_modes) {
        constexpr const char* names[] = {"rne", "rtz", "rdn", "rup", "rmm"};
        add(std::string(cell.a >= 5 ? "dynamic " : "") + names[cell.a % 5]);
      }
      add(class_name(cell.b, s));
      if (kind_of(cell.op) == Kind::conversion) return text + " magnitude " + std::to_string(cell.c);
      if (reads_rs2(cell.op)) add(class_name(cell.c, s));
      if (reads_rs3(cell.op)) add(class_name(cell.d, s));
      return text;
    default:
      return text + " " + std::to_string(cell.a) + " " + std::to_string(cell.b) + " " + std::to_string(cell.c);
  }
}

}  // namespace

/// Reads the instruction at pc, by a page-table walk of its own that sets no A bit and checks no rights.
bool Coverage::fetch(riscv::Hart& hart, std::uint32_t& word) {
  const riscv::HartState& state = hart.state();
  std::uint64_t satp = 0;
  if (state.privilege != riscv::Privilege::machine) hart.privileged().csr_peek(riscv::csr::kSatp, satp);
  const auto half_at = [&](std::uint64_t pc, std::uint16_t& half) {
    std::uint64_t physical = pc;
    if (satp >> 60 == 8) {
      std::uint64_t table = (satp & 0xfff'ffff'ffff) << 12, entry = 0;
      unsigned shift = 39;
      do {
        shift -= 9;
        const std::uint64_t at = table + (pc >> shift & 511) * 8;
        base::GuestRam* ram = hart.ram_at(at);
        if (!ram) return false;
        ram->read(at, &entry, 8);
        if (!(entry & 1)) return false;
        table = (entry >> 10 & 0xfff'ffff'ffff) << 12;
      } while (!(entry & 0xe) && shift > 12);
      physical = table | (pc & ((std::uint64_t{1} << shift) - 1));
    }
    base::GuestRam* ram = hart.ram_at(physical);
    if (!ram) return false;
    ram->read(physical, &half, 2);
    return true;
  };
  std::uint16_t low = 0, high = 0;
  if (!half_at(state.pc, low)) return false;
  if (!riscv::is_compressed(low) && !half_at(state.pc + 2, high)) return false;
  word = low | static_cast<std::uint32_t>(high) << 16;
  return true;
}

void Coverage::before(riscv::Hart& hart) {
  std::uint32_t word = 0;
  known_ = fetch(hart, word);
  if (!known_) return;
  const riscv::HartState& s = hart.state();
  now_ = riscv::decode(word);
  const Opcode op = now_.op;
  cell_ = {op};
  const Source source = source_of(op);
  const auto operand = [&](unsigned r) { return class_of(source == Source::integer ? s.x[r] : s.f[r], source); };
  const auto rounding = static_cast<std::uint8_t>(now_.aux == 7 ? 5 + s.frm : now_.aux);
  switch (kind_of(op)) {
    case Kind::conversion:
    case Kind::rounded:
    case Kind::floating:
      cell_.a = Encodings::get().of(op).rounding_modes ? rounding : std::uint8_t{0};
      cell_.b = operand(now_.rs1);
      if (reads_rs2(op)) cell_.c = operand(now_.rs2);
      if (reads_rs3(op)) cell_.d = operand(static_cast<unsigned>(now_.imm));
      if (kind_of(op) == Kind::conversion) {
        const auto c = static_cast<FloatClass>(cell_.b);
        if (c == FloatClass::plus_normal || c == FloatClass::minus_normal)
          cell_.c = static_cast<std::uint8_t>(magnitude(s.f[now_.rs1], source));
      }
      break;
    case Kind::integer:
      cell_.a = upper(op) ? std::uint8_t{0} : operand(now_.rs1);
      cell_.b = reads_rs2(op) ? operand(now_.rs2) : immediate_class(op, now_.imm);
      break;
    case Kind::access: {
      const std::uint64_t address = s.x[now_.rs1] + static_cast<std::uint64_t>(std::int64_t{now_.imm});
      cell_.a = address & 7;
      cell_.b = (address & 0xfff) + access_bytes(op) > 0x1000;
      break;
    }
    case Kind::atomic:
      if (op == Opcode::amo_w || op == Opcode::amo_d) {
        std::uint64_t memory = 0;
        std::uint32_t low = 0;
        const bool full = op == Opcode::amo_d;
        if (full ? hart.debug_read(s.x[now_.rs1], &memory, 8) : hart.debug_read(s.x[now_.rs1], &low, 4))
          if (!full) memory = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(low)});
        const std::uint64_t value =
            full ? s.x[now_.rs2] : static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(s.x[now_.rs2])});
        cell_ = {op, now_.aux, class_of(memory, Source::integer), class_of(value, Source::integer)};
      }
      break;
    case Kind::anywhere:
      cell_.a = static_cast<std::uint8_t>(s.privilege);
      break;
  }
}

void Coverage::after(riscv::Hart& hart, bool executed) {
  if (!known_ || !executed) {
    last_ = Opcode::illegal;
    return;
  }
  const bool conditional = now_.op == Opcode::sc_w || now_.op == Opcode::sc_d;
  if (conditional) cell_.a = static_cast<std::uint8_t>(hart.state().x[now_.rd] & 1);
  if (!conditional || now_.rd != 0) ++counts_[cell_];
  if (now_.length == 2) ++compressed_[static_cast<std::size_t>(now_.op)];
  if (pairs_.empty()) pairs_.resize(riscv::kPairs + 1);
  ++pairs_[last_ == Opcode::illegal ? riscv::kPairs : riscv::pair_of(last_, now_.op)];
  last_ = riscv::ends_block(now_.op) ? Opcode::illegal : now_.op;
}

std::vector<std::string> Coverage::missing() const {
  std::vector<std::string> list;
  for (unsigned n = 0; n < kOpcodes; ++n) {
    const auto op = static_cast<Opcode>(n);
    cells_of(op, [&](const Cell& cell) {
      if (!counts_.contains(cell)) list.push_back(describe(cell));
    });
    if (!Encodings::get().of(op).halves.empty() && op != Opcode::ebreak && compressed_[n] == 0)
      list.push_back(std::string("compressed ") + opcode_name(op));
  }
  for (unsigned pair = 0; pair < riscv::kPairs; ++pair)
    if (pairs_.empty() || pairs_[pair] == 0) list.push_back("pair " + std::to_string(pair));
  return list;
}

std::string Coverage::table() const {
  struct Row {
    const char* name;
    unsigned operations = 0;
    std::uint64_t cells = 0, reached = 0, executed = 0;
  };
  Row rows[] = {{"floating point, rounded"}, {"floating point, exact"}, {"conversions to integers"},
                {"integer and branches"},    {"loads and stores"},      {"atomics"},
                {"jumps, CSR, system"}};
  for (unsigned n = 0; n < kOpcodes; ++n) {
    const auto op = static_cast<Opcode>(n);
    constexpr std::uint8_t order[] = {0, 1, 2, 3, 4, 5, 6};
    static_assert(static_cast<unsigned>(Kind::floating) == 1 && static_cast<unsigned>(Kind::anywhere) == 6);
    Row& row = rows[order[static_cast<unsigned>(kind_of(op))]];
    ++row.operations;
    cells_of(op, [&](const Cell& cell) {
      ++row.cells;
      const auto at = counts_.find(cell);
      if (at == counts_.end()) return;
      ++row.reached;
      row.executed += at->second;
    });
  }
  std::string text;
  char line[160];
  for (const Row& row : rows) {
    std::snprintf(line, sizeof line, "  %-26s %4u operations, %7llu of %7llu combinations, %11llu executions\n",
                  row.name, row.operations, static_cast<unsigned long long>(row.reached),
                  static_cast<unsigned long long>(row.cells), static_cast<unsigned long long>(row.executed));
    text += line;
  }
  return text;
}

}  // namespace sluice::differential
