// SPDX-License-Identifier: Apache-2.0
// The execution engine beside plain execution: faults, changed code, reservations, waits, breakpoints, hints.

#include <catch2/catch.hpp>

#include "models/base/measure/software_requests.h"
#include "models/base/measure/stages.h"
#include "tests/unit/riscv/iss_machine.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

constexpr std::uint64_t kRam = IssMachine::kRam;
constexpr std::uint32_t kNop = 0x0000'0013, kLoop = 0x0000'006f;

constexpr std::uint32_t addi(unsigned rd, unsigned rs1, int imm) {
  return 0x13 | rd << 7 | rs1 << 15 | static_cast<std::uint32_t>(imm) << 20;
}
constexpr std::uint32_t load(unsigned funct3, unsigned rd, unsigned rs1, int imm) {
  return 0x03 | rd << 7 | funct3 << 12 | rs1 << 15 | static_cast<std::uint32_t>(imm) << 20;
}
constexpr std::uint32_t store(unsigned funct3, unsigned rs2, unsigned rs1, unsigned imm) {
  return 0x23 | (imm & 31) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | imm >> 5 << 25;
}
constexpr std::uint32_t amo(unsigned funct5, unsigned funct3, unsigned rd, unsigned rs1, unsigned rs2) {
  return 0x2f | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | funct5 << 27;
}
constexpr std::uint32_t kWfi = 0x1050'0073, kWrsNto = 0x00d0'0073, kWrsSto = 0x01d0'0073;
constexpr unsigned kA0 = 10, kA1 = 11, kA2 = 12, kS0 = 8;

struct Run : IssMachine {
  explicit Run(const std::vector<std::uint32_t>& words, const HartConfig& config = {}) : IssMachine(config) {
    load_words(words);
    hart.state().x[kS0] = kRam + 0x10000;
    REQUIRE(hart.privileged().csr_write(csr::kMtvec, kRam + 0x8000));
    load_words({kLoop}, kRam + 0x8000);
  }
  StopReason go(std::uint64_t slots = 1000) {
    limit = hart.state().slots + slots;
    return hart.run();
  }
  std::uint64_t csr(unsigned number) {
    std::uint64_t value = ~std::uint64_t{0};
    REQUIRE(hart.privileged().csr_peek(number, value));
    return value;
  }
  std::uint64_t cause() { return csr(0x342); }
  std::uint64_t epc() { return csr(0x341); }
  std::uint64_t tval() { return csr(0x343); }
  std::uint64_t word(std::uint64_t address) {
    std::uint64_t v = 0;
    ram.read(address, &v, 8);
    return v;
  }
};

}  // namespace

TEST_CASE("a fault in the middle of a block is precise", "[iss]") {
  Run r({addi(kA0, 0, 1), addi(kA0, kA0, 1), load(3, kA1, 0, 64), addi(kA0, kA0, 1)});
  r.go();
  REQUIRE(r.cause() == 5);
  REQUIRE(r.epc() == kRam + 8);
  REQUIRE(r.tval() == 64);
  REQUIRE(r.x(kA0) == 2);
  REQUIRE(r.hart.counters().traps == 1);
}

TEST_CASE("an illegal instruction reports its bits", "[iss]") {
  const auto [bits, tval] = GENERATE(table<std::uint32_t, std::uint64_t>({{0xffff'ffff, 0xffff'ffff},
                                                                          {0x0000'0000, 0},
                                                                          {0x0001'8000, 0x8000},
                                                                          {0x1420'0073, 0x1420'0073},
                                                                          {0x7c00'1073, 0x7c00'1073}}));
  Run r({kNop, bits});
  r.go();
  REQUIRE(r.cause() == 2);
  REQUIRE(r.epc() == kRam + 4);
  REQUIRE(r.tval() == tval);
}

TEST_CASE("fetching from nowhere is a fetch access fault", "[iss]") {
  Run r({0x0000'0067});  // jr x0
  r.go();
  REQUIRE(r.cause() == 1);
  REQUIRE(r.epc() == 0);
}

TEST_CASE("misaligned accesses work, across pages too", "[iss]") {
  Run r({store(3, kA0, kS0, 0), load(3, kA1, kS0, 0), load(5, kA2, kS0, 7)});
  r.hart.state().x[kS0] = kRam + 0x10ffd;
  r.hart.state().x[kA0] = 0x1122'3344'5566'7788;
  r.go();
  REQUIRE(r.x(kA1) == 0x1122'3344'5566'7788);
  REQUIRE(r.x(kA2) == 0x11);
  REQUIRE(r.word(kRam + 0x10ffd) == 0x1122'3344'5566'7788);
}

TEST_CASE("a misaligned access that ends outside RAM changes nothing", "[iss]") {
  Run r({store(3, kA0, kS0, 0)});
  r.hart.state().x[kS0] = kRam + IssMachine::kRamSize - 4;
  r.hart.state().x[kA0] = ~std::uint64_t{0};
  r.go();
  REQUIRE(r.cause() == 7);
  REQUIRE(r.tval() == kRam + IssMachine::kRamSize);
  std::uint32_t last = 1;
  r.ram.read(kRam + IssMachine::kRamSize - 4, &last, 4);
  REQUIRE(last == 0);
}

TEST_CASE("a misaligned access to nothing reports its own address", "[iss]") {
  const auto [instruction, cause] = GENERATE(table<std::uint32_t, std::uint64_t>(
      {{load(3, kA1, kS0, 0), 5}, {load(1, kA1, kS0, 0), 5}, {store(3, kA0, kS0, 0), 7}, {store(2, kA0, kS0, 0), 7}}));
  Run r({instruction});
  r.hart.state().x[kS0] = kRam + IssMachine::kRamSize + 0x1003;
  r.go();
  REQUIRE(r.cause() == cause);
  REQUIRE(r.tval() == kRam + IssMachine::kRamSize + 0x1003);
  REQUIRE(r.loads + r.stores == 0);
}

TEST_CASE("misaligned atomics and atomics on devices trap", "[iss]") {
  const auto [instruction, address, cause] =
      GENERATE(table<std::uint32_t, std::uint64_t, std::uint64_t>({{amo(0, 3, kA0, kS0, kA1), kRam + 0x10004, 6},
                                                                   {amo(2, 3, kA0, kS0, 0), kRam + 0x10004, 4},
                                                                   {amo(3, 2, kA0, kS0, kA1), kRam + 0x10002, 6},
                                                                   {amo(0, 3, kA0, kS0, kA1), IssMachine::kDevice, 7},
                                                                   {amo(2, 2, kA0, kS0, 0), IssMachine::kDevice, 5}}));
  Run r({instruction});
  r.hart.state().x[kS0] = address;
  r.go();
  REQUIRE(r.cause() == cause);
  REQUIRE(r.tval() == address);
  REQUIRE(r.loads + r.stores == 0);
}

TEST_CASE("code that DMA has changed runs as changed", "[iss]") {
  Run r({addi(kA0, 0, 1), kLoop});
  r.go();
  REQUIRE(r.x(kA0) == 1);
  const std::uint32_t changed[] = {addi(kA0, 0, 2), 0xffdf'f06f};  // jal back to the first one
  r.ram.write(kRam, changed, 8);
  r.go();
  REQUIRE(r.x(kA0) == 2);
}

TEST_CASE("a store to the next instruction takes effect", "[iss]") {
  Run r({store(2, kA1, kS0, 8), addi(kA0, kA0, 1), addi(kA0, kA0, 1), addi(kA0, kA0, 1)});
  r.hart.state().x[kS0] = kRam;
  r.hart.state().x[kA1] = addi(kA0, kA0, 100);
  r.go(6);
  REQUIRE(r.x(kA0) == 102);
}

TEST_CASE("an instruction that crosses pages follows both", "[iss]") {
  Run r({});
  const std::uint16_t half[] = {0x0001, 0x0513, 0x0070};  // c.nop; addi a0, x0, 7 across the boundary
  r.ram.write(kRam + 0x1ffc, half, 6);
  r.load_words({0x0000'a001}, kRam + 0x2002);  // c.j .
  r.hart.state().pc = kRam + 0x1ffc;
  r.go();
  REQUIRE(r.x(kA0) == 7);
  const std::uint16_t upper = 0x0090;
  r.ram.write(kRam + 0x2000, &upper, 2);
  r.hart.state().pc = kRam + 0x1ffc;
  r.go();
  REQUIRE(r.x(kA0) == 9);
}

TEST_CASE("a fetch that faults in its second half reports that half", "[iss]") {
  Run r({});
  const std::uint16_t half = 0x0513;
  r.ram.write(kRam + IssMachine::kRamSize - 2, &half, 2);
  r.hart.state().pc = kRam + IssMachine::kRamSize - 2;
  r.go();
  REQUIRE(r.cause() == 1);
  REQUIRE(r.epc() == kRam + IssMachine::kRamSize - 2);
  REQUIRE(r.tval() == kRam + IssMachine::kRamSize);
}

TEST_CASE("sc succeeds once, and fails after another's write to the line", "[iss]") {
  Run r({amo(2, 3, kA0, kS0, 0), kWfi, amo(3, 3, kA1, kS0, kA2), amo(3, 3, kA2, kS0, kA2)});
  r.hart.state().x[kA2] = 77;
  REQUIRE(r.go() == StopReason::wait_for_interrupt);
  REQUIRE(r.hart.state().reservation);
  const std::uint64_t value = 5;
  SECTION("undisturbed") {
    r.go();
    REQUIRE(r.x(kA1) == 0);
    REQUIRE(r.x(kA2) == 1);
    REQUIRE(r.word(kRam + 0x10000) == 77);
  }
  SECTION("a write to another line") {
    r.ram.write(kRam + 0x10040, &value, 8);
    r.go();
    REQUIRE(r.x(kA1) == 0);
  }
  SECTION("a write to the line") {
    r.ram.write(kRam + 0x10038, &value, 8);
    REQUIRE(!r.hart.state().reservation);
    r.go();
    REQUIRE(r.x(kA1) == 1);
    REQUIRE(r.word(kRam + 0x10000) == 0);
  }
}

TEST_CASE("a page is watched as long as somebody needs it", "[iss]") {
  Run r({amo(2, 3, kA0, kS0, 0), amo(3, 3, kA1, kS0, kA0), store(3, kA0, kS0, 128), 0xffdf'f06f});
  r.go(200);
  REQUIRE((r.ram.watch(kRam + 0x10000) & base::GuestRam::kReservation) != 0);
  r.go();  // some hundred stores
  REQUIRE(r.ram.watch(kRam + 0x10000) == 0);
  REQUIRE(r.ram.watch(kRam) == base::GuestRam::kCode);
  r.ram.drop_unneeded_watches(kRam);
  REQUIRE(r.ram.watch(kRam) == base::GuestRam::kCode);
}

TEST_CASE("a page with a reservation in it stays watched", "[iss]") {
  Run r({amo(2, 3, kA0, kS0, 0), store(3, kA0, kS0, 128), 0xffdf'f06f});
  r.go();
  REQUIRE(r.ram.watch(kRam + 0x10000) == base::GuestRam::kReservation);
  const std::uint64_t value = 1;
  r.ram.write(kRam + 0x10008, &value, 8);
  REQUIRE(!r.hart.state().reservation);
}

TEST_CASE("two harts on one RAM take each other's reservations", "[iss]") {
  IssMachine a;
  a.load_words({amo(2, 3, kA0, kS0, 0), kWrsNto, addi(kA0, 0, 1), kLoop});
  a.load_words({store(3, kA0, kS0, 8), kLoop}, kRam + 0x1000);
  a.hart.state().x[kS0] = kRam + 0x10000;
  HartConfig config = IssMachine::at_ram({});
  Hart b(a, config);
  b.state().pc = kRam + 0x1000;
  b.state().x[kS0] = kRam + 0x10000;
  // b has a shortcut for writing the page before a reserves it.
  a.limit = 100;
  b.run();
  b.state().pc = kRam + 0x1000;

  bool woken = false;
  a.hart.on_reservation_lost([&] { woken = true; });
  REQUIRE(a.hart.run() == StopReason::wait_on_reservation);
  REQUIRE(a.hart.wait_deadline() == ~std::uint64_t{0});
  a.limit = b.state().slots + 100;
  b.run();
  REQUIRE(woken);
  REQUIRE(!a.hart.state().reservation);
  a.limit = a.hart.state().slots + 100;
  a.hart.run();
  REQUIRE(a.x(kA0) == 1);
}

TEST_CASE("wrs without a reservation does not wait; wrs.sto has a deadline", "[iss]") {
  HartConfig config;
  config.wrs_short_slots = 500;
  Run r({kWrsNto, addi(kA0, 0, 1), amo(2, 3, kA1, kS0, 0), kWrsSto, kLoop}, config);
  REQUIRE(r.go() == StopReason::wait_on_reservation);
  REQUIRE(r.x(kA0) == 1);
  REQUIRE(r.hart.wait_deadline() == r.hart.state().slots + 500);
}

TEST_CASE("wfi waits unless an enabled interrupt is pending", "[iss]") {
  Run r({kWfi, kWfi, addi(kA0, 0, 1), kLoop});
  REQUIRE(r.go() == StopReason::wait_for_interrupt);
  REQUIRE(r.hart.state().pc == kRam + 4);
  REQUIRE(r.hart.privileged().csr_write(csr::kMie, irq::bit(irq::kMti)));
  r.hart.privileged().set_mip(irq::kMti, true);
  REQUIRE(r.go() == StopReason::slot_limit);
  REQUIRE(r.x(kA0) == 1);
}

TEST_CASE("a breakpoint stops in front of its instruction, every time, and can be passed", "[iss]") {
  Run r({addi(kA0, kA0, 1), addi(kA0, kA0, 1), 0xff9f'f06f});  // loop over both
  r.go(10);
  r.hart.state().pc = kRam;
  r.hart.state().x[kA0] = 0;
  r.hart.engine().set_breakpoint(kRam + 4);
  REQUIRE(r.go() == StopReason::breakpoint);
  REQUIRE(r.hart.state().pc == kRam + 4);
  REQUIRE(r.x(kA0) == 1);
  REQUIRE(r.go() == StopReason::breakpoint);
  REQUIRE(r.x(kA0) == 3);
  REQUIRE(r.hart.step() == StopReason::stepped);
  REQUIRE(r.x(kA0) == 4);
  REQUIRE(r.go() == StopReason::breakpoint);
  REQUIRE(r.x(kA0) == 5);
  r.hart.engine().clear_breakpoint(kRam + 4);
  REQUIRE(r.go() == StopReason::slot_limit);
}

TEST_CASE("hints reach the bus with physical addresses and nothing else happens", "[iss]") {
  const std::uint32_t probe = 0x13 | 2 << 12 | kS0 << 15 | SLUICE_STAGE_handler << 20;
  const std::uint32_t bind = 0x33 | 2 << 12 | kS0 << 15 | kA0 << 20;
  const std::uint32_t account = 0x13 | 3 << 12 | kA1 << 15;
  const std::uint32_t open = 0x33 | 3 << 12 | kS0 << 15 | kA1 << 20;
  const std::uint32_t complete = 0x13 | 2 << 12 | kS0 << 15 | SLUICE_COMPLETE << 20;
  Run r({probe, bind, account, probe | 0x7ff00000, open, complete, addi(kA2, kA1, 1)});
  r.hart.state().x[kA0] = kRam + 0x20000;
  r.hart.state().x[kA1] = SLUICE_ACCOUNT_idle;
  r.go(7);
  const std::string base = std::to_string(kRam + 0x10000);
  REQUIRE(r.notes == std::vector<std::string>{
                         "probe " + std::to_string(SLUICE_STAGE_handler) + " " + base + " at 0",
                         "bind " + base + " " + std::to_string(kRam + 0x20000) + " at 1",
                         "account " + std::to_string(SLUICE_ACCOUNT_idle) + " 0 at 2",
                         "open " + std::to_string(SLUICE_ACCOUNT_idle) + " " + base + " at 4",
                         "complete " + base + " 0 at 5",
                     });
  REQUIRE(r.hart.state().slots == 7);
  REQUIRE(r.hart.state().instret == 7);
  REQUIRE(r.x(0) == 0);
}

TEST_CASE("x0 stays zero whatever is written to it", "[iss]") {
  Run r({addi(0, 0, 5), load(3, 0, kS0, 0), amo(0, 3, 0, kS0, kA0), 0xb000'2073 /* csrr x0, mcycle */,
         0x0000'00ef + 0x0040'0000 /* jal ra, +4 */, addi(kA0, 0, 0), kLoop});
  r.hart.state().x[kA0] = 9;
  r.go(300);
  REQUIRE(r.hart.counters().traps == 0);
  REQUIRE(r.word(kRam + 0x10000) == 9);
  REQUIRE(r.x(kA0) == 0);
  REQUIRE(r.x(0) == 0);
  REQUIRE(r.x(1) == kRam + 20);
}

TEST_CASE("cached timing counts accesses and asks for misses only", "[iss]") {
  base::LineState l1d(4096, 4, 64), l1i(4096, 4, 64);
  HartConfig config;
  config.l1d = &l1d, config.l1i = &l1i;
  Run r({load(3, kA0, kS0, 0), load(3, kA0, kS0, 8), store(3, kA0, kS0, 16), load(3, kA0, kS0, 60), kLoop}, config);
  r.go(300);
  REQUIRE(r.hart.counters().l1d_accesses == 5);  // the last load touches two lines
  REQUIRE(r.hart.counters().l1d_misses == 2);
  REQUIRE(r.hart.counters().l1i_misses == 1);
  REQUIRE(r.misses == 3);
  REQUIRE(l1d.state(kRam + 0x10000) == base::LineState::kModified);
}

TEST_CASE("for an instruction with a breakpoint nothing is fetched before it goes on", "[iss]") {
  base::LineState l1d(4096, 4, 64), l1i(4096, 4, 64);
  HartConfig config;
  config.l1d = &l1d, config.l1i = &l1i;
  std::vector<std::uint32_t> code(16, addi(kA0, kA0, 1));  // a line
  code.push_back(addi(kA0, kA0, 1));
  code.push_back(kLoop);
  Run r(code, config);
  r.hart.engine().set_breakpoint(kRam + 64);
  REQUIRE(r.go() == StopReason::breakpoint);
  REQUIRE(r.hart.counters().l1i_accesses == 1);
  // The miss uses up the slots of this run. The instruction executes in the next run, without a second stop.
  r.miss_slots = 50;
  REQUIRE(r.go(20) == StopReason::slot_limit);
  REQUIRE(r.hart.state().pc == kRam + 64);
  REQUIRE(r.hart.counters().l1i_accesses == 2);
  REQUIRE(r.x(kA0) == 16);
  REQUIRE(r.go(50) == StopReason::slot_limit);
  REQUIRE(r.x(kA0) == 17);
  REQUIRE(r.hart.counters().l1i_accesses == 2);
  // A block that begins with the breakpoint, entered anew.
  r.hart.state().pc = kRam + 64;
  REQUIRE(r.go() == StopReason::breakpoint);
  REQUIRE(r.go() == StopReason::slot_limit);
  REQUIRE(r.x(kA0) == 18);
}

namespace {

/// Keeps what the hart tells of its software's mistakes.
struct Told : Run {
  using Run::Run;
  struct Entry {
    Refusal why;
    std::uint64_t pc, address;
    unsigned size;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;
  unsigned stale = 0;
  void refused(Refusal why, std::uint64_t pc, std::uint64_t address, unsigned size) override {
    entries.push_back({why, pc, address, size});
  }
  void stale_code() override { ++stale; }
};

constexpr std::uint32_t kJumpToZero = 0x0000'0067, kFenceI = 0x0000'100f;

}  // namespace

TEST_CASE("what software got wrong is told with its instruction", "[iss]") {
  const auto told = [](std::uint32_t instruction) {
    Told r({kNop, instruction});
    r.go();
    return r.entries;
  };
  using Entries = std::vector<Told::Entry>;
  constexpr std::uint64_t pc = kRam + 4;
  CHECK(told(kJumpToZero) == Entries{{Refusal::fetch, pc, 0, 2}});  // pc of the jump, not of its target
  CHECK(told(load(2, kA1, 0, 2)) == Entries{{Refusal::misaligned_device, pc, 2, 4}});
  // An access at -4, across two pages without memory.
  CHECK(told(load(3, kA1, 0, 0xffc)) == Entries{{Refusal::misaligned_device, pc, ~std::uint64_t{0} - 3, 8}});
  CHECK(told(amo(0, 3, kA1, 0, 0)) == Entries{{Refusal::atomic_device, pc, 0, 8}});
  CHECK(told(0xffff'ffff) == Entries{{Refusal::illegal, pc, 0xffff'ffff, 4}});
  CHECK(told(0x0000'0073).empty());  // ecall
  const auto csr_of_none = [](unsigned function, unsigned rs1) {
    return 0x5c0u << 20 | rs1 << 15 | function << 12 | 0x73;
  };
  for (const unsigned function : {2u, 3u, 6u, 7u}) CHECK(told(csr_of_none(function, 0)).empty());  // software may probe
  for (const unsigned function : {1u, 5u})
    CHECK(told(csr_of_none(function, 0)) == Entries{{Refusal::illegal, pc, csr_of_none(function, 0), 4}});
  CHECK(told(csr_of_none(2, kA1)) == Entries{{Refusal::illegal, pc, csr_of_none(2, kA1), 4}});
  Told r({kNop, amo(0, 3, kA1, kA2, 0)});
  r.hart.state().x[kA2] = kRam + 0x1004;
  r.go();
  CHECK(r.entries == Entries{{Refusal::atomic_misaligned, pc, kRam + 0x1004, 8}});
}

TEST_CASE("code that the hart has changed and runs without a fence.i is told", "[iss]") {
  const bool fence = GENERATE(false, true), reset = GENERATE(false, true);
  Told r({kNop, store(2, kA2, kS0, 0), fence ? kFenceI : kNop, 0xff5f'f06f});  // jal x0, -12
  r.hart.state().x[kS0] = kRam;
  r.hart.state().x[kA2] = kNop;
  r.limit = 1000;
  for (unsigned i = 0; i < 4; ++i) r.hart.run_one();
  CHECK(r.stale == 0);
  if (reset) {  // whoever resets a hart also loads its code again
    r.hart.reset();
    r.hart.state().pc = kRam;
    r.hart.state().x[kS0] = kRam;
    r.hart.state().x[kA2] = kNop;
  }
  for (unsigned i = 0; i < 4; ++i) r.hart.run_one();
  CHECK(r.hart.state().pc == kRam);
  CHECK(r.stale == (fence || reset ? 0 : 1));
}
