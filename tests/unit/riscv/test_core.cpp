// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <catch2/catch.hpp>

#include <tlm_utils/simple_target_socket.h>

#include "models/base/measure/software_requests.h"
#include "models/coherence/memory_system.h"
#include "models/riscv/core.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base::literals;
using base::Time;

namespace {

constexpr std::uint64_t kBase = 0x8000'0000;

// The few encodings that the programs below need.
constexpr std::uint32_t addi(unsigned rd, unsigned rs1, int imm) {
  return static_cast<std::uint32_t>(imm) << 20 | rs1 << 15 | rd << 7 | 0x13;
}
constexpr std::uint32_t slli(unsigned rd, unsigned rs1, unsigned by) {
  return by << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x13;
}
constexpr std::uint32_t lui(unsigned rd, std::uint32_t imm20) { return imm20 << 12 | rd << 7 | 0x37; }
constexpr std::uint32_t ld(unsigned rd, unsigned rs1, int imm) {
  return static_cast<std::uint32_t>(imm) << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x03;
}
constexpr std::uint32_t sd(unsigned rs2, unsigned rs1, int imm) {
  return (static_cast<std::uint32_t>(imm) >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 |
         (static_cast<std::uint32_t>(imm) & 0x1f) << 7 | 0x23;
}
constexpr std::uint32_t beq_back(unsigned rs1, unsigned rs2) {  // to the instruction before
  return 0xfe000063 | rs2 << 20 | rs1 << 15 | 0xe80;
}
constexpr std::uint32_t csrrw(unsigned rd, unsigned csr, unsigned rs1) {
  return csr << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x73;
}
constexpr std::uint32_t csrrs(unsigned rd, unsigned csr, unsigned rs1) {
  return csr << 20 | rs1 << 15 | 2 << 12 | rd << 7 | 0x73;
}
constexpr std::uint32_t sltiu_account(unsigned account) { return account << 20 | 3 << 12 | 0x13; }
constexpr std::uint32_t slti_probe(unsigned rs1, unsigned stage) { return stage << 20 | rs1 << 15 | 2 << 12 | 0x13; }
constexpr std::uint32_t bne(unsigned rs1, unsigned rs2, unsigned bytes) {  // forward, less than 2 KiB
  return (bytes >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | 1 << 12 | (bytes >> 1 & 0xf) << 8 |
         (bytes >> 11 & 1) << 7 | 0x63;
}
constexpr std::uint32_t kWfi = 0x10500073;
constexpr std::uint32_t kSelf = 0x0000006f;  // j .

/// Answers every access after 500 ns with the time of the access; blocks the hart as a root complex does.
struct SlowDevice : base::Model {
  tlm_utils::simple_target_socket<SlowDevice> socket{"socket"};
  base::Event answered;
  unsigned asked_for = 0;  ///< accesses that have begun
  explicit SlowDevice(sc_core::sc_module_name name) : Model(name) {
    socket.register_b_transport(this, &SlowDevice::serve);
  }
  void serve(tlm::tlm_generic_payload& trans, sc_core::sc_time&) {
    if (trans.get_address() != 0x1000'0000) return trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    const std::uint64_t asked = base::now().femtoseconds();
    ++asked_for;
    bool done = false;
    base::calendar().after(500_ns, key(), [&] {
      done = true;
      answered.notify();
    });
    while (!done) base::wait_for(answered, "answer", path().c_str());
    std::memcpy(trans.get_data_ptr(), &asked, trans.get_data_length());
    trans.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

struct Bench {
  using Timing = coherence::MemorySystem::Timing;
  explicit Bench(std::vector<std::uint32_t> program, unsigned harts = 1, Timing timing = Timing::functional)
      : memory("memory", caches(timing), 4, 1_us) {
    memory.add(ram);
    program.push_back(kSelf);
    ram.write(kBase, program.data(), program.size() * 4);
    for (unsigned h = 0; h < harts; ++h) {
      cores.push_back(std::make_unique<riscv::Core>(("core" + std::to_string(h)).c_str(), parameters, h, kBase,
                                                    scheduler.first_group(), memory, h));
      cores.back()->socket.bind(
          devices.emplace_back(std::make_unique<SlowDevice>(("device" + std::to_string(h)).c_str()))->socket);
    }
  }
  static coherence::MemorySystem::Parameters caches(Timing timing) {
    coherence::MemorySystem::Parameters p;
    p.timing = timing;
    return p;
  }
  std::uint64_t x(unsigned r) { return cores[0]->hart().state().x[r]; }
  riscv::ClusterParameters parameters;
  base::Scheduler scheduler{"scheduler", 1_us};
  coherence::MemorySystem memory;
  base::GuestRam ram{kBase, 1 << 20};
  std::vector<std::unique_ptr<SlowDevice>> devices;
  std::vector<std::unique_ptr<riscv::Core>> cores;
};

Time spent(const riscv::Core& c, unsigned account, Time until) {
  return c.slot_clock().time_of(c.accounts(until)[account]);
}

}  // namespace

TEST_CASE("a load from a device blocks the hart until the answer", "[core]") {
  Bench b({addi(1, 0, 1), lui(2, 0x10000), ld(3, 2, 0), ld(4, 2, 0)});
  b.scheduler.run_until(10_us);
  // Two instructions of one slot (1/4 cycle at 3.1 GHz) before the first load.
  const base::Clock slots(4 * 3'100'000'000);
  REQUIRE(b.x(3) == slots.time_of(2).femtoseconds());
  // The second load starts two slots, the first load's own cost, after the first edge that follows the answer.
  const std::uint64_t answered = slots.next_cycle(slots.time_of(2) + 500_ns);
  REQUIRE(b.x(4) == slots.time_of(answered + 2).femtoseconds());
}

TEST_CASE("with an instruction window, what is due before an access to a device comes before it", "[core]") {
  for (const unsigned harts : {1u, 2u}) {
    fresh_kernel();
    // The code and the load miss, 85 ns each, and the access waits for the load.
    Bench b({addi(1, 0, 1), slli(1, 1, 31), lui(2, 0x10000), ld(3, 1, 0x400), ld(4, 2, 0)}, harts,
            Bench::Timing::interval);
    std::vector<unsigned> asked;
    for (const Time at : {100_ns, 150_ns, 200_ns})
      base::calendar().at(at, 1, [&] { asked.push_back(b.devices[0]->asked_for); });
    b.scheduler.run_until(10_us);
    CHECK(b.x(4) > Time(170_ns).femtoseconds());
    CHECK(b.x(4) < Time(200_ns).femtoseconds());
    CHECK(asked == std::vector<unsigned>{0, 0, 1});
  }
}

TEST_CASE("a hart may go on with a request that another one has moved on beyond their window", "[core]") {
  constexpr int kTagged = 0x3f0;
  constexpr unsigned kMisses = 28, kMhartid = 0xf14;
  // Hart 0 loads one line after the other, downwards and each 85 ns later than the last, and then says that it polls.
  std::vector<std::uint32_t> program = {csrrs(10, kMhartid, 0), addi(1, 0, 1),     slli(1, 1, 31),
                                        addi(5, 1, kTagged),    addi(4, 1, 0x400), bne(10, 0, 4 * (2 * kMisses + 3))};
  for (unsigned n = kMisses; n-- > 0;) {
    program.push_back(ld(3, 4, static_cast<int>(64 * n)));
    program.push_back(0x00320233);  // add x4, x4, x3, which is 0
  }
  program.push_back(slti_probe(5, SLUICE_STAGE_poll));
  program.push_back(kSelf);
  program.push_back(slti_probe(5, SLUICE_STAGE_handler));
  Bench b(program, 2, Bench::Timing::interval);
  base::ledger() = {};
  base::ledger().tolerate(1_us);
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_wire, base::ledger().component("net.wire0"), Time{});
  b.ram.set_tag(kBase + kTagged, 1, id);
  b.scheduler.run_until(10_us);
  // Hart 1 runs after hart 0 in the same window, and its time is that of its own instructions, more than the window
  // earlier.
  const base::Ledger::Request* r = base::ledger().find(id);
  REQUIRE(r->tiles.size() == 3);
  CHECK(r->tiles[1].stage == SLUICE_STAGE_poll);
  CHECK(r->tiles[1].start > 2380_ns);
  CHECK(r->tiles[2].stage == SLUICE_STAGE_handler);
  CHECK(r->tiles[2].start == r->tiles[1].start);
  CHECK(base::ledger().clamped() == 1);
  CHECK(base::ledger().error().empty());
}

TEST_CASE("an access to nowhere traps in the guest", "[core]") {
  Bench b({addi(1, 0, 1), slli(1, 1, 31), addi(1, 1, 0x40), csrrw(0, 0x305, 1), lui(2, 0x20000), ld(3, 2, 0)});
  const std::uint32_t handler[] = {csrrs(5, 0x342, 0), csrrs(6, 0x343, 0), kSelf};
  b.ram.write(kBase + 0x40, handler, sizeof(handler));
  b.scheduler.run_until(2_us);
  REQUIRE(b.x(5) == 5);
  REQUIRE(b.x(6) == 0x2000'0000);
  REQUIRE(b.cores[0]->bus_errors() == 1);
}

TEST_CASE("wfi lets time pass without an instruction until an enabled interrupt is pending", "[core]") {
  Bench b({addi(1, 0, 0x80), csrrs(0, 0x304, 1), kWfi, csrrs(3, 0xb02, 0), csrrs(4, 0xc01, 0)});
  base::calendar().at(300_us, 1, [&] { b.cores[0]->set_interrupt(7, true); });
  b.scheduler.run_until(400_us);
  REQUIRE(b.x(3) == 3);
  REQUIRE(b.x(4) == 3000);  // 300 us at 10 MHz
  REQUIRE(spent(*b.cores[0], SLUICE_ACCOUNT_idle, 400_us) > 299_us);
  REQUIRE(spent(*b.cores[0], SLUICE_ACCOUNT_idle, 400_us) <= 300_us);
}

TEST_CASE("a hart's accounts tile its time", "[core]") {
  Bench b({sltiu_account(SLUICE_ACCOUNT_polling), addi(1, 0, 1), addi(1, 0, 1),
           sltiu_account(SLUICE_ACCOUNT_application), lui(2, 0x10000), ld(3, 2, 0),
           sltiu_account(SLUICE_ACCOUNT_networking)});
  b.scheduler.run_until(5_us);
  const riscv::Core& core = *b.cores[0];
  REQUIRE(spent(core, SLUICE_ACCOUNT_application, 5_us) > 500_ns);
  REQUIRE(spent(core, SLUICE_ACCOUNT_application, 5_us) < 502_ns);
  REQUIRE(spent(core, SLUICE_ACCOUNT_polling, 5_us) < 1_ns);
  std::uint64_t sum = 0;
  for (const std::uint64_t slots : core.accounts(5_us)) sum += slots;
  REQUIRE(core.slot_clock().time_of(sum) == core.local_time());
}

TEST_CASE("a probe moves the request whose bytes it points at, and only that", "[core]") {
  Bench b({addi(1, 0, 1), slli(1, 1, 31), slti_probe(1, SLUICE_STAGE_handler), slti_probe(0, SLUICE_STAGE_marshal)});
  const auto c = base::ledger().component("net.wire0");
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_wire, c, 0_ns);
  b.ram.set_tag(kBase, 64, id);
  b.scheduler.run_until(1_us);
  REQUIRE(base::ledger().find(id)->tiles.size() == 2);
  REQUIRE(base::ledger().find(id)->tiles[1].stage == SLUICE_STAGE_handler);
  REQUIRE(base::ledger().find(id)->tiles[1].start == base::Clock(4 * 3'100'000'000).time_of(2));
}

TEST_CASE("software opens requests and completes them, where a workload wants it", "[core]") {
  for (const bool wanted : {true, false}) {
    fresh_kernel();
    constexpr std::uint32_t what = 5 << 8 | SLUICE_STAGE_copy;
    constexpr std::uint32_t sltu_open = 2 << 20 | 1 << 15 | 3 << 12 | 0x33;
    Bench b({addi(1, 0, 1), slli(1, 1, 31), addi(2, 0, what), sltu_open, addi(3, 0, 1), addi(3, 0, 1),
             slti_probe(1, SLUICE_COMPLETE), slti_probe(1, SLUICE_COMPLETE)});
    base::software_opens_requests = wanted;
    std::vector<base::Ledger::Request> ended;
    std::vector<Time> ends;
    base::ledger().on_complete([&](const base::Ledger::Request& r, Time end) {
      ended.push_back(r);
      ends.push_back(end);
    });
    b.scheduler.run_until(1_us);
    REQUIRE(ended.size() == (wanted ? 1 : 0));
    if (!wanted) continue;
    const base::Clock slots(4 * 3'100'000'000);
    REQUIRE(ended[0].number == 5);
    REQUIRE(ended[0].tiles.size() == 1);
    REQUIRE(ended[0].tiles[0].stage == SLUICE_STAGE_copy);
    REQUIRE(ended[0].start() == slots.time_of(3));
    REQUIRE(ends[0] == slots.time_of(6));
  }
}

TEST_CASE("a stopped hart ends the access that it is in, and executes nothing more until it goes on", "[core]") {
  for (const unsigned harts : {1u, 2u}) {
    fresh_kernel();
    Bench b({lui(2, 0x10000), ld(3, 2, 0), ld(4, 2, 0)}, harts);
    const auto stop = [&](Time at) { base::calendar().at(at, 0, [&] { b.cores[0]->stop("a test", "test"); }); };
    const auto resume = [&](Time at) { base::calendar().at(at, 0, [&] { b.cores[0]->resume(); }); };
    stop(300_ns);
    stop(400_ns);
    resume(5_us);
    b.scheduler.run_until(6_us);
    // Both stops must end.
    REQUIRE(b.x(3) != 0);
    REQUIRE(b.x(4) == 0);
    REQUIRE(b.cores[0]->hart().state().instret == 2);
    resume(7_us);
    b.scheduler.run_until(20_us);
    REQUIRE(b.x(4) >= Time(7_us).femtoseconds());
    REQUIRE(b.x(4) < Time(7_us + 10_ns).femtoseconds());
    REQUIRE_FALSE(b.cores[0]->stopped());
    if (harts == 2) REQUIRE(b.cores[1]->hart().state().x[4] < Time(2_us).femtoseconds());
  }
}

TEST_CASE("a polling hart sees a DMA write at its time, and four harts within the quantum", "[core]") {
  for (unsigned harts : {1u, 4u}) {
    fresh_kernel();
    Bench b({addi(1, 0, 1), slli(1, 1, 31), ld(2, 1, 0x400), beq_back(2, 0), csrrs(3, 0xb00, 0)}, harts);
    base::calendar().at(20'500_ns, 1, [&] {
      const std::uint64_t one = 1;
      b.ram.write(kBase + 0x400, &one, 8);
    });
    b.scheduler.run_until(50_us);
    for (auto& core : b.cores) {
      const double seen = static_cast<double>(core->hart().state().x[3]) / 3.1;
      REQUIRE(seen >= 20'500);
      REQUIRE(seen < (harts == 1 ? 20'520 : 21'520));
    }
  }
}
