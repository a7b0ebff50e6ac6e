// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/riscv/iss/trap_history.h"

using namespace sluice::riscv;

namespace {

constexpr Cause kFault = Cause::load_access;

HartState at(std::uint64_t pc, std::uint64_t a0 = 0, std::uint64_t sp = 0x1000) {
  HartState s;
  s.pc = pc;
  s.x[2] = sp;
  s.x[10] = a0;
  return s;
}

}  // namespace

TEST_CASE("a trap repeats one of the last four that differ, with the same registers", "[trap history]") {
  TrapHistory h;
  std::uint64_t returns = 0;
  for (std::uint64_t pc : {4, 8, 12, 16}) CHECK_FALSE(h.repeats(at(pc), kFault, returns++));
  for (unsigned round = 0; round < 3; ++round)
    for (std::uint64_t pc : {4, 8, 12, 16}) CHECK(h.repeats(at(pc), kFault, returns++));
  CHECK_FALSE(h.repeats(at(4, 1), kFault, returns));
  CHECK_FALSE(h.repeats(at(16), Cause::breakpoint, returns));
  HartState f = at(16);
  f.f[31] = 1;
  CHECK_FALSE(h.repeats(f, kFault, returns));
  CHECK_FALSE(h.repeats(at(20), kFault, returns));
  CHECK_FALSE(h.repeats(at(4), kFault, returns));  // forgotten since
  h.clear();
  CHECK_FALSE(h.repeats(at(4), kFault, returns));
}

TEST_CASE("the stack pointer may differ where no return lies between", "[trap history]") {
  TrapHistory h;
  CHECK_FALSE(h.repeats(at(4, 0, 0x1000), kFault, 7));
  CHECK(h.repeats(at(4, 0, 0xff0), kFault, 7));
  CHECK(h.repeats(at(4, 0, 0xfe0), kFault, 7));
  CHECK_FALSE(h.repeats(at(4, 0, 0xfd0), kFault, 8));
}

TEST_CASE("a service returns right behind the instruction that called it", "[trap history]") {
  TrapHistory h;
  CHECK_FALSE(h.serves(4));
  h.repeats(at(8), kFault, 0);
  CHECK_FALSE(h.serves(8));
  CHECK(h.serves(10));
  CHECK(h.serves(12));
  CHECK_FALSE(h.serves(4));
}
