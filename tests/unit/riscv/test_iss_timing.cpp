// SPDX-License-Identifier: Apache-2.0
// What is executed depends on the slot limit alone, never on how a run is cut.

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "models/base/measure/stages.h"
#include "tests/unit/riscv/iss_machine.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

struct TimedMachine {
  explicit TimedMachine(Timing timing, const std::string& guest) {
    HartConfig config;
    config.privileged.issue_width = 4;
    parts.give_to(config, timing);
    machine.emplace(config);
    machine->device_slots = 33;
    machine->load_binary(std::string(SLUICE_GUESTS) + "/" + guest + ".bin");
  }
  /// Runs to the limit; a wait goes on at once.
  void run_to(std::uint64_t limit) {
    machine->limit = limit;
    while (machine->hart.run() != StopReason::slot_limit) {
    }
  }
  std::string picture() {
    const HartState& s = machine->hart.state();
    const HartCounters& c = machine->hart.counters();
    std::string out;
    const auto add = [&](const char* name, std::uint64_t v) {
      out += std::string(name) + "=" + std::to_string(v) + " ";
    };
    add("slots", s.slots), add("instret", s.instret), add("pc", s.pc), add("fflags", s.fflags), add("frm", s.frm);
    add("privilege", static_cast<unsigned>(s.privilege)), add("reservation", s.reservation);
    for (unsigned i = 0; i < 32; ++i) add(("x" + std::to_string(i)).c_str(), s.x[i]);
    for (unsigned i = 0; i < 32; ++i) add(("f" + std::to_string(i)).c_str(), s.f[i]);
    std::uint64_t mstatus = 0;
    machine->hart.privileged().csr_peek(csr::kMstatus, mstatus);
    add("mstatus", mstatus);
    add("d", c.l1d_accesses), add("dm", c.l1d_misses), add("i", c.l1i_accesses), add("im", c.l1i_misses);
    add("traps", c.traps), add("loads", machine->loads), add("stores", machine->stores), add("misses", machine->misses);
    for (const std::string& note : machine->notes) out += note + "; ";
    return out + machine->console;
  }
  TimingParts parts;
  std::optional<IssMachine> machine;
};

constexpr std::uint64_t kEnd = 1'000'000'000;

}  // namespace

TEST_CASE("a run cut at every slot equals an uncut one", "[iss]") {
  const Timing timing = GENERATE(Timing::functional, Timing::cached, Timing::interval);
  TimedMachine whole(timing, "everything");
  whole.run_to(kEnd);
  REQUIRE(whole.machine->finished);
  REQUIRE(whole.machine->exit_code == 0);

  const std::uint64_t step = GENERATE(1, 2, 7, 64, 1001);
  TimedMachine cut(timing, "everything");
  for (std::uint64_t limit = 0; !cut.machine->finished; limit += step) {
    REQUIRE(limit < kEnd);
    cut.run_to(limit);
  }
  REQUIRE(cut.picture() == whole.picture());
}

TEST_CASE("every limit is met exactly", "[iss]") {
  const Timing timing = GENERATE(Timing::functional, Timing::cached);
  TimedMachine fine(timing, "everything");
  std::uint64_t next = 1;
  for (std::uint64_t limit = 1; !fine.machine->finished; ++limit) {
    fine.run_to(limit);
    if (limit != next) continue;
    TimedMachine once(timing, "everything");
    once.run_to(limit);
    REQUIRE(once.picture() == fine.picture());
    next += 1 + next / 17;
  }
  REQUIRE(next > 10'000);
}

TEST_CASE("single steps give what a run gives", "[iss]") {
  const Timing timing = GENERATE(Timing::functional, Timing::cached, Timing::interval);
  TimedMachine whole(timing, "everything");
  whole.run_to(kEnd);
  TimedMachine stepped(timing, "everything");
  std::uint64_t steps = 0;
  while (!stepped.machine->finished) {
    const std::uint64_t before = stepped.machine->hart.state().instret + stepped.machine->hart.counters().traps;
    stepped.machine->hart.step();
    REQUIRE(stepped.machine->hart.state().instret + stepped.machine->hart.counters().traps == before + 1);
    ++steps;
  }
  REQUIRE(steps > 10'000);
  // The uncut run stops behind the store that ends the guest, as does the last step.
  REQUIRE(stepped.picture() == whole.picture());
}

TEST_CASE("each slot of the window has an instruction or a loss, also where a device refuses a posted store", "[iss]") {
  struct Posting : IssMachine {
    using IssMachine::IssMachine;
    bool takes = false;
    bool posts(std::uint64_t) override { return true; }
    std::optional<std::uint64_t> post(std::uint64_t, const void*, unsigned, std::uint64_t slot) override {
      if (!takes) return {};
      return slot;
    }
  };
  for (const bool takes : {true, false}) {
    TimingParts parts;
    HartConfig config;
    parts.give_to(config, Timing::interval);
    Posting m(config);
    m.takes = takes;
    m.load_words({
        0x20000137,  // lui x2, 0x20000
        0x00012023,  // sw x0, 0(x2)
        0x00000013,  // nop
    });
    std::vector<std::uint32_t> handler(200, 0x00000013);
    handler.push_back(0x0000006f);  // j .
    m.load_words(handler, IssMachine::kRam + 0x8000);
    m.hart.privileged().csr_poke(csr::kMtvec, IssMachine::kRam + 0x8000);
    const HartCounters& c = m.hart.counters();
    const auto all_slots = [&] {
      return m.hart.state().instret + std::accumulate(c.lost.begin(), c.lost.end(), std::uint64_t{0}) +
             c.traps * config.costs.exception;
    };
    for (unsigned steps = takes ? 3 : 2; steps > 0; --steps) m.hart.step();
    CAPTURE(takes);
    CHECK(m.hart.state().instret == (takes ? 3 : 1));
    CHECK(c.traps == (takes ? 0 : 1));
    CHECK(m.hart.state().slots == all_slots());
    if (takes) continue;
    // The trap's handler.
    m.limit = m.hart.state().slots + 20;
    m.hart.run();
    CHECK(m.hart.state().instret == 129);
    CHECK(m.hart.state().slots == all_slots());
  }
}

TEST_CASE("an instruction costs what its class says", "[iss]") {
  HartConfig config;
  config.costs.of(CostClass::alu) = 3;
  config.costs.of(CostClass::mul) = 10;
  config.costs.of(CostClass::branch) = 5;
  config.costs.branch_taken = 7;
  IssMachine m(config);
  m.load_words({
      0x00500513,  // addi a0, x0, 5
      0x02a50533,  // mul a0, a0, a0
      0x00051463,  // bne a0, x0, +8: taken
      0x00000013,  // nop
      0x00050463,  // beq a0, x0, +8: not taken
      0x00000013,  // nop
  });
  m.limit = 1;
  m.hart.run();
  REQUIRE(m.hart.state().slots == 3);
  REQUIRE(m.hart.state().instret == 1);
  m.limit = 4;
  m.hart.run();
  REQUIRE(m.hart.state().slots == 13);
  REQUIRE(m.x(10) == 25);
  m.limit = 14;
  m.hart.run();
  REQUIRE(m.hart.state().slots == 25);  // 13 + 5 + 7
  REQUIRE(m.hart.state().pc == IssMachine::kRam + 16);
  m.limit = 31;
  m.hart.run();
  REQUIRE(m.hart.state().slots == 33);  // branch 5, nop 3
  REQUIRE(m.hart.state().instret == 5);
}

TEST_CASE("exceptions, interrupts and returns cost what the table says, above an instruction's limit too", "[iss]") {
  HartConfig config;
  config.costs.exception = 5'000;
  config.costs.interrupt = 70'000;
  config.costs.trap_return = 3'000;
  config.costs.of(CostClass::system) = 9;
  constexpr std::uint64_t kHandler = IssMachine::kRam + 0x100;
  IssMachine m(config);
  m.load_words({0x00000073});            // ecall
  m.load_words({0x30200073}, kHandler);  // mret
  Privileged& p = m.hart.privileged();
  p.csr_poke(csr::kMtvec, kHandler);
  m.hart.step();
  REQUIRE(m.hart.state().slots == 5'000);
  REQUIRE(m.hart.state().pc == kHandler);
  m.hart.step();
  REQUIRE(m.hart.state().slots == 8'000);
  REQUIRE(m.hart.state().pc == IssMachine::kRam);
  p.set_privilege(Privilege::machine);  // mret has gone to user mode
  p.csr_poke(csr::kMie, irq::bit(irq::kMti));
  p.csr_poke(csr::kMstatus, mstatus::kMie);
  p.set_mip(irq::kMti, true);
  m.hart.step();
  REQUIRE(m.hart.state().slots == 78'000);
  REQUIRE(m.hart.state().pc == kHandler);
}

TEST_CASE("a device sees the slot, pc and count of the access", "[iss]") {
  HartConfig config;
  config.costs.of(CostClass::load) = 2;
  IssMachine m(config);
  m.load_words({
      0x200005b7,  // lui a1, 0x20000
      0x00000013,  // nop
      0x0005b503,  // ld a0, 0(a1)
      0x00150513,  // addi a0, a0, 1
  });
  m.device_value = 41;
  m.device_slots = 100;
  std::uint64_t seen_pc = 0, seen_instret = 0, seen_slots = 0;
  m.on_device = [&] {
    seen_pc = m.hart.state().pc;
    seen_instret = m.hart.state().instret;
    seen_slots = m.hart.state().slots - 100;
    m.limit = 0;  // the device let something happen that the core must look at
  };
  m.limit = 1000;
  REQUIRE(m.hart.run() == StopReason::slot_limit);
  REQUIRE(seen_pc == IssMachine::kRam + 8);
  REQUIRE(seen_instret == 2);
  REQUIRE(seen_slots == 2);
  REQUIRE(m.x(10) == 41);
  REQUIRE(m.hart.state().slots == 104);
  REQUIRE(m.hart.state().pc == IssMachine::kRam + 12);
}

TEST_CASE("an interrupt that a device access raises is taken before the next instruction", "[iss]") {
  IssMachine m;
  m.load_words({
      0x200005b7,  // lui a1, 0x20000
      0x0005b503,  // ld a0, 0(a1)
      0x00150513,  // addi a0, a0, 1
  });
  Privileged& p = m.hart.privileged();
  REQUIRE(p.csr_write(csr::kMtvec, IssMachine::kRam + 0x100));
  REQUIRE(p.csr_write(csr::kMie, irq::bit(irq::kMei)));
  REQUIRE(p.csr_write(csr::kMstatus, mstatus::kMie));
  m.load_words({0x0000006f}, IssMachine::kRam + 0x100);  // j .
  m.device_value = 7;
  m.on_device = [&] { p.set_mip(irq::kMei, true); };
  m.limit = 400;
  m.hart.run();
  std::uint64_t mepc = 0, mcause = 0;
  REQUIRE(p.csr_peek(0x341, mepc));
  REQUIRE(p.csr_peek(0x342, mcause));
  REQUIRE(mepc == IssMachine::kRam + 8);
  REQUIRE(mcause == (std::uint64_t{1} << 63 | 11));
  REQUIRE(m.x(10) == 7);
  REQUIRE(m.hart.counters().interrupts == 1);
}

TEST_CASE("with a window, a hart stops behind a pause, but neither behind a hint nor behind a prefetch", "[iss]") {
  const std::uint32_t account = 0x13 | 3 << 12, prefetch = 0x0010'6013 | 8 << 15 /* prefetch.r 0(s0) */,
                      pause = 0x0100'000f, nop = 0x13;
  for (const auto& [instruction, executed] : {std::pair(account, 128u), {prefetch, 128u}, {nop, 128u}, {pause, 3u}}) {
    CAPTURE(instruction);
    TimingParts parts;
    HartConfig config;
    parts.give_to(config, Timing::interval);
    IssMachine m(config);
    std::vector<std::uint32_t> code(200, nop);
    code[2] = instruction;
    m.load_words(code);
    m.hart.state().x[8] = IssMachine::kRam + 0x10000;
    m.limit = 1;
    m.hart.run();
    CHECK(m.hart.state().instret == executed);
  }
}

TEST_CASE("a misaligned access takes the time of an aligned one, unless it crosses lines", "[iss]") {
  const Timing timing = GENERATE(Timing::functional, Timing::cached, Timing::interval);
  const auto slots_at = [timing](std::uint64_t offset) {
    TimingParts parts;
    HartConfig config;
    parts.give_to(config, timing);
    IssMachine m(config);
    std::vector<std::uint32_t> code;
    for (unsigned n = 0; n < 20; ++n) {
      code.push_back(0x0094'3023);  // sd s1, 0(s0)
      code.push_back(0x0204'3503);  // ld a0, 32(s0)
      code.push_back(0x0205'0533);  // mul a0, a0, x0
      code.push_back(0x00a4'0433);  // add s0, s0, a0
    }
    code.push_back(0x0000'006f);
    m.load_words(code);
    const std::uint64_t data = IssMachine::kRam + 0x10000;
    const std::uint64_t value = 0x0123'4567'89ab'cdef;
    m.hart.state().x[8] = data + offset;
    m.hart.state().x[9] = value;
    while (m.hart.state().instret < code.size()) m.hart.step();
    CHECK(std::memcmp(m.ram.at(data + offset), &value, 8) == 0);
    return std::max(m.hart.state().slots, m.hart.state().retired);
  };
  const std::uint64_t aligned = slots_at(0);
  CHECK(slots_at(1) == aligned);
  CHECK(slots_at(16 + 6) == aligned);
  const std::uint64_t crossing = slots_at(28);  // the loads do
  if (timing == Timing::functional)
    CHECK(crossing == aligned);
  else
    CHECK(crossing > aligned);
}

TEST_CASE("a hart asks for its limit behind a hint of a drop", "[iss]") {
  struct Dropping : IssMachine {
    using IssMachine::IssMachine;
    void drop(unsigned, std::uint64_t) override { limit = 0; }
  };
  const Timing timing = GENERATE(Timing::functional, Timing::cached, Timing::interval);
  TimingParts parts;
  HartConfig config;
  parts.give_to(config, timing);
  Dropping m(config);
  const std::uint32_t drop = 0x13 | 2 << 12 | 8 << 15 | SLUICE_DROP(0) << 20;
  m.load_words({0x13, drop, 0x13, 0x0000'006f});
  m.hart.state().x[8] = IssMachine::kRam + 0x10000;
  m.limit = 20'000;
  m.hart.run();
  CHECK(m.hart.state().instret == 2);
}
