// SPDX-License-Identifier: Apache-2.0
// A hart that spins by arithmetic is in the same state as one that executes its loop.

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/riscv/iss/spin/spin_loop.h"
#include "tests/full.h"
#include "tests/unit/riscv/iss_machine.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

using Random = std::mt19937_64;

constexpr std::uint64_t kData = IssMachine::kRam + 0x4000;
// As many lines as L1D has, four in each of its sets; register 20 points to their middle.
constexpr unsigned kDataBytes = 4096, kPointer = 20;
constexpr std::uint64_t kMiddle = kData + kDataBytes / 2;
constexpr int kAccount = 3;

std::uint32_t i_type(unsigned opcode, unsigned rd, unsigned f3, unsigned rs1, int imm) {
  return opcode | rd << 7 | f3 << 12 | rs1 << 15 | static_cast<std::uint32_t>(imm & 0xfff) << 20;
}
std::uint32_t r_type(unsigned opcode, unsigned rd, unsigned f3, unsigned rs1, unsigned rs2, unsigned f7) {
  return opcode | rd << 7 | f3 << 12 | rs1 << 15 | rs2 << 20 | f7 << 25;
}
std::uint32_t branch(unsigned f3, unsigned rs1, unsigned rs2, int offset) {
  const auto o = static_cast<std::uint32_t>(offset);
  return 0x63 | (o >> 11 & 1) << 7 | (o >> 1 & 15) << 8 | f3 << 12 | rs1 << 15 | rs2 << 20 | (o >> 5 & 63) << 25 |
         (o >> 12 & 1) << 31;
}
std::uint32_t jal(unsigned rd, int offset) {
  const auto o = static_cast<std::uint32_t>(offset);
  return 0x6f | rd << 7 | (o >> 12 & 255) << 12 | (o >> 11 & 1) << 20 | (o >> 1 & 1023) << 21 | (o >> 20 & 1) << 31;
}

/// A loop whose turns are all alike: registers 5 to 9 stay, and 10 to 19 are made from them and from memory. stores:
/// there may be stores, of which two may leave different values at one place, so that turns are not all alike.
std::vector<std::uint32_t> random_loop(Random& random, bool stores) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::vector<unsigned> sources = {5, 6, 7, 8, 9};
  const auto source = [&] { return sources[below(static_cast<unsigned>(sources.size()))]; };
  std::vector<std::uint32_t> code;
  const unsigned length = 1 + below(40);
  for (unsigned n = 0; n < length; ++n) {
    const unsigned rd = 10 + below(10);
    switch (below(8)) {
      case 0:
      case 1: {
        const unsigned f3 = below(8), wide = below(4) != 0;
        const bool word = !wide && (f3 == 0 || f3 == 1 || f3 == 5);
        const unsigned f7 = (f3 == 0 || f3 == 5) && below(2) ? 0x20 : 0;
        code.push_back(r_type(word ? 0x3b : 0x33, rd, f3, source(), source(), f7));
        break;
      }
      case 2: {
        const unsigned f3 = below(8), shift = below(64);
        const bool shifts = f3 == 1 || f3 == 5;
        const int imm =
            shifts ? static_cast<int>(shift | (f3 == 5 && below(2) ? 0x400u : 0u)) : static_cast<int>(below(4096));
        code.push_back(i_type(0x13, rd, f3, source(), imm));
        break;
      }
      case 3:
      case 4: {
        const unsigned f3 = below(7), size = 1u << (f3 & 3);
        code.push_back(i_type(0x03, rd, f3, kPointer, static_cast<int>(below(kDataBytes / size) * size) - 2048));
        break;
      }
      case 5: {
        static constexpr unsigned kConditions[] = {0, 1, 4, 5, 6, 7};
        code.push_back(branch(kConditions[below(6)], source(), source(), static_cast<int>(4 * (1 + below(3)))));
        continue;  // what it skips may not be a source
      }
      case 6: {
        static constexpr std::uint32_t kPause = 0x0100000f, kFence = 0x0ff0000f;
        const std::uint32_t store =
            0x23u | below(4) << 12 | kPointer << 15 | source() << 20 | (8 * below(4)) << 7 | (below(2) << 25);
        const std::array<std::uint32_t, 4> kinds = {kPause, kFence, i_type(0x13, 0, 3, 0, kAccount), store};
        code.push_back(kinds[below(stores ? 4 : 3)]);
        continue;
      }
      default:
        code.push_back(r_type(0x33, rd, below(8), source(), source(), 1));  // multiplication and division
    }
    if (below(3) == 0) sources.push_back(rd);
  }
  for (unsigned n = 0; n < 3; ++n) code.push_back(i_type(0x13, 0, 0, 0, 0));  // where a branch at the end goes
  const int back = -4 * static_cast<int>(code.size());
  code.push_back(below(2) ? jal(0, back) : branch(0, 0, 0, back));
  return code;
}

/// An instruction for which a loop is not left to arithmetic.
std::uint32_t breaker(Random& random) {
  static const std::uint32_t kBreakers[] = {
      i_type(0x13, 5, 0, 5, 1),                            // a counter
      0x00000023u | kPointer << 15 | 5u << 20,             // sb x5, 0(x20)
      i_type(0x73, 10, 2, 0, 0xc00),                       // rdcycle
      0x0000202fu | 10u << 7 | kPointer << 15 | 5u << 20,  // amoadd.w
      r_type(0x53, 1, 0, 1, 1, 1),                         // fadd.d
  };
  return kBreakers[random() % std::size(kBreakers)];
}

struct Machine {
  Machine(Timing timing, const std::vector<std::uint32_t>& code, std::uint64_t seed) {
    HartConfig config;
    config.privileged.issue_width = 4;
    parts.give_to(config, timing);
    machine.emplace(config);
    machine->load_words(code);
    Random random(seed);
    for (unsigned n = 5; n < 20; ++n) machine->hart.state().x[n] = random() >> random() % 64;
    machine->hart.state().x[kPointer] = kMiddle;
    for (unsigned at = 0; at < kDataBytes; at += 8) {
      const std::uint64_t value = random();
      machine->ram.write(kData + at, &value, 8);
    }
  }
  void run_to(std::uint64_t limit) {
    machine->limit = limit;
    while (machine->hart.run() != StopReason::slot_limit) {
    }
  }
  HartState& state() { return machine->hart.state(); }
  std::string time() {
    const HartCounters& c = machine->hart.counters();
    std::string text;
    for (const std::uint64_t n :
         {state().slots, state().retired, state().instret, state().pc, c.l1d_accesses, c.l1i_accesses, c.l1i_misses,
          c.l1d_misses, c.branches, c.mispredictions, c.forwarded, c.l1d_prefetches})
      text += std::to_string(n) + " ";
    for (const std::uint64_t n : c.lost) text += std::to_string(n) + " ";
    return text;
  }
  std::string registers() {
    std::string text;
    for (unsigned n = 0; n < 32; ++n) text += std::to_string(state().x[n]) + " ";
    return text;
  }
  /// The data, and how L1D has it.
  std::string memory() {
    std::vector<std::uint8_t> bytes(kDataBytes);
    machine->ram.read(kData, bytes.data(), kDataBytes);
    for (std::uint64_t at = 0; at < kDataBytes; at += 64) bytes.push_back(parts.l1d.state(kData + at));
    std::string text;
    for (const std::uint8_t b : bytes) text += std::to_string(b) + " ";
    return text;
  }
  /// Which lines new ones displace tells the order of the old ones.
  std::string order() {
    std::string text;
    for (base::LineState* l1 : {&parts.l1d, &parts.l1i})
      for (std::uint64_t n = 0; n < 64; ++n)
        text += std::to_string(l1->fill(0x9000'0000 + 64 * n, base::LineState::kShared).address) + " ";
    return text;
  }
  TimingParts parts;
  std::optional<IssMachine> machine;
};

}  // namespace

TEST_CASE("arithmetic leaves a hart as its loop does", "[iss]") {
  const unsigned loops = tests::is_full() ? 100'000 : 4'000;
  std::array<unsigned, 3> found{}, pure{};
  unsigned with_stores = 0;
  for (unsigned n = 0; n < loops; ++n) {
    Random random(n);
    const Timing timing = std::array{Timing::functional, Timing::cached, Timing::interval}[n % 3];
    const unsigned kind = n / 3 % 6;  // with each timing
    const bool has_breaker = kind == 0, is_pure = kind > 1;
    std::vector<std::uint32_t> code = random_loop(random, kind == 1);
    if (has_breaker) code[random() % (code.size() - 1)] = breaker(random);
    code.insert(code.begin(), random() % 24, i_type(0x13, 0, 0, 0, 0));  // the first turn comes from another line
    Machine spins(timing, code, n), executes(timing, code, n);
    // Many turns, so that code is decoded and lines are there; or a few, after which they may be.
    const bool is_late = n / 18 % 3 != 0;
    std::uint64_t limit = is_late ? (timing == Timing::interval ? 40'000 : 4'000) + random() % 500 : random() % 400;
    for (Machine* m : {&spins, &executes}) m->run_to(limit);
    SpinLoop loop;
    Engine& engine = spins.machine->hart.engine();
    pure[n % 3] += is_pure && is_late;
    if (engine.find_spin(loop) != Spin::found) continue;
    found[n % 3] += is_pure && is_late;
    CAPTURE(n, kind);
    with_stores += kind == 1;
    for (unsigned turns = static_cast<unsigned>(random() % 5); turns-- > 0;) {
      limit += random() % (random() % 2 ? 30 : 3'000);
      REQUIRE(engine.spins(loop));
      loop.advance(spins.state(), spins.machine->hart.counters(), limit);
      executes.run_to(limit);
      REQUIRE(spins.time() == executes.time());
    }
    engine.leave_spin(loop);
    REQUIRE(spins.registers() == executes.registers());
    REQUIRE(spins.memory() == executes.memory());
    if (timing != Timing::functional && random() % 2) {
      REQUIRE(spins.order() == executes.order());
      continue;
    }
    // Another value may end the loop's likeness; both go on with it.
    const std::uint64_t at = kData + random() % kDataBytes, value = random();
    for (Machine* m : {&spins, &executes}) m->machine->ram.write(at & ~std::uint64_t{7}, &value, 8);
    limit += random() % 1'000;
    for (Machine* m : {&spins, &executes}) m->run_to(limit);
    REQUIRE(spins.time() == executes.time());
    REQUIRE(spins.registers() == executes.registers());
    if (timing != Timing::functional) REQUIRE(spins.order() == executes.order());
  }
  CHECK(with_stores > loops / 50);
  for (unsigned n = 0; n < 3; ++n) {
    INFO(n << ": " << found[n] << " of " << pure[n]);
    CHECK(found[n] > 0.9 * pure[n]);
  }
}

namespace {

/// lw x10, 8(x20); beq x10, x10, -4: found, with cached timing.
struct Spinning : Machine {
  Spinning() : Machine(Timing::cached, {i_type(0x03, 10, 2, kPointer, 8), branch(0, 10, 10, -4)}, 1) {
    run_to(5'000);
    REQUIRE(machine->hart.engine().find_spin(loop) == Spin::found);
    CHECK(loop.instructions() == 2);
  }
  bool spins() { return machine->hart.engine().spins(loop); }
  SpinLoop loop;
};

}  // namespace

TEST_CASE("a loop ends to hold when a value that it loads changes", "[iss]") {
  Spinning m;
  const std::uint32_t other = 0x12345678;
  m.machine->ram.write(kMiddle + 12, &other, 4);
  CHECK(m.spins());
  m.machine->ram.write(kMiddle + 8, &other, 4);
  CHECK(!m.spins());
}

TEST_CASE("a loop ends to hold when a line has gone", "[iss]") {
  Spinning m;
  m.parts.l1d.fill(kMiddle + 64, base::LineState::kShared);
  m.parts.l1d.downgrade(kMiddle + 64, base::LineState::kInvalid);
  CHECK(m.spins());
  m.parts.l1d.downgrade(kMiddle, base::LineState::kInvalid);
  CHECK(!m.spins());
  CHECK(!m.spins());  // however often one asks
}

TEST_CASE("a loop that stores ends to hold when its line may not be written, or memory differs", "[iss]") {
  // sd x5, 8(x20); jal -4. Behind the first turn it leaves memory as it is.
  Machine m(Timing::cached, {0x00003023u | kPointer << 15 | 5u << 20 | 8u << 7, jal(0, -4)}, 1);
  m.run_to(5'000);
  SpinLoop loop;
  Engine& engine = m.machine->hart.engine();
  REQUIRE(engine.find_spin(loop) == Spin::found);
  CHECK(engine.spins(loop));
  SECTION("shared") {
    m.parts.l1d.downgrade(kMiddle, base::LineState::kShared);
    CHECK(!engine.spins(loop));
  }
  SECTION("other bytes") {
    const std::uint8_t other = static_cast<std::uint8_t>(m.state().x[5] + 1);
    m.machine->ram.write(kMiddle + 8, &other, 1);
    CHECK(!engine.spins(loop));
  }
  SECTION("reserved by another hart, so that its stores are to be noticed") {
    engine.drop_write_shortcuts(kMiddle & ~std::uint64_t{0xfff});
    CHECK(!engine.spins(loop));
  }
}

TEST_CASE("a loop is not found while the window has to catch up with a wait", "[iss]") {
  Machine m(Timing::interval, {i_type(0x03, 10, 2, kPointer, 8), branch(0, 10, 10, -4)}, 1);
  m.run_to(40'000);
  SpinLoop loop;
  REQUIRE(m.machine->hart.engine().find_spin(loop) == Spin::found);
  m.state().slots += 2;
  CHECK(m.machine->hart.engine().find_spin(loop) == Spin::later);
}
