// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/systematic.h"

#include <algorithm>

#include "models/riscv/iss/interpreter/interpreter_fusion.h"
#include "models/riscv/iss/privileged/csr.h"
#include "tests/differential/differences.h"
#include "tests/differential/encodings.h"
#include "tests/differential/operands.h"
#include "tests/differential/systematic_blocks.h"

namespace sluice::differential {
namespace {

using Values = std::vector<std::uint64_t>;
using namespace reg;

constexpr unsigned kFcsrRm = 0x002, kFflags = 0x001;

struct Job {
  std::string kind;
  std::uint64_t code_bytes, data_bytes;
  std::function<void(Program&, Draw&)> write;
  std::uint64_t step = 64, log_entries = 16;
  unsigned mode = 3;
};

/// Two numbers whose product rounds up to the smallest normal number, and a double that rounds up to the smallest
/// normal single.
std::vector<std::uint64_t> next_to_normal(Source format) {
  if (format == Source::single) return {0xffff'ffff'2000'0001, 0xffff'ffff'1fff'fffe};
  return {0x2000'0000'0000'0001, 0x1fff'ffff'ffff'fffe, 0x380f'ffff'ffff'ff80};
}

Values float_table(Source format, Draw& draw, bool with_magnitudes, unsigned more) {
  Values v;
  for (unsigned c = 0; c < kFloatClasses - (format == Source::full); ++c)
    v.push_back(draw_float(static_cast<FloatClass>(c), format, draw));
  for (unsigned i = 0; i < more; ++i) v.push_back(draw_float(format, draw));
  for (const std::uint64_t value : next_to_normal(format)) v.push_back(value);
  if (with_magnitudes)
    for (unsigned m = 0; m < kMagnitudes; ++m)
      for (const bool negative : {false, true})
        for (unsigned twice = 0; twice < 2; ++twice)
          v.push_back(draw_magnitude(static_cast<Magnitude>(m), negative, format, draw));
  return v;
}

Values integer_table(Draw& draw) {
  Values v;
  for (unsigned c = 0; c < kIntegerClasses; ++c) v.push_back(draw_integer(static_cast<IntegerClass>(c), draw));
  v.push_back(draw_integer(IntegerClass::other_positive, draw));
  v.push_back(draw_integer(IntegerClass::other_negative, draw));
  return v;
}

bool to_integer(Opcode op) { return riscv::float_to_integer(op); }

/// Loops over all tuples of operands from the table and runs `body` on each, with them in a0.. or f10.. .
void over_tuples(Program& p, const Values& table, unsigned operands, bool floating, const std::function<void()>& body) {
  constexpr unsigned cursors[] = {t0, t1, t2};
  Code& c = p.code;
  p.image().put_words(p.data(), table);
  std::uint64_t tops[3];
  c.address(t5, p.data_offset() + static_cast<std::int64_t>(table.size() * 8));
  for (unsigned n = 0; n < operands; ++n) {
    c.address(cursors[n], p.data_offset());
    tops[n] = c.here();
    floating ? c.fload(10 + n, cursors[n], 0) : c.load(10 + n, cursors[n], 0);
  }
  body();
  for (unsigned n = operands; n-- > 0;) {
    c.addi(cursors[n], cursors[n], 8);
    c.branch(7, cursors[n], t5,
             static_cast<std::int64_t>(c.here()) + 8);  // bgeu: the body may be too long for a branch
    c.jump(static_cast<std::int64_t>(tops[n]));
  }
}

/// One floating-point operation, all rounding modes, all classes of each operand; flags accrued or not before it.
void write_float(Program& p, Draw& draw, Opcode op) {
  const Encodings& e = Encodings::get();
  Code& c = p.code;
  const unsigned operands = reads_rs3(op) ? 3 : reads_rs2(op) ? 2 : 1;
  const Source source = source_of(op);
  const bool floating = source != Source::integer;
  const Values table = floating ? float_table(source, draw, operands == 1, operands == 3 ? 1 : 8) : integer_table(draw);
  start_output(p);
  const bool rounded = e.of(op).rounding_modes != 0;
  for (unsigned mode = 0; mode < (rounded ? 10u : 1u); ++mode) {
    // 0 to 4: in the instruction; 5 to 9: dynamic.
    if (mode >= 5) c.csr(5, 0, kFcsrRm, mode - 5);  // csrrwi
    for (const unsigned accrued : {0u, 1u}) {
      over_tuples(p, table, operands, floating, [&] {
        const unsigned rd = to_integer(op) ? a3 : 13;
        c.csr(5, 0, kFflags, accrued);
        c.word(e.word(op, rd, 10, 11, mode < 5 ? mode : 7, 12));
        c.csrr(a4, kFflags);
        to_integer(op) ? c.store(a3, t6, 0) : c.fstore(13, t6, 0);
        c.store(a4, t6, 8);
        c.addi(t6, t6, 16);
      });
    }
  }
}

std::uint64_t float_output(Opcode op) {
  const std::uint64_t modes = Encodings::get().of(op).rounding_modes ? 10 : 1;
  const std::uint64_t n = reads_rs3(op) ? 14 : reads_rs2(op) ? 21 : 54;
  return modes * 2 * 16 * (reads_rs3(op) ? n * n * n : reads_rs2(op) ? n * n : n);
}

/// Immediates that matter: all shift amounts, the limits, small ones, and a few drawn.
std::vector<std::int32_t> interesting_immediates(Opcode op, Draw& draw) {
  const Encoding& e = Encodings::get().of(op);
  if (e.immediates.size() <= 64) return e.immediates;
  std::vector<std::int32_t> v = {0, e.least, e.most, draw.from(e.immediates), draw.from(e.immediates)};
  for (const std::int32_t i : {1, -1})
    if (std::binary_search(e.immediates.begin(), e.immediates.end(), i)) v.push_back(i);
  v.push_back(*std::upper_bound(e.immediates.begin(), e.immediates.end(), 1));
  v.push_back(*(std::lower_bound(e.immediates.begin(), e.immediates.end(), -1) - 1));
  return v;
}

void write_integer(Program& p, Draw& draw, const std::vector<Opcode>& ops) {
  const Encodings& e = Encodings::get();
  Code& c = p.code;
  const Values table = integer_table(draw);
  start_output(p);
  std::vector<Opcode> two;
  for (const Opcode op : ops) {
    if (reads_rs2(op)) {
      two.push_back(op);
      continue;
    }
    if (op == Opcode::lui || op == Opcode::auipc) {
      for (const std::uint32_t bits :
           {0u, 1u, 0x7ffffu, 0x80000u, 0xfffffu, static_cast<std::uint32_t>(draw() >> 44)}) {
        c.word((op == Opcode::lui ? 0x37u : 0x17u) | a3 << 7 | bits << 12);
        output_x(c, a3);
      }
      continue;
    }
    over_tuples(p, table, 1, false, [&] {
      if (operand_differs(op)) {            // zero if the low word is zero
        c.word(0x1b | a2 << 7 | a0 << 15);  // sext.w
        c.branch(1, a2, zero, static_cast<std::int64_t>(c.here()) + 8);
        c.li(a0, 0);
      }
      for (const std::int32_t immediate : interesting_immediates(op, draw)) {
        c.word(e.with_immediate(op, a3, a0, immediate));
        output_x(c, a3);
      }
    });
  }
  if (two.empty()) return;
  over_tuples(p, table, 2, false, [&] {
    for (const Opcode op : two) {
      c.word(e.word(op, a3, a0, a1));
      output_x(c, a3);
    }
  });
}

void write_branches(Program& p, Draw& draw) {
  const Values table = integer_table(draw);
  Code& c = p.code;
  start_output(p);
  over_tuples(p, table, 2, false, [&] {
    for (const unsigned funct3 : {0u, 1u, 4u, 5u, 6u, 7u}) {
      c.li(a3, 1);
      c.branch(funct3, a0, a1, static_cast<std::int64_t>(c.here()) + 8);
      c.li(a3, 2);
      output_x(c, a3);
    }
  });
}

/// Every load and store at every alignment, and across the end of a page.
void write_memory(Program& p, Draw& draw) {
  Code& c = p.code;
  const Encodings& e = Encodings::get();
  start_output(p);
  const std::int64_t page = p.data_offset() + static_cast<std::int64_t>(3 * kPage);
  for (std::uint64_t at = 2 * kPage; at < 4 * kPage; at += 8) p.image().put(p.data() + at, draw());
  c.address(t0, page);
  for (unsigned n = 0; n < kOpcodes; ++n) {
    const auto op = static_cast<Opcode>(n);
    if (!is_load(op) && !is_store(op)) continue;
    const bool floating = riscv::uses_float(op);
    const auto size = static_cast<std::int32_t>(access_bytes(op));
    for (std::int32_t offset = -size; offset < 8; ++offset) {
      c.li(a3, 0);
      if (is_load(op)) {
        c.word(e.with_immediate(op, 13, t0, offset));
        floating ? c.fstore(13, t6, 0) : c.store(a3, t6, 0);
        c.addi(t6, t6, 8);
      } else {
        const auto source = static_cast<unsigned>(1 + draw.below(31));
        const auto u = static_cast<std::uint32_t>(offset);
        c.word((e.of(op).words.front() & 0x707f) | (u & 31) << 7 | t0 << 15 | source << 20 | (u >> 5) << 25);
      }
    }
  }
}

void write_atomics(Program& p, Draw& draw) {
  Code& c = p.code;
  Values table = integer_table(draw);
  // Values that are positive and negative as words too, whatever has been drawn.
  table.insert(table.end(), {0x1234'5678, 0xffff'ffff'8765'4321});
  start_output(p);
  over_tuples(p, table, 2, false, [&] {
    for (const std::uint32_t width : {2u, 3u})
      for (const std::uint32_t funct5 : {0u, 1u, 4u, 8u, 12u, 16u, 20u, 24u, 28u}) {
        c.store(a0, t6, 0);
        c.word(0x2f | a3 << 7 | width << 12 | t6 << 15 | a1 << 20 | static_cast<std::uint32_t>(draw.below(4)) << 25 |
               funct5 << 27);
        c.store(a3, t6, 8);
        c.addi(t6, t6, 16);
      }
    for (const std::uint32_t width : {2u, 3u})
      for (unsigned reserved = 0; reserved < 3; ++reserved) {
        c.store(a0, t6, 0);
        c.li(t4, 0);
        if (reserved < 2) c.word(0x2f | t4 << 7 | width << 12 | t6 << 15 | 2u << 27);
        if (reserved == 1) c.word(0x2f | a3 << 7 | width << 12 | t6 << 15 | a1 << 20 | 3u << 27);
        c.word(0x2f | a3 << 7 | width << 12 | t6 << 15 | a1 << 20 | 3u << 27);
        c.store(a3, t6, 8);
        c.store(t4, t6, 16);
        c.addi(t6, t6, 24);
      }
  });
}

/// Every pair of operations that the interpreter fuses.
void write_pairs(Program& p, Draw& draw) {
  constexpr unsigned kBase = 8, kTarget = 9;
  const Encodings& e = Encodings::get();
  Code& c = p.code;
  const Values values = {draw_integer(draw), draw_integer(draw), draw_integer(IntegerClass::other_negative, draw)};
  start_output(p);
  c.address(kBase, p.data_offset() + static_cast<std::int64_t>(kTableBytes) - 512);
  const auto emit = [&](Opcode op, unsigned rd, unsigned rs1, unsigned rs2, std::int32_t area) {
    const auto offset = static_cast<std::int32_t>(area + 8 * static_cast<std::int32_t>(draw.below(8)));
    const auto here = static_cast<std::int64_t>(c.here());
    if (op == Opcode::jal) return c.jump(here + 8, reg::ra);
    if (op == Opcode::jalr) return c.word(0x67 | reg::ra << 7 | kTarget << 15);
    if (riscv::is_branch(op)) return c.branch(e.of(op).words.front() >> 12 & 7, rs1, rs2, here + 8);
    if (is_load(op)) return c.word(e.with_immediate(op, rd, kBase, offset));
    const auto u = static_cast<std::uint32_t>(offset);
    if (is_store(op))
      return c.word((e.of(op).words.front() & 0x707f) | (u & 31) << 7 | kBase << 15 | rs2 << 20 | (u >> 5) << 25);
    if (reads_rs2(op)) return c.word(e.word(op, rd, rs1, rs2));
    c.word(e.draw(op, draw, rd, rs1));
  };
  over_tuples(p, values, 2, false, [&] {
#define SLUICE_FIRST(name) Opcode::name,
    for (const Opcode first : {SLUICE_RV_FIRST_OPS(SLUICE_FIRST)})
      for (const Opcode second : {SLUICE_RV_SECOND_OPS(SLUICE_FIRST)}) {
#undef SLUICE_FIRST
        if (second == Opcode::jalr) c.address(kTarget, static_cast<std::int64_t>(c.here()) + 8 + 4 + 8 + 4);
        c.word(0x4013);  // xori x0, x0, 0: belongs to no pair
        emit(first, a2, a0, a1, 0);
        emit(second, a3, a2, a2, 64);
        c.addi(a3, a2, 1);
        output_x(c, a3);
      }
  });
}

bool counts(unsigned number) {
  const unsigned low = number & 0x7f;
  return (number >> 8 == 0xb || number >> 8 == 0xc) && low < 32;
}

std::vector<unsigned> writable_csrs() {
  using namespace riscv::csr;
  std::vector<unsigned> v;
  for (const riscv::CsrInfo& info : riscv::csr_list({.aia = true})) {
    const unsigned n = info.number;
    if (n >> 10 == 3 || counts(n) || (n >= kPmpcfg0 && n < kPmpaddr0) || csr_differs(n)) continue;
    v.push_back(n);
  }
  return v;
}

void write_csrs(Program& p, Draw& draw) {
  Code& c = p.code;
  const Values values = {0, ~std::uint64_t{0}, draw(), draw(), std::uint64_t{1} << draw.below(64)};
  start_output(p);
  over_tuples(p, values, 2, false, [&] {
    for (const unsigned number : writable_csrs()) {
      const std::uint64_t mask = drawn_bits(number);
      unsigned first = a0, second = a1;
      if (mask != ~std::uint64_t{0}) {
        first = 18, second = 19;
        c.li(20, static_cast<std::int64_t>(mask));
        c.word(0x7033 | first << 7 | a0 << 15 | 20u << 20);
        c.word(0x7033 | second << 7 | a1 << 15 | 20u << 20);
      }
      c.csr(1, a2, number, first);
      c.csr(2, a3, number, second);
      c.csr(3, a4, number, first);
      c.csr(1, 15, number, a2);
      for (const unsigned r : {a2, a3, a4, 15u}) output_x(c, r);
    }
    for (const unsigned number : {riscv::csr::kPmpcfg0, riscv::csr::kPmpcfg0 + 2}) {
      std::uint64_t config = 0;
      for (unsigned i = 0; i < 64; i += 8) config |= draw_pmp_config(draw) << i;
      c.li(a2, static_cast<std::int64_t>(config));
      c.csr(1, a3, number, a2);
      c.csr(1, a4, number, 0);
      output_x(c, a3);
      output_x(c, a4);
    }
  });
  for (const riscv::CsrInfo& info : riscv::csr_list({.aia = true})) {
    if (counts(info.number) || csr_differs(info.number)) continue;
    c.csrr(a2, info.number);
    output_x(c, a2);
  }
}

/// Reads every CSR number; which of them trap is compared.
void write_csr_numbers(Program& p, Draw&) {
  for (unsigned number = 0; number < 4096; ++number)
    if (!csr_differs(number)) p.code.csr(2, 0, number, 0);
  for (const unsigned kind : {1u, 2u, 3u, 5u, 6u, 7u}) p.code.csr(kind, a1, kFflags, a0);  // in every mode
}

void write_reserved_rounding(Program& p, Draw&) {
  Code& c = p.code;
  const Encodings& e = Encodings::get();
  for (const unsigned mode : {5u, 6u, 0x15u, 0x16u, 0x17u}) {
    c.csr(5, 0, kFcsrRm, mode & 7);
    for (unsigned n = 0; n < kOpcodes; ++n) {
      const auto op = static_cast<Opcode>(n);
      if (e.of(op).rounding_modes) c.word(e.word(op, 1, 2, 3, mode & 0x10 ? 7 : mode, 4));
    }
  }
}

void write_float_off(Program& p, Draw& draw) {
  const Encodings& e = Encodings::get();
  p.d.csr.mstatus &= ~std::uint64_t{3 << 13};
  for (unsigned n = 0; n < kOpcodes; ++n)
    if (riscv::uses_float(static_cast<Opcode>(n))) p.code.word(e.draw(static_cast<Opcode>(n), draw, 1, 2));
  for (const unsigned number : {1u, 2u, 3u}) p.code.csrr(a0, number);
}

void write_illegal_words(Program& p, Draw& draw) {
  while (p.code.here() < 4 * 900) {
    auto word = static_cast<std::uint32_t>(draw());
    // Half of them are near to something legal.
    if (draw.one_in(2)) {
      const auto op = static_cast<Opcode>(draw.below(kOpcodes));
      if (Encodings::get().of(op).words.empty()) continue;
      word = Encodings::get().draw(op, draw, 1, 2) ^ 1u << (2 + draw.below(30));
    }
    word |= 3;
    if (riscv::decode(word).op == Opcode::illegal && !word_differs(word)) p.code.word(word);
  }
}

void write_illegal_halves(Program& p, Draw& draw) {
  for (unsigned n = 0; n < 900; ++n) p.code.half(draw.from(Encodings::get().illegal_halves()));
}

std::vector<Job> make_jobs() {
  std::vector<Job> jobs;
  constexpr std::uint64_t kOutput = kTableBytes + 512;
  for (unsigned n = 0; n < kOpcodes; ++n) {
    const auto op = static_cast<Opcode>(n);
    if (!is_float_op(op)) continue;
    jobs.push_back({opcode_name(op), 4096, kOutput + float_output(op),
                    [op](Program& p, Draw& draw) { write_float(p, draw, op); }});
  }
  std::vector<Opcode> group;
  for (unsigned n = 0; n <= kOpcodes; ++n) {
    const auto op = static_cast<Opcode>(n);
    if (n < kOpcodes && is_integer_op(op)) group.push_back(op);
    if (group.size() == 8 || (n == kOpcodes && !group.empty())) {
      jobs.push_back({std::string("from ") + opcode_name(group.front()), 12288, 96 << 10,
                      [group](Program& p, Draw& draw) { write_integer(p, draw, group); }});
      group.clear();
    }
  }
  jobs.push_back({"branches", 4096, kOutput + 8192, write_branches});
  jobs.push_back({"loads and stores", 8192, 5 * kPage, write_memory});
  jobs.push_back({"atomics", 4096, kOutput + 196 * 9 * 64, write_atomics});
  for (unsigned part = 0; part < 8; ++part)
    jobs.push_back(
        {"compressed", 48 << 10, 8 << 10, [part](Program& p, Draw& draw) { write_compressed(p, draw, part, 8); }});
  jobs.push_back({"compressed memory", 48 << 10, 32 << 10, write_compressed_memory});
  jobs.push_back({"compressed jumps", 512 << 10, 8 << 10, write_compressed_jumps});
  jobs.push_back({"pairs", 64 << 10, kOutput + 756 * 9 * 8, write_pairs});
  jobs.push_back({"CSR values", 48 << 10, 256 << 10, write_csrs});
  for (const unsigned mode : {0u, 1u, 3u})
    jobs.push_back({"CSR numbers", 20 << 10, kPage, write_csr_numbers, 4, 4100, mode});
  jobs.push_back({"reserved rounding", 4096, kPage, write_reserved_rounding, 4, 400});
  jobs.push_back({"floating point off", 4096, kPage, write_float_off, 4, 200});
  jobs.push_back({"illegal words", 4096, kPage, write_illegal_words, 4, 1000});
  jobs.push_back({"illegal halves", 4096, kPage, write_illegal_halves, 2, 1000});
  return jobs;
}

const std::vector<Job>& jobs() {
  static const std::vector<Job> all = make_jobs();
  return all;
}

}  // namespace

std::uint64_t systematic_programs() { return jobs().size(); }

std::uint64_t build_systematic(Image& image, std::uint64_t n, std::uint64_t seed, std::uint64_t index) {
  const Job& job = jobs().at(n);
  Draw draw(seed, index);
  Shape shape;
  shape.kind = job.kind;
  shape.code_bytes = job.code_bytes;
  shape.data_bytes = job.data_bytes;
  shape.step = job.step;
  shape.log_entries = job.log_entries;
  Program p(image, shape, seed, index);
  p.d.csr.mstatus = (p.d.csr.mstatus & ~std::uint64_t{3 << 11}) | job.mode << 11;
  // S and U mode may do nothing without a PMP entry.
  p.d.csr.pmpaddr0 = ~std::uint64_t{0} >> 10;
  p.d.csr.pmpcfg0 = 0x1f;
  job.write(p, draw);
  return p.finish();
}

}  // namespace sluice::differential
