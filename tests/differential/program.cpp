// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/program.h"

#include <cstring>
#include <stdexcept>

#include "tests/differential/operands.h"

namespace sluice::differential {
namespace {

constexpr std::uint64_t kResultAt = 2048;  // in the descriptor's page
constexpr std::uint32_t kNop = 0x13;

std::uint32_t i_type(std::uint32_t major, unsigned funct3, unsigned rd, unsigned rs1, std::int32_t imm) {
  return major | rd << 7 | funct3 << 12 | rs1 << 15 | static_cast<std::uint32_t>(imm) << 20;
}
std::uint32_t s_type(std::uint32_t major, unsigned funct3, unsigned rs1, unsigned rs2, std::int32_t imm) {
  const auto u = static_cast<std::uint32_t>(imm);
  return major | (u & 31) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | (u >> 5) << 25;
}
std::uint64_t pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

std::uint32_t jal_word(unsigned rd, std::int64_t offset) {
  const auto u = static_cast<std::uint32_t>(offset);
  return 0x6f | rd << 7 | (u >> 12 & 0xff) << 12 | (u >> 11 & 1) << 20 | (u >> 1 & 0x3ff) << 21 | (u >> 20 & 1) << 31;
}

std::uint32_t branch_word(unsigned funct3, unsigned rs1, unsigned rs2, std::int64_t offset) {
  const auto u = static_cast<std::uint32_t>(offset);
  return 0x63 | (u >> 11 & 1) << 7 | (u >> 1 & 15) << 8 | funct3 << 12 | rs1 << 15 | rs2 << 20 | (u >> 5 & 63) << 25 |
         (u >> 12 & 1) << 31;
}

void Code::half(std::uint16_t h) {
  bytes_.push_back(static_cast<std::uint8_t>(h));
  bytes_.push_back(static_cast<std::uint8_t>(h >> 8));
}
void Code::word(std::uint32_t w) {
  half(static_cast<std::uint16_t>(w));
  half(static_cast<std::uint16_t>(w >> 16));
}
void Code::patch(std::uint64_t at, std::uint32_t w) { std::memcpy(bytes_.data() + at, &w, 4); }
std::uint32_t Code::word_at(std::uint64_t at) const {
  std::uint32_t w;
  std::memcpy(&w, bytes_.data() + at, 4);
  return w;
}
void Code::align(std::uint64_t to) {
  if (here() % 4 != 0) half(0x0001);
  while (here() % to != 0) word(kNop);
}

void Code::addi(unsigned rd, unsigned rs1, std::int32_t imm) { word(i_type(0x13, 0, rd, rs1, imm)); }

void Code::li(unsigned rd, std::int64_t value) {
  const auto low = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) << 20) >> 20;
  if (value == low) return addi(rd, 0, low);
  if (value == static_cast<std::int32_t>(value)) {
    const auto high = static_cast<std::uint32_t>(value - low);
    word(0x37 | rd << 7 | (high & 0xffff'f000));
    if (low != 0) word(i_type(0x1b, 0, rd, rd, low));  // addiw
    return;
  }
  std::int64_t rest =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(std::int64_t{low})) >>
      12;
  unsigned shift = 12;
  while ((rest & 1) == 0) rest >>= 1, ++shift;
  li(rd, rest);
  word(i_type(0x13, 1, rd, rd, static_cast<std::int32_t>(shift)));  // slli
  if (low != 0) addi(rd, rd, low);
}

void Code::address(unsigned rd, std::int64_t offset) {
  const std::int64_t distance = offset - static_cast<std::int64_t>(here());
  const auto low = static_cast<std::int32_t>(static_cast<std::uint32_t>(distance) << 20) >> 20;
  word(0x17 | rd << 7 | (static_cast<std::uint32_t>(distance - low) & 0xffff'f000));  // auipc
  addi(rd, rd, low);
}

void Code::load(unsigned rd, unsigned base, std::int32_t imm) { word(i_type(0x03, 3, rd, base, imm)); }
void Code::store(unsigned rs2, unsigned base, std::int32_t imm) { word(s_type(0x23, 3, base, rs2, imm)); }
void Code::fload(unsigned fd, unsigned base, std::int32_t imm) { word(i_type(0x07, 3, fd, base, imm)); }
void Code::fstore(unsigned fs2, unsigned base, std::int32_t imm) { word(s_type(0x27, 3, base, fs2, imm)); }
void Code::jump(std::int64_t to, unsigned rd) { word(jal_word(rd, to - static_cast<std::int64_t>(here()))); }
void Code::branch(unsigned funct3, unsigned rs1, unsigned rs2, std::int64_t to) {
  word(branch_word(funct3, rs1, rs2, to - static_cast<std::int64_t>(here())));
}
void Code::csr(unsigned funct3, unsigned rd, unsigned number, unsigned rs1) {
  word(0x73 | rd << 7 | funct3 << 12 | rs1 << 15 | number << 20);
}

Program::Program(Image& image, const Shape& shape, std::uint64_t seed, std::uint64_t index)
    : image_(image), shape_(shape) {
  const std::uint64_t logs = shape.log_entries << L_SHIFT;
  descriptor_ = image.allocate(kPage);
  supervisor_ = image.allocate(kPage);
  d.log = image.allocate(2 * logs);
  d.supervisor_log = d.log + logs;
  // Code and data are neighbours: both move together to whatever virtual address they are mapped.
  const std::uint64_t code_pages = pages(shape.code_bytes + shape.skew);
  d.code_at = image.allocate(code_pages + pages(shape.data_bytes)) + shape.skew;
  data_ = d.code_at - shape.skew + code_pages;
  tables_ = image.allocate(shape.tables * kPage);
  d.begin = descriptor_;
  d.end = tables_ + shape.tables * kPage;
  for (std::uint64_t& base : d.code) base = d.code_at;
  d.step = shape.step;
  d.log_limit = shape.log_entries;
  d.result = descriptor_ + kResultAt;
  d.supervisor_exit = supervisor_ + S_EXIT;
  d.supervisor_data = supervisor_ + S_DATA;
  d.seed = seed;
  d.index = index;
  std::strncpy(d.kind, shape.kind.c_str(), sizeof d.kind - 1);
  d.csr.mtvec = kRam + DIFF_VECTORS;
  d.csr.stvec = supervisor_ + DIFF_VECTORS;
  d.csr.stimecmp = ~std::uint64_t{0};
  d.csr.mstatus = 3 << 11 | 3 << 13;  // M mode, FS dirty
  d.csr.mcounteren = d.csr.scounteren = 7;
  std::memcpy(image.at(supervisor_), image.at(kRam + DIFF_SUPERVISOR), kPage);
}

std::int64_t Program::add_literal(std::uint64_t value) {
  const std::uint64_t at = data_ - 8 * ++literals_;
  image_.put(at, value);
  return static_cast<std::int64_t>(at - d.code_at);
}

void Program::literal(unsigned rd, std::uint64_t value) {
  code.address(rd, add_literal(value));
  code.patch(code.here() - 4, 0x3003 | rd << 7 | rd << 15 | (code.word_at(code.here() - 4) & 0xfff0'0000));  // ld
}

void Program::fliteral(unsigned fd, unsigned scratch, std::uint64_t value) {
  code.address(scratch, add_literal(value));
  code.fload(fd, scratch, 0);
}

void Program::draw_state(Draw& draw) {
  for (unsigned i = 1; i < 32; ++i) d.x[i] = draw_integer(draw);
  for (std::uint64_t& f : d.f) f = draw_float(draw.one_in(2) ? Source::full : Source::single, draw);
  d.fcsr = draw.below(32) | draw.below(5) << 5;
}

std::uint64_t Program::finish() {
  // The last step traps and lies within the code: nothing follows it.
  code.align(d.step);
  code.ecall();
  code.align(d.step);
  if (code.here() > data_ - d.code_at - 8 * literals_)
    throw std::runtime_error(shape_.kind + ": the code is longer than announced");
  std::memcpy(image_.at(d.code_at), code.bytes().data(), code.bytes().size());
  if (d.size == 0) d.size = code.here();
  if (d.csr.mepc == 0) d.csr.mepc = d.code[d.csr.mstatus >> 11 & 3];
  const std::uint64_t s = d.supervisor_data;
  image_.put(s + S_CODE, d.code[0]);
  image_.put(s + S_CODE + 8, d.code[1]);
  image_.put(s + S_SIZE, d.size);
  image_.put(s + S_STEP, d.step);
  image_.put(s + S_LOG, d.supervisor_log);
  image_.put(s + S_LIMIT, d.log_limit);
  image_.put(descriptor_, d);
  return descriptor_;
}

}  // namespace sluice::differential
