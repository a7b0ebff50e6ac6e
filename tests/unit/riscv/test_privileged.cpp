// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/riscv/privileged_bench.h"

using namespace sluice::riscv;

namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kInterrupt = std::uint64_t{1} << 63;
constexpr auto kM = Privilege::machine, kS = Privilege::supervisor, kU = Privilege::user;

std::uint64_t mpp(Privilege privilege) { return static_cast<std::uint64_t>(privilege) << mstatus::kMppShift; }

struct TrapBench : PrivilegedBench {
  TrapBench() {
    poke(csr::kMtvec, 0x8000'1000);
    poke(csr::kStvec, 0x8000'2000);
    state.pc = 0x8000'5000;
  }
  std::uint64_t status(std::uint64_t bits) { return peek(csr::kMstatus) & bits; }
  /// The number of the interrupt that is taken; 0: none.
  std::uint64_t taken() {
    if (!hart.take_interrupt()) return 0;
    const std::uint64_t cause = peek(state.privilege == kM ? csr::kMcause : csr::kScause);
    return cause & kInterrupt ? cause & 0xff : ~std::uint64_t{0};
  }
};

}  // namespace

TEST_CASE("reset starts in machine mode with everything off", "[privileged]") {
  PrivilegedBench bench({.reset_pc = 0x4000});
  bench.poke(csr::kMstatus, kAll);
  bench.poke(csr::kMie, kAll);
  bench.poke(csr::kPmpcfg0, 0x9f);
  bench.poke(csr::kSatp, std::uint64_t{8} << 60);
  bench.go(kU);
  bench.hart.set_mip(irq::kMti, true);
  bench.state.instret = 9;
  bench.hart.reset();
  CHECK(bench.state.pc == 0x4000);
  CHECK(bench.state.privilege == kM);
  CHECK(bench.read(csr::kMstatus) == 0xa'0000'0000);
  CHECK(bench.read(csr::kMie) == 0);
  CHECK(bench.read(csr::kPmpcfg0) == 0);
  CHECK(bench.read(csr::kSatp) == 0);
  CHECK(bench.read(csr::kMinstret) == 0);
  CHECK(bench.read(csr::kMip) == irq::bit(irq::kMti));  // the interrupt line is still high
}

TEST_CASE("an exception goes to machine mode with its context", "[privileged]") {
  for (const Privilege from : {kU, kS, kM}) {
    TrapBench bench;
    bench.set_bits(csr::kMstatus, mstatus::kMie);
    bench.go(from);
    bench.hart.trap(Cause::load_page, 0x1234);
    CHECK(bench.state.privilege == kM);
    CHECK(bench.state.pc == 0x8000'1000);
    CHECK(bench.peek(csr::kMcause) == 13);
    CHECK(bench.peek(csr::kMepc) == 0x8000'5000);
    CHECK(bench.peek(csr::kMtval) == 0x1234);
    CHECK(bench.status(mstatus::kMpp) == mpp(from));
    CHECK(bench.status(mstatus::kMie | mstatus::kMpie) == mstatus::kMpie);
    CHECK(bench.peek(csr::kScause) == 0);
  }
}

TEST_CASE("delegated exceptions go to supervisor mode, except those of machine mode", "[privileged]") {
  for (const Privilege from : {kU, kS}) {
    TrapBench bench;
    bench.poke(csr::kMedeleg, 1u << 13);
    bench.set_bits(csr::kMstatus, mstatus::kSie);
    bench.go(from);
    bench.hart.trap(Cause::load_page, 0x1234);
    CHECK(bench.state.privilege == kS);
    CHECK(bench.state.pc == 0x8000'2000);
    CHECK(bench.peek(csr::kScause) == 13);
    CHECK(bench.peek(csr::kSepc) == 0x8000'5000);
    CHECK(bench.peek(csr::kStval) == 0x1234);
    CHECK(bench.status(mstatus::kSpp) == (from == kS ? mstatus::kSpp : 0));
    CHECK(bench.status(mstatus::kSie | mstatus::kSpie) == mstatus::kSpie);
    CHECK(bench.peek(csr::kMcause) == 0);
    bench.hart.trap(Cause::store_page, 0);  // not delegated
    CHECK(bench.state.privilege == kM);
  }
  TrapBench bench;
  bench.poke(csr::kMedeleg, 1u << 13);
  bench.hart.trap(Cause::load_page, 0);
  CHECK(bench.state.privilege == kM);
  CHECK(bench.peek(csr::kMcause) == 13);
}

TEST_CASE("ecalls leave no tval, others what the caller gives", "[privileged]") {
  TrapBench bench;
  for (const Cause cause : {Cause::ecall_user, Cause::ecall_supervisor, Cause::ecall_machine}) {
    bench.hart.trap(cause, 77);
    CHECK(bench.peek(csr::kMtval) == 0);
  }
  bench.hart.trap(Cause::illegal_instruction, 77);
  CHECK(bench.peek(csr::kMtval) == 77);
}

TEST_CASE("vectored mode moves interrupts, not exceptions", "[privileged]") {
  TrapBench bench;
  bench.poke(csr::kMtvec, 0x8000'1001);
  bench.poke(csr::kStvec, 0x8000'2001);
  bench.poke(csr::kMie, kAll);
  bench.go(kU);
  bench.hart.trap(Cause::illegal_instruction, 0);
  CHECK(bench.state.pc == 0x8000'1000);
  bench.go(kU);
  bench.hart.set_mip(irq::kMti, true);
  CHECK(bench.taken() == irq::kMti);
  CHECK(bench.state.pc == 0x8000'1000 + 4 * irq::kMti);
  bench.hart.set_mip(irq::kMti, false);

  bench.poke(csr::kMideleg, kAll);
  bench.go(kU);
  bench.hart.set_mip(irq::kSei, true);
  CHECK(bench.taken() == irq::kSei);
  CHECK(bench.state.privilege == kS);
  CHECK(bench.state.pc == 0x8000'2000 + 4 * irq::kSei);
}

TEST_CASE("interrupts come in the specification's order", "[privileged]") {
  TrapBench bench;
  bench.poke(csr::kMie, kAll);
  for (const unsigned line : {irq::kMsi, irq::kMti, irq::kMei, irq::kSei}) bench.hart.set_mip(line, true);
  bench.poke(csr::kMip, irq::bit(irq::kSsi) | irq::bit(irq::kSti));
  for (const unsigned expected : {irq::kMei, irq::kMsi, irq::kMti, irq::kSei, irq::kSsi, irq::kSti}) {
    bench.go(kU);
    CHECK(bench.taken() == expected);
    bench.clear_bits(csr::kMie, irq::bit(expected));
  }
  bench.go(kU);
  CHECK(bench.taken() == 0);
}

TEST_CASE("an interrupt for machine mode precedes any that is delegated", "[privileged]") {
  TrapBench bench;
  bench.poke(csr::kMie, kAll);
  bench.poke(csr::kMideleg, irq::bit(irq::kSei));
  bench.poke(csr::kMip, irq::bit(irq::kSei) | irq::bit(irq::kSti));
  bench.go(kU);
  CHECK(bench.taken() == irq::kSti);
  CHECK(bench.state.privilege == kM);
}

TEST_CASE("mstatus enables interrupts of the current mode only", "[privileged]") {
  struct Case {
    std::uint64_t enables;
    Privilege privilege;
    bool delegated, expected;
  };
  const Case cases[] = {
      {0, kM, false, false},
      {mstatus::kMie, kM, false, true},
      {mstatus::kSie, kM, false, false},
      {kAll, kM, true, false},
      {0, kS, false, true},
      {0, kS, true, false},
      {mstatus::kSie, kS, true, true},
      {mstatus::kMie, kS, true, false},
      {0, kU, false, true},
      {0, kU, true, true},
  };
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.privilege), c.enables, c.delegated);
    TrapBench bench;
    bench.poke(csr::kMstatus, c.enables & (mstatus::kMie | mstatus::kSie));
    bench.poke(csr::kMideleg, c.delegated ? kAll : 0);
    bench.poke(csr::kMie, irq::bit(irq::kSei));
    bench.go(c.privilege);
    CHECK_FALSE(bench.hart.interrupt_takeable());
    bench.hart.set_mip(irq::kSei, true);
    CHECK(bench.hart.interrupt_takeable() == c.expected);
    CHECK(bench.hart.interrupt_pending());  // wfi wakes whatever the enables
    CHECK(bench.taken() == (c.expected ? irq::kSei : 0));
    bench.hart.set_mip(irq::kSei, false);
    CHECK_FALSE(bench.hart.interrupt_pending());
  }
}

TEST_CASE("whatever changes enables or delegation changes what is takeable", "[privileged]") {
  TrapBench bench;
  bench.poke(csr::kMip, irq::bit(irq::kSsi));
  bench.go(kS);
  CHECK_FALSE(bench.hart.interrupt_takeable());
  CHECK_FALSE(bench.hart.interrupt_pending());
  bench.poke(csr::kMie, irq::bit(irq::kSsi));
  CHECK(bench.hart.interrupt_takeable());
  bench.poke(csr::kMideleg, irq::bit(irq::kSsi));
  CHECK_FALSE(bench.hart.interrupt_takeable());
  bench.hart.csr_write(csr::kSstatus, mstatus::kSie);
  CHECK(bench.hart.interrupt_takeable());
  bench.hart.csr_write(csr::kSip, 0);
  CHECK_FALSE(bench.hart.interrupt_takeable());
  bench.hart.csr_write(csr::kSip, irq::bit(irq::kSsi));
  CHECK(bench.hart.interrupt_takeable());
  bench.hart.csr_write(csr::kSie, 0);
  CHECK_FALSE(bench.hart.interrupt_takeable());
  bench.hart.csr_write(csr::kSie, irq::bit(irq::kSsi));
  REQUIRE(bench.hart.take_interrupt());
  CHECK_FALSE(bench.hart.interrupt_takeable());  // SIE is off now
  CHECK(bench.hart.sret());
  CHECK(bench.hart.interrupt_takeable());
}

TEST_CASE("mret returns to MPP, and leaves MPRV only for machine mode", "[privileged]") {
  for (const Privilege to : {kU, kS, kM}) {
    TrapBench bench;
    bench.poke(csr::kMstatus, mpp(to) | mstatus::kMpie | mstatus::kMprv);
    bench.poke(csr::kMepc, 0x8000'7002);
    bench.state.reservation = true;
    REQUIRE(bench.hart.mret());
    CHECK(bench.state.privilege == to);
    CHECK(bench.state.pc == 0x8000'7002);
    CHECK(bench.status(mstatus::kMpp) == mpp(kU));
    CHECK(bench.status(mstatus::kMie | mstatus::kMpie) == (mstatus::kMie | mstatus::kMpie));
    CHECK(bench.status(mstatus::kMprv) == (to == kM ? mstatus::kMprv : 0));
    CHECK_FALSE(bench.state.reservation);
  }
  TrapBench bench;
  bench.poke(csr::kMstatus, mstatus::kMie);
  REQUIRE(bench.hart.mret());
  CHECK(bench.status(mstatus::kMie | mstatus::kMpie) == mstatus::kMpie);  // MIE takes MPIE's zero
}

TEST_CASE("sret returns to SPP", "[privileged]") {
  for (const Privilege to : {kU, kS}) {
    TrapBench bench;
    bench.poke(csr::kMstatus, (to == kS ? mstatus::kSpp : 0) | mstatus::kSpie | mstatus::kMprv);
    bench.poke(csr::kSepc, 0x8000'7002);
    REQUIRE(bench.hart.sret());
    CHECK(bench.state.privilege == to);
    CHECK(bench.state.pc == 0x8000'7002);
    CHECK(bench.status(mstatus::kSie | mstatus::kSpie | mstatus::kSpp | mstatus::kMprv) ==
          (mstatus::kSie | mstatus::kSpie));
  }
}

TEST_CASE("mret and sret are illegal below their mode; TSR traps sret", "[privileged]") {
  TrapBench bench;
  bench.go(kS);
  CHECK_FALSE(bench.hart.mret());
  bench.go(kU);
  CHECK_FALSE(bench.hart.mret());
  CHECK_FALSE(bench.hart.sret());
  CHECK(bench.state.pc == 0x8000'5000);
  bench.poke(csr::kMstatus, mstatus::kTsr);
  bench.go(kS);
  CHECK_FALSE(bench.hart.sret());
  bench.go(kM);
  CHECK(bench.hart.sret());
}

TEST_CASE("TW traps wfi, TVM satp and sfence.vma, in supervisor mode only", "[privileged]") {
  TrapBench bench;
  const auto fence = [&] {
    const bool all = bench.hart.sfence_vma(0, false, 0, false);
    for (const auto& [one_address, one_asid] : {std::pair{true, false}, {false, true}, {true, true}})
      CHECK(bench.hart.sfence_vma(0x1000, one_address, 1, one_asid) == all);
    return all;
  };
  bench.go(kS);
  CHECK(bench.hart.wfi_allowed());
  CHECK(bench.hart.wrs_nto_allowed());
  CHECK(fence());
  CHECK(bench.legal(csr::kSatp));
  bench.poke(csr::kMstatus, mstatus::kTw | mstatus::kTvm);
  CHECK_FALSE(bench.hart.wfi_allowed());
  CHECK_FALSE(bench.hart.wrs_nto_allowed());
  CHECK_FALSE(fence());
  CHECK_FALSE(bench.legal(csr::kSatp));
  bench.go(kM);
  CHECK(bench.hart.wfi_allowed());
  CHECK(bench.hart.wrs_nto_allowed());
  CHECK(fence());
  CHECK(bench.legal(csr::kSatp));
  bench.poke(csr::kMstatus, 0);
  bench.go(kU);
  CHECK_FALSE(bench.hart.wfi_allowed());
  CHECK(bench.hart.wrs_nto_allowed());
  CHECK_FALSE(fence());
}

TEST_CASE("a trap ends the reservation", "[privileged]") {
  TrapBench bench;
  bench.state.reservation = true;
  bench.hart.trap(Cause::breakpoint, 0);
  CHECK_FALSE(bench.state.reservation);
}

namespace {

/// Drawn changes of one bit of `registers`, traps, returns, interrupts, lines and modes.
struct Churn {
  void step() {
    const unsigned drawn = random() % 25;
    const std::uint64_t bit = std::uint64_t{1} << (drawn == 24 ? 63 : drawn);
    switch (random() % 8) {
      case 0:
        bench.hart.trap(static_cast<Cause>(random() % 10), 0);
        break;
      case 1:
        random() % 2 ? bench.hart.mret() : bench.hart.sret();
        break;
      case 2:
        bench.hart.take_interrupt();
        break;
      case 3:
        bench.hart.set_mip(static_cast<unsigned>(random() % 12), random() % 2);
        break;
      case 4:
        bench.go(static_cast<Privilege>(std::array{0, 1, 3}[random() % 3]));
        break;
      default: {
        const unsigned number = registers[random() % registers.size()];
        bench.poke(number, bench.peek(number) ^ bit);  // from any mode
      }
    }
  }
  PrivilegedBench& bench;
  std::vector<unsigned> registers;
  std::mt19937_64 random{1};
};

}  // namespace

TEST_CASE("what is cached about interrupts is never stale", "[privileged]") {
  PrivilegedBench bench({.aia = true});
  Churn churn{bench,
              {csr::kMie, csr::kSie, csr::kMip, csr::kSip, csr::kMvip, csr::kMideleg, csr::kMenvcfg, csr::kMstatus,
               csr::kSstatus}};
  unsigned takeable = 0;
  for (int i = 0; i < 50'000; ++i) {
    churn.step();
    const bool cached = bench.hart.interrupt_takeable();
    bench.hart.set_privilege(bench.state.privilege);  // computes it anew
    REQUIRE(bench.hart.interrupt_takeable() == cached);
    takeable += cached;
  }
  CHECK(takeable > 5'000);
  CHECK(takeable < 45'000);
}

TEST_CASE("no translation changes while the epoch and the privilege stay", "[privileged]") {
  constexpr std::uint64_t kPages = PrivilegedBench::kRam + 0x10'0000;
  PrivilegedBench bench({.pmp_regions = 2});
  const std::uint64_t permissions[] = {0x02, 0x06, 0x08, 0x0a, 0x0e};  // R, RW, X, RX, RWX
  for (std::uint64_t i = 0; i < 10; ++i)                               // gigapages, A and D set, one half for U mode
    bench.set_pte(kPages + 8 * i, i << 28 | 0xc1 | permissions[i % 5] | (i < 5 ? 0x10 : 0));
  const std::uint64_t sv39 = std::uint64_t{8} << 60 | kPages >> 12;

  using Key = std::tuple<Privilege, std::uint64_t, unsigned>;
  using Result = std::tuple<Cause, std::uint64_t, std::uint64_t, bool, bool, bool>;
  std::map<Key, Result> seen;
  std::uint64_t epoch = 0;
  unsigned compared = 0, allowed = 0;
  Churn churn{bench, {csr::kMstatus, csr::kSstatus, csr::kSatp, csr::kPmpcfg0, csr::kPmpaddr0}};
  for (int i = 0; i < 40'000; ++i) {
    if (i % 200 == 199) bench.hart.reset();
    if (i % 20 == 0) {
      bench.open_pmp();
      bench.poke(csr::kSatp, sv39);
    }
    churn.step();
    if (bench.hart.epoch() != epoch) seen.clear();
    epoch = bench.hart.epoch();
    for (unsigned probe = 0; probe < 30; ++probe) {
      const std::uint64_t address = std::uint64_t{probe / 3} << 30 | 0x1000;
      Privileged::Translation t;
      const Cause cause = bench.hart.translate(address, 8, static_cast<Access>(probe % 3), t);
      const Result result{cause, t.physical, t.region_size, t.readable, t.writable, t.executable};
      // As the engine keeps them: fetches by privilege, data by effective privilege.
      const Privilege by = probe % 3 == 0 ? bench.state.privilege : bench.hart.effective_data_privilege();
      const auto [entry, fresh] = seen.try_emplace(Key{by, address, probe % 3}, result);
      if (entry->second != result) FAIL("step " << i << ", address " << address);
      compared += !fresh;
      allowed += cause == Cause::none;
    }
  }
  CHECK(compared > 10'000);
  CHECK(allowed > 1'000);
}

TEST_CASE("the address space of user mode is that of the instruction, also when its trap is looked back at",
          "[privileged]") {
  const std::uint64_t satp = std::uint64_t{8} << 60 | std::uint64_t{3} << 44 | 0x80001, other = satp + 1;
  TrapBench bench;
  bench.poke(csr::kMedeleg, 1u << 13);
  CHECK(bench.hart.user_space(0x8000'5000) == 0);
  CHECK_FALSE(bench.hart.user_space_of_trap(0x8000'5000));
  bench.go(kU);
  CHECK(bench.hart.user_space(0x8000'5000) == 0);  // untranslated
  bench.poke(csr::kSatp, satp);
  CHECK(bench.hart.user_space(0x8000'5000) == satp);
  bench.hart.trap(Cause::load_page, 0);
  CHECK(bench.hart.user_space(0x8000'2000) == 0);
  CHECK(bench.hart.user_space_of_trap(0x8000'5000) == satp);
  // The return is the kernel's instruction, though the hart is in user mode.
  bench.state.pc = 0x8000'2010;
  REQUIRE(bench.hart.sret());
  ++bench.state.instret;
  CHECK(bench.state.privilege == kU);
  CHECK(bench.hart.user_space(0x8000'2010) == 0);
  CHECK(bench.hart.user_space(0x8000'5000) == satp);
  ++bench.state.instret;
  CHECK(bench.hart.user_space(0x8000'2010) == satp);
  // The latest trap at the address counts, of whatever process it was.
  bench.poke(csr::kSatp, other);
  bench.hart.trap(Cause::illegal_instruction, 0);
  CHECK(bench.state.privilege == kM);
  CHECK(bench.hart.user_space_of_trap(0x8000'5000) == other);
  bench.state.pc = 0x8000'1000;
  bench.hart.trap(Cause::illegal_instruction, 0);
  CHECK(bench.hart.user_space_of_trap(0x8000'1000) == 0);
  CHECK(bench.hart.user_space_of_trap(0x8000'5000) == other);
  bench.hart.reset();
  CHECK_FALSE(bench.hart.user_space_of_trap(0x8000'5000));
}
