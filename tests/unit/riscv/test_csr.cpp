// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <catch2/catch.hpp>

#include "tests/unit/riscv/privileged_bench.h"

using namespace sluice::riscv;

namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr auto kM = Privilege::machine, kS = Privilege::supervisor, kU = Privilege::user;

}  // namespace

TEST_CASE("CSRs that do not exist are illegal", "[csr]") {
  PrivilegedBench bench;
  for (const unsigned number : {0x000u, 0x200u, 0x34au, 0x310u, 0x747u, 0x7b0u, 0xc80u, 0xfffu, 4096u, ~0u})
    CHECK_FALSE(bench.legal(number));
  CHECK_FALSE(bench.legal(csr::kMtopei));  // no AIA
  CHECK_FALSE(bench.legal(csr::kSiselect));
  PrivilegedBench old({.sstc = false});
  CHECK_FALSE(old.legal(csr::kStimecmp));
  CHECK(old.written(csr::kMenvcfg, kAll) == (kMenvcfgPbmte | kEnvcfg));
  PrivilegedBench older({.sstc = false, .svpbmt = false});
  CHECK(older.written(csr::kMenvcfg, kAll) == kEnvcfg);
}

TEST_CASE("a CSR's number carries its privilege and whether it can be written", "[csr]") {
  PrivilegedBench bench;
  CHECK(bench.legal(csr::kMscratch));
  bench.go(kS);
  CHECK_FALSE(bench.legal(csr::kMscratch));
  CHECK_FALSE(bench.hart.csr_write(csr::kMscratch, 1));
  CHECK(bench.hart.csr_write(csr::kSscratch, 1));
  bench.go(kU);
  CHECK_FALSE(bench.legal(csr::kSscratch));
  CHECK(bench.peek(csr::kMscratch) == 0);
  CHECK(bench.peek(csr::kSscratch) == 1);

  bench.go(kM);
  CHECK_FALSE(bench.hart.csr_write(csr::kMhartid, 0));
  std::uint64_t old = 7;
  CHECK(bench.hart.csr_access(csr::kMhartid, CsrOp::set, 0, false, old));  // csrrs rd, mhartid, x0
  CHECK(old == 0);
  CHECK_FALSE(bench.hart.csr_access(csr::kMhartid, CsrOp::set, 0, true, old));  // rs1 holds zero
}

TEST_CASE("write, set and clear give the old value", "[csr]") {
  PrivilegedBench bench;
  std::uint64_t old = 0;
  REQUIRE(bench.hart.csr_access(csr::kMscratch, CsrOp::write, 0xf0, true, old));
  REQUIRE(bench.hart.csr_access(csr::kMscratch, CsrOp::set, 0x0f, true, old));
  CHECK(old == 0xf0);
  REQUIRE(bench.hart.csr_access(csr::kMscratch, CsrOp::clear, 0x3c, true, old));
  CHECK(old == 0xff);
  CHECK(bench.read(csr::kMscratch) == 0xc3);
}

TEST_CASE("identity", "[csr]") {
  PrivilegedBench bench({.hart_id = 5});
  CHECK(bench.read(csr::kMhartid) == 5);
  CHECK(bench.written(csr::kMisa, 0) == 0x8000'0000'0014'112d);
  for (const unsigned number : {csr::kMvendorid, csr::kMarchid, csr::kMimpid, csr::kMconfigptr})
    CHECK(bench.read(number) == 0);
}

TEST_CASE("mstatus keeps what exists", "[csr]") {
  PrivilegedBench bench;
  CHECK(bench.read(csr::kMstatus) == 0xa'0000'0000);
  CHECK(bench.written(csr::kMstatus, kAll) == 0x8000'000a'007e'79aa);
  CHECK(bench.read(csr::kSstatus) == 0x8000'0002'000c'6122);
  CHECK(bench.written(csr::kMstatus, 0) == 0xa'0000'0000);
}

TEST_CASE("sstatus writes only its own bits", "[csr]") {
  PrivilegedBench bench;
  bench.hart.csr_write(csr::kSstatus, kAll);
  CHECK(bench.read(csr::kMstatus) == 0x8000'000a'000c'6122);
  bench.hart.csr_write(csr::kMstatus, kAll);
  bench.hart.csr_write(csr::kSstatus, 0);
  CHECK(bench.read(csr::kMstatus) == 0xa'0072'1888);
}

TEST_CASE("MPP never holds the mode that does not exist", "[csr]") {
  PrivilegedBench bench;
  bench.hart.csr_write(csr::kMstatus, std::uint64_t{1} << mstatus::kMppShift);
  bench.hart.csr_write(csr::kMstatus, std::uint64_t{2} << mstatus::kMppShift);
  CHECK((bench.read(csr::kMstatus) & mstatus::kMpp) == std::uint64_t{1} << mstatus::kMppShift);
}

TEST_CASE("WARL fields", "[csr]") {
  PrivilegedBench bench;
  CHECK(bench.written(csr::kMedeleg, kAll) == 0xb3ff);
  CHECK(bench.written(csr::kMideleg, kAll) == 0x222);
  CHECK(bench.written(csr::kMie, kAll) == 0xaaa);
  CHECK(bench.written(csr::kMcounteren, kAll) == 0xffff'ffff);
  CHECK(bench.written(csr::kScounteren, kAll) == 0xffff'ffff);
  CHECK(bench.written(csr::kMcountinhibit, kAll) == 5);
  CHECK(bench.written(csr::kMenvcfg, kAll) == (kMenvcfgStce | kMenvcfgPbmte | kEnvcfg));
  CHECK(bench.written(csr::kSenvcfg, kAll) == kEnvcfg);
  CHECK(bench.written(csr::kMepc, kAll) == kAll - 1);
  CHECK(bench.written(csr::kSepc, kAll) == kAll - 1);
  CHECK(bench.written(csr::kMtval, kAll) == kAll);
  CHECK(bench.written(csr::kTselect, kAll) == 0);
  CHECK(bench.written(csr::kTdata1, kAll) == 0);
  CHECK(bench.written(csr::kMhpmevent3, kAll) == 0);
  CHECK(bench.written(csr::kMhpmcounter3 + 28, kAll) == 0);
}

TEST_CASE("trap vectors accept direct and vectored mode", "[csr]") {
  PrivilegedBench bench;
  for (const unsigned number : {csr::kMtvec, csr::kStvec}) {
    CHECK(bench.written(number, 0x8000'0104) == 0x8000'0104);
    CHECK(bench.written(number, 0x8000'0205) == 0x8000'0205);
    CHECK(bench.written(number, 0x8000'0306) == 0x8000'0205);
    CHECK(bench.written(number, 0x8000'0307) == 0x8000'0205);
  }
}

TEST_CASE("satp accepts bare and Sv39 with 16 bits of ASID", "[csr]") {
  PrivilegedBench bench;
  const std::uint64_t sv39 = std::uint64_t{8} << 60 | std::uint64_t{0xabcd} << 44 | 0x80001;
  CHECK(bench.written(csr::kSatp, sv39) == sv39);
  for (const std::uint64_t mode : {1u, 9u, 10u, 15u}) CHECK(bench.written(csr::kSatp, mode << 60 | 1) == sv39);
  CHECK(bench.written(csr::kSatp, 0) == 0);
}

TEST_CASE("floating point CSRs need FS and dirty it", "[csr]") {
  PrivilegedBench bench;
  CHECK_FALSE(bench.hart.fp_enabled());
  for (const unsigned number : {csr::kFflags, csr::kFrm, csr::kFcsr}) CHECK_FALSE(bench.legal(number));
  bench.hart.csr_write(csr::kMstatus, 1u << 13);
  CHECK(bench.read(csr::kFcsr) == 0);
  CHECK((bench.read(csr::kMstatus) & mstatus::kFs) == 1u << 13);  // a read leaves it clean
  CHECK(bench.written(csr::kFcsr, kAll) == 0xff);
  CHECK((bench.read(csr::kMstatus) & (mstatus::kFs | mstatus::kSd)) == (mstatus::kFs | mstatus::kSd));
  CHECK(bench.written(csr::kFrm, 0xa) == 2);
  CHECK(bench.written(csr::kFflags, 0x23) == 3);
  CHECK(bench.read(csr::kFcsr) == 0x43);
  CHECK((bench.state.frm == 2 && bench.state.fflags == 3));
}

TEST_CASE("counters count slots and instructions, with offsets", "[csr]") {
  PrivilegedBench bench({.issue_width = 4});
  bench.state.slots = 43;
  bench.state.instret = 20;
  bench.now = 1234;
  CHECK(bench.read(csr::kMcycle) == 10);
  CHECK(bench.read(csr::kCycle) == 10);
  CHECK(bench.read(csr::kInstret) == 20);
  CHECK(bench.read(csr::kTime) == 1234);

  bench.hart.csr_write(csr::kMinstret, 1000);
  bench.state.instret += 1;  // the write itself
  CHECK(bench.read(csr::kMinstret) == 1000);
  bench.hart.csr_write(csr::kMcycle, kAll);
  bench.state.slots += 8;
  CHECK(bench.read(csr::kMcycle) == 1);
}

TEST_CASE("mcountinhibit stops and resumes counters", "[csr]") {
  PrivilegedBench bench;
  bench.state.instret = 10;
  bench.hart.csr_write(csr::kMcountinhibit, 4);  // this write itself still counts
  bench.state.instret += 5;
  bench.state.slots += 5;
  CHECK(bench.read(csr::kMinstret) == 11);
  CHECK(bench.read(csr::kMcycle) == 5);
  bench.hart.csr_write(csr::kMcountinhibit, 1);
  bench.state.instret += 3;
  bench.state.slots += 3;
  CHECK(bench.read(csr::kMinstret) == 11 + 2);
  CHECK(bench.read(csr::kMcycle) == 5);
  bench.hart.csr_write(csr::kMcycle, 70);
  CHECK(bench.read(csr::kMcycle) == 70);
}

TEST_CASE("counters below machine mode need mcounteren, and in user mode scounteren", "[csr]") {
  PrivilegedBench bench;
  for (const unsigned number : {csr::kCycle, csr::kTime, csr::kInstret, csr::kHpmcounter3, csr::kHpmcounter3 + 28}) {
    const std::uint64_t bit = std::uint64_t{1} << (number & 31);
    const auto legal_in = [&](Privilege privilege, std::uint64_t machine, std::uint64_t supervisor) {
      bench.poke(csr::kMcounteren, machine);
      bench.poke(csr::kScounteren, supervisor);
      bench.go(privilege);
      return bench.legal(number);
    };
    CHECK(legal_in(kM, 0, 0));
    CHECK_FALSE(legal_in(kS, ~bit, bit));
    CHECK(legal_in(kS, bit, 0));
    CHECK_FALSE(legal_in(kU, bit, ~bit));
    CHECK_FALSE(legal_in(kU, ~bit, bit));
    CHECK(legal_in(kU, bit, bit));
  }
}

TEST_CASE("mip: machine lines are read-only, supervisor bits are software's", "[csr]") {
  PrivilegedBench bench;
  CHECK(bench.written(csr::kMip, kAll) == 0x222);
  CHECK(bench.written(csr::kMip, 0) == 0);
  for (const unsigned line : {irq::kMsi, irq::kMti, irq::kMei, irq::kSei}) {
    bench.hart.set_mip(line, true);
    CHECK(bench.written(csr::kMip, 0) == irq::bit(line));
    bench.hart.set_mip(line, false);
    CHECK(bench.read(csr::kMip) == 0);
  }
  bench.hart.set_mip(1, true);
  bench.hart.set_mip(77, true);
  CHECK(bench.read(csr::kMip) == 0);
}

TEST_CASE("csrrs and csrrc on mip do not latch the external SEIP", "[csr]") {
  PrivilegedBench bench;
  std::uint64_t old = 0;
  bench.hart.set_mip(irq::kSei, true);
  REQUIRE(bench.hart.csr_access(csr::kMip, CsrOp::set, irq::bit(irq::kSsi), true, old));
  CHECK(old == irq::bit(irq::kSei));
  bench.hart.set_mip(irq::kSei, false);
  CHECK(bench.read(csr::kMip) == irq::bit(irq::kSsi));

  bench.hart.csr_write(csr::kMip, irq::bit(irq::kSei));
  bench.hart.set_mip(irq::kSei, true);
  bench.hart.set_mip(irq::kSei, false);
  REQUIRE(bench.hart.csr_access(csr::kMip, CsrOp::clear, irq::bit(irq::kSsi), true, old));
  CHECK(bench.read(csr::kMip) == irq::bit(irq::kSei));  // software's bit stays
}

TEST_CASE("sip and sie show delegated interrupts only", "[csr]") {
  PrivilegedBench bench;
  bench.hart.csr_write(csr::kMie, kAll);
  bench.hart.csr_write(csr::kMip, kAll);
  CHECK(bench.read(csr::kSie) == 0);
  CHECK(bench.written(csr::kSip, 0) == 0);
  CHECK(bench.read(csr::kMip) == 0x222);  // not delegated: out of reach
  bench.hart.csr_write(csr::kMideleg, irq::bit(irq::kSsi) | irq::bit(irq::kSti));
  CHECK(bench.read(csr::kSie) == 0x22);
  CHECK(bench.written(csr::kSip, 0) == irq::bit(irq::kSti));  // only SSIP can be written
  CHECK(bench.written(csr::kSie, 0) == 0);
  CHECK(bench.read(csr::kMie) == 0xa88);
}

TEST_CASE("stimecmp drives STIP under STCE", "[csr]") {
  PrivilegedBench bench;
  bench.hart.reset();
  CHECK(bench.due == 0);  // the bus need not hear of a timer that nobody has set
  bench.hart.csr_write(csr::kMenvcfg, kMenvcfgStce);
  CHECK(bench.read(csr::kMip) == 0);
  bench.now = 100;
  bench.hart.csr_write(csr::kStimecmp, 100);
  CHECK(bench.due == 100);
  CHECK(bench.read(csr::kMip) == irq::bit(irq::kSti));
  CHECK(bench.written(csr::kMip, 0) == irq::bit(irq::kSti));  // read-only now
  bench.hart.csr_write(csr::kStimecmp, 101);
  CHECK(bench.due == 101);
  CHECK(bench.read(csr::kMip) == 0);
  CHECK(bench.written(csr::kMip, kAll) == 0x202);
  bench.hart.set_mip(irq::kSti, true);  // as the bus does when the timer is due
  CHECK(bench.written(csr::kMip, 0) == irq::bit(irq::kSti));
  bench.hart.csr_write(csr::kMenvcfg, 0);
  CHECK(bench.read(csr::kMip) == 0);
  bench.hart.reset();  // takes back a timer that was due
  CHECK(bench.due == kAll);
  bench.hart.csr_write(csr::kMenvcfg, kMenvcfgStce);
  CHECK(bench.read(csr::kMip) == 0);
}

TEST_CASE("stimecmp in supervisor mode needs STCE and mcounteren.TM", "[csr]") {
  PrivilegedBench bench;
  const auto legal_with = [&](std::uint64_t stce, std::uint64_t time) {
    bench.poke(csr::kMenvcfg, stce);
    bench.poke(csr::kMcounteren, time);
    bench.go(kS);
    return bench.legal(csr::kStimecmp);
  };
  CHECK(bench.legal(csr::kStimecmp));
  CHECK_FALSE(legal_with(0, 2));
  CHECK_FALSE(legal_with(kMenvcfgStce, 0));
  CHECK(legal_with(kMenvcfgStce, 2));
}

TEST_CASE("debuggers see and change CSRs whatever the privilege", "[csr]") {
  PrivilegedBench bench;
  bench.go(kU);
  CHECK(bench.hart.csr_poke(csr::kMscratch, 3));
  CHECK(bench.peek(csr::kMscratch) == 3);
  CHECK_FALSE(bench.hart.csr_poke(csr::kMhartid, 3));
  std::uint64_t value = 0;
  CHECK_FALSE(bench.hart.csr_peek(0x7ff, value));
  bench.poke(csr::kMinstret, 50);
  CHECK(bench.peek(csr::kMinstret) == 50);  // no instruction retires meanwhile
}

TEST_CASE("the list names every CSR that exists, by number", "[csr]") {
  PrivilegedBench bench({.aia = true});
  const auto list = csr_list(bench.hart.config());
  unsigned next = 0;
  std::string names;
  for (const CsrInfo& info : list) {
    for (; next < info.number; ++next) CHECK_FALSE(bench.hart.csr_poke(next, 0));
    ++next;
    names += info.name + " ";
  }
  CHECK(names.find("fflags frm fcsr sstatus sie stvec scounteren senvcfg ") == 0);
  CHECK(names.find(" mhpmcounter3 mhpmcounter4 ") != std::string::npos);
  CHECK(names.find(" pmpcfg0 pmpcfg2 pmpaddr0 ") != std::string::npos);
  CHECK(names.find(" mtopei ") != std::string::npos);
  CHECK(csr_list({}).size() == list.size() - 10);
}

// --- AIA ------------------------------------------------------------------------------------------------------------

TEST_CASE("indirect access reaches the IMSIC's registers", "[csr][aia]") {
  PrivilegedBench bench({.aia = true});
  bench.has_imsic = true;
  for (const unsigned file : {0u, 1u}) {
    const unsigned select = file ? csr::kSiselect : csr::kMiselect, reg = file ? csr::kSireg : csr::kMireg;
    for (const std::uint64_t number : {0x70u, 0x72u, 0x80u, 0xc2u, 0xfeu}) {
      REQUIRE(bench.written(select, number) == number);
      REQUIRE(bench.written(reg, number + 1) == number + 1);
      CHECK(bench.imsic[file][number] == number + 1);
    }
    for (const std::uint64_t reserved : {0x71u, 0x73u, 0x7fu, 0x30u, 0x3eu}) {
      bench.hart.csr_write(select, reserved);
      CHECK(bench.written(reg, 1) == 0);
    }
    for (const std::uint64_t illegal : {0x00u, 0x31u, 0x3fu, 0x40u, 0x6fu, 0x81u, 0xffu}) {
      bench.hart.csr_write(select, illegal);
      CHECK_FALSE(bench.legal(reg));
      CHECK_FALSE(bench.hart.csr_write(reg, 0));
    }
  }
  CHECK(bench.written(csr::kMiselect, 0x1'0070) == 0x70);
}

TEST_CASE("without an IMSIC its registers are illegal", "[csr][aia]") {
  PrivilegedBench bench({.aia = true});
  bench.hart.csr_write(csr::kMiselect, 0x70);
  CHECK_FALSE(bench.legal(csr::kMireg));
  bench.hart.csr_write(csr::kMiselect, 0x71);
  CHECK_FALSE(bench.legal(csr::kMireg));
  CHECK_FALSE(bench.legal(csr::kMtopei));
  CHECK_FALSE(bench.hart.csr_write(csr::kStopei, 0));
}

TEST_CASE("a write to topei claims what was reported, whatever is written", "[csr][aia]") {
  PrivilegedBench bench({.aia = true});
  bench.has_imsic = true;
  for (const unsigned file : {0u, 1u}) {
    const unsigned number = file ? csr::kStopei : csr::kMtopei;
    bench.claims = 0;
    bench.top[file] = 37;
    bench.hart.set_mip(file ? irq::kSei : irq::kMei, true);
    CHECK(bench.read(number) == (37u << 16 | 37));
    CHECK(bench.claims == 0);
    std::uint64_t old = 0;
    REQUIRE(bench.hart.csr_access(number, CsrOp::write, 5, true, old));
    CHECK(old == (37u << 16 | 37));
    CHECK(bench.claimed[file] == 37);
    CHECK(bench.read(csr::kMip) == 0);
    REQUIRE(bench.hart.csr_access(number, CsrOp::write, 5, true, old));  // nothing pending: nothing to claim
    CHECK(old == 0);
    CHECK(bench.claims == 1);
    bench.top[file] = 4;
    CHECK_FALSE(bench.hart.csr_poke(number, 0));
    CHECK(bench.claims == 1);
  }
}

TEST_CASE("topi reports the interrupt that comes next, enabled or not by mstatus", "[csr][aia]") {
  PrivilegedBench bench({.aia = true});
  const auto top = [](unsigned number) { return std::uint64_t{number} << 16 | 1; };
  bench.hart.csr_write(csr::kMie, kAll);
  CHECK(bench.read(csr::kMtopi) == 0);
  bench.hart.csr_write(csr::kMip, irq::bit(irq::kSti) | irq::bit(irq::kSsi));
  bench.hart.set_mip(irq::kMti, true);
  CHECK(bench.read(csr::kMtopi) == top(irq::kMti));
  CHECK(bench.read(csr::kStopi) == 0);
  bench.hart.csr_write(csr::kMideleg, kAll);
  CHECK(bench.read(csr::kStopi) == top(irq::kSsi));
  bench.hart.csr_write(csr::kMie, irq::bit(irq::kSti));
  CHECK(bench.read(csr::kMtopi) == 0);
  CHECK(bench.read(csr::kStopi) == top(irq::kSti));
  CHECK_FALSE(bench.hart.csr_write(csr::kStopi, 0));
  CHECK(bench.written(csr::kMvien, kAll) == 0);
  CHECK(bench.written(csr::kMvip, kAll) == 0x222);
  CHECK(bench.read(csr::kMip) == 0x2a2);
}
