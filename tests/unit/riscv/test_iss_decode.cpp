// SPDX-License-Identifier: Apache-2.0
// Decoding: words that are instructions, words that are none, and compressed forms with their expansion.

#include <catch2/catch.hpp>

#include "models/riscv/iss/decode/decode.h"
#include "models/riscv/iss/integer.h"
#include "tests/unit/riscv/iss_machine.h"

using namespace sluice::riscv;

TEST_CASE("words decode to their operation and fields", "[iss]") {
  const Instruction i = decode(0xfe31'0ee3);  // beq sp, gp, -4
  REQUIRE(i.op == Opcode::beq);
  REQUIRE(i.rs1 == 2);
  REQUIRE(i.rs2 == 3);
  REQUIRE(i.imm == -4);
  REQUIRE(decode(0x8000'00ef).imm == -(1 << 20));   // jal ra, -1 MiB
  REQUIRE(decode(0xfe11'3c23).imm == -8);           // sd ra, -8(sp)
  REQUIRE(decode(0x8000'0537).imm == INT32_MIN);    // lui a0, 0x80000
  REQUIRE(decode(0x4035'5513).op == Opcode::srai);  // srai a0, a0, 3
  REQUIRE(decode(0x4335'5513).imm == 51);           // srai a0, a0, 51
  REQUIRE(decode(0x6035'5513).op == Opcode::rori);  // rori a0, a0, 3
  REQUIRE(decode(0x0100'000f).op == Opcode::pause);
  REQUIRE(decode(0x0330'000f).op == Opcode::fence);
  REQUIRE(decode(0x00d0'0073).op == Opcode::wrs_nto);
  REQUIRE(decode(0x01d0'0073).op == Opcode::wrs_sto);
  REQUIRE(decode(0x1200'0073).op == Opcode::sfence_vma);
  REQUIRE(decode(0x0010'2013).op == Opcode::probe);  // slti x0, x0, 1
  REQUIRE(decode(0x0010'2093).op == Opcode::slti);
  REQUIRE(decode(0x0000'2033).op == Opcode::bind);
  REQUIRE(decode(0x0000'3033).op == Opcode::open);
  REQUIRE(decode(0x0000'30b3).op == Opcode::sltu);
  REQUIRE(decode(0x0005'3013).op == Opcode::account);
}

TEST_CASE("words that are no instruction are illegal", "[iss]") {
  const std::uint32_t word = GENERATE(0x0000'0000u, 0xffff'ffffu, 0x0000'707fu,
                                      0x0405'1513u,   // slli with bit 26
                                      0x0205'151bu,   // slliw by 32
                                      0x6065'1513u,   // clz group, unassigned
                                      0x1015'a52fu,   // lr.w with rs2
                                      0x0005'152fu,   // amo of 2 bytes
                                      0x0205'5553u,   // fadd.d with rounding mode 5
                                      0x0605'7553u,   // fadd.q
                                      0x0000'2063u,   // branch with funct3 2
                                      0x3020'00f3u,   // mret with rd
                                      0x8000'0033u);  // add with funct7 0x40
  REQUIRE(decode(word).op == Opcode::illegal);
}

TEST_CASE("compressed instructions expand", "[iss]") {
  const auto [half, full] = GENERATE(table<std::uint32_t, std::uint32_t>({
      {0x0001, 0x0000'0013},  // c.nop
      {0x1141, 0xff01'0113},  // c.addi sp, -16
      {0x7139, 0xfc01'0113},  // c.addi16sp -64
      {0x0028, 0x0081'0513},  // c.addi4spn a0, 8
      {0x4108, 0x0005'2503},  // c.lw a0, 0(a0)
      {0x6588, 0x0085'b503},  // c.ld a0, 8(a1)
      {0xe188, 0x00a5'b023},  // c.sd a0, 0(a1)
      {0x70a2, 0x0281'3083},  // c.ldsp ra, 40(sp)
      {0xe406, 0x0011'3423},  // c.sdsp ra, 8(sp)
      {0x8082, 0x0000'8067},  // c.jr ra
      {0x9502, 0x0005'00e7},  // c.jalr a0
      {0x852e, 0x00b0'0533},  // c.mv a0, a1
      {0x952e, 0x00b5'0533},  // c.add a0, a1
      {0x8d0d, 0x40b5'0533},  // c.sub a0, a1
      {0x9d0d, 0x40b5'053b},  // c.subw a0, a1
      {0x2505, 0x0015'051b},  // c.addiw a0, 1
      {0x157d, 0xfff5'0513},  // c.addi a0, -1
      {0x6505, 0x0000'1537},  // c.lui a0, 1
      {0x757d, 0xffff'f537},  // c.lui a0, 0xfffff
      {0x1502, 0x0205'1513},  // c.slli a0, 32
      {0x9105, 0x0215'5513},  // c.srli a0, 33
      {0xbffd, 0xffff'f06f},  // c.j -2
      {0xdd75, 0xfe05'0ee3},  // c.beqz a0, -4
      {0xe111, 0x0005'1263},  // c.bnez a0, 4
      {0x9002, 0x0010'0073},  // c.ebreak
      {0x2108, 0x0005'3507},  // c.fld fa0, 0(a0)
      {0xa108, 0x00a5'3027},  // c.fsd fa0, 0(a0)
  }));
  CAPTURE(half);
  REQUIRE(expand_compressed(static_cast<std::uint16_t>(half)) == full);
  REQUIRE(decode(half | 0xabcd'0000).length == 2);
}

TEST_CASE("reserved compressed encodings are illegal", "[iss]") {
  const std::uint32_t half = GENERATE(0x0000u,   // defined illegal
                                      0x0004u,   // c.addi4spn with 0
                                      0x2001u,   // c.addiw with rd = 0
                                      0x6101u,   // c.addi16sp with 0
                                      0x6501u,   // c.lui with 0
                                      0x4002u,   // c.lwsp with rd = 0
                                      0x6002u,   // c.ldsp with rd = 0
                                      0x8002u,   // c.jr with rs1 = 0
                                      0x9c41u,   // reserved arithmetic
                                      0x8000u);  // reserved in quadrant 0
  CAPTURE(half);
  const Instruction i = decode(half);
  REQUIRE(i.op == Opcode::illegal);
  REQUIRE(i.length == 2);
  REQUIRE(i.raw == half);
}

TEST_CASE("division has its special cases", "[iss]") {
  constexpr std::uint64_t least = std::uint64_t{1} << 63;
  REQUIRE(integer::div(7, 0) == ~std::uint64_t{0});
  REQUIRE(integer::rem(7, 0) == 7);
  REQUIRE(integer::div(least, ~std::uint64_t{0}) == least);
  REQUIRE(integer::rem(least, ~std::uint64_t{0}) == 0);
  REQUIRE(integer::divw(0x8000'0000, ~std::uint64_t{0}) == 0xffff'ffff'8000'0000);
  REQUIRE(integer::divuw(0xffff'ffff'0000'0005, 0x1'0000'0000) == ~std::uint64_t{0});
  REQUIRE(integer::remuw(0x8000'0000, 0) == 0xffff'ffff'8000'0000);
  REQUIRE(integer::mulhsu(~std::uint64_t{0}, ~std::uint64_t{0}) == ~std::uint64_t{0});
}

TEST_CASE("ctzw of a zero word is 32 whatever is above it", "[iss]") {
  IssMachine m;
  m.load_words({0x6015'951b, 0x0000'006f});  // ctzw a0, a1
  m.hart.state().x[11] = 0x7'0000'0000;
  m.limit = 10;
  m.hart.run();
  REQUIRE(m.x(10) == 32);
}
