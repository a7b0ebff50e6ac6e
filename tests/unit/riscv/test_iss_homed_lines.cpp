// SPDX-License-Identifier: Apache-2.0
/// Cache lines with a home of their own, as an engine's slow path sees them.
#include <catch2/catch.hpp>

#include "tests/unit/riscv/iss_machine.h"

using namespace sluice::riscv;
using sluice::base::LineUse;

namespace {

constexpr std::uint64_t kLines = 0x3000'0000, kLinesSize = 4096;

/// A machine with a page of such lines. hold() takes `slots`.
struct HomedMachine : IssMachine {
  using IssMachine::IssMachine;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(kLinesSize);
  std::vector<LineUse> uses;
  std::vector<std::pair<std::uint64_t, unsigned>> changes;
  std::uint64_t slots = 100;
  bool refuses = false;
  std::vector<Refusal> refusals;
  std::function<void()> on_hold;

  bool homed(std::uint64_t address) override { return address - kLines < kLinesSize; }
  std::uint8_t* hold(std::uint64_t address, LineUse use) override {
    uses.push_back(use);
    hart.state().slots += slots;
    if (on_hold) on_hold();
    return refuses ? nullptr : bytes.data() + (address - kLines);
  }
  void changed(std::uint64_t address, unsigned size) override { changes.emplace_back(address - kLines, size); }
  void refused(Refusal why, std::uint64_t, std::uint64_t, unsigned) override { refusals.push_back(why); }

  std::uint64_t mcause() {
    std::uint64_t value = 0;
    hart.privileged().csr_peek(csr::kMcause, value);
    return value;
  }
  void execute(std::vector<std::uint32_t> words) {
    load_words(words);
    hart.state().pc = kRam;
    for (std::size_t i = 0; i < words.size(); ++i) hart.step();
  }
};

// Each with the address in a0 (x10), the other operand in a1 (x11), and the result in a2 (x12).
constexpr std::uint32_t kLd = 0x0005'3603, kLw = 0x0005'2603, kLbu = 0x0005'4603, kSd = 0x00b5'3023, kSw = 0x00b5'2023,
                        kLrD = 0x1005'362f, kScD = 0x18b5'362f, kAmoAddW = 0x00b5'262f;

}  // namespace

TEST_CASE("a load of a homed line waits for it and reads its bytes", "[iss]") {
  HomedMachine m;
  for (unsigned i = 0; i < 64; ++i) m.bytes[i] = static_cast<std::uint8_t>(0x80 + i);
  m.hart.state().x[10] = kLines + 3;  // misaligned, which is allowed within a cache line
  m.hart.state().x[11] = 0;
  const std::uint64_t before = m.hart.state().slots;
  m.execute({kLd});
  REQUIRE(m.x(12) == 0x8a89'8887'8685'8483);
  REQUIRE(m.hart.state().slots == before + 100 + 2);
  m.execute({kLw});
  REQUIRE(m.x(12) == 0xffff'ffff'8685'8483);
  m.execute({kLbu});
  REQUIRE(m.x(12) == 0x83);
  REQUIRE(m.uses == std::vector<LineUse>(3, LineUse::load));
  REQUIRE(m.loads == 0);
}

TEST_CASE("a store changes the line and says so", "[iss]") {
  HomedMachine m;
  m.hart.state().x[10] = kLines + 8;
  m.hart.state().x[11] = 0x1122'3344'5566'7788;
  m.execute({kSd, kSw});
  REQUIRE(m.bytes[8] == 0x88);
  REQUIRE(m.bytes[15] == 0x11);
  REQUIRE(m.uses == std::vector<LineUse>(2, LineUse::store));
  REQUIRE(m.changes == std::vector<std::pair<std::uint64_t, unsigned>>{{8, 8}, {8, 4}});
  REQUIRE(m.stores == 0);
}

TEST_CASE("an access across the end of a homed line is an access fault", "[iss]") {
  for (const auto& [word, cause] : {std::pair{kLd, 5u}, std::pair{kSd, 7u}}) {
    HomedMachine m;
    m.hart.state().x[10] = kLines + 60;
    m.execute({word});
    REQUIRE(m.mcause() == cause);
    REQUIRE(m.refusals == std::vector<Refusal>{Refusal::crossing_line});
    REQUIRE(m.uses.empty());
  }
}

TEST_CASE("a line that its home refuses is an access fault", "[iss]") {
  for (const auto& [word, cause] :
       {std::pair{kLd, 5u}, std::pair{kSd, 7u}, std::pair{kLrD, 5u}, std::pair{kAmoAddW, 7u}}) {
    HomedMachine m;
    m.refuses = true;
    m.hart.state().x[10] = kLines;
    m.hart.state().x[12] = 99;
    m.execute({word});
    REQUIRE(m.mcause() == cause);
    REQUIRE(m.x(12) == 99);
    REQUIRE(m.changes.empty());
  }
}

TEST_CASE("atomics work on homed lines", "[iss]") {
  HomedMachine m;
  m.hart.state().x[10] = kLines + 16;
  m.hart.state().x[11] = 5;
  m.bytes[16] = 7;
  m.execute({kAmoAddW});
  REQUIRE(m.x(12) == 7);
  REQUIRE(m.bytes[16] == 12);
  REQUIRE(m.uses == std::vector<LineUse>{LineUse::atomic});
  m.execute({kLrD, kScD});
  REQUIRE(m.x(12) == 0);
  REQUIRE(m.bytes[16] == 5);
  m.execute({kScD});  // without a reservation
  REQUIRE(m.x(12) == 1);
  REQUIRE(m.changes.size() == 2);
}

TEST_CASE("a reservation ends when the line changes or goes, while the hart waits for it too", "[iss]") {
  HomedMachine m;
  m.hart.state().x[10] = kLines + 16;
  m.hart.state().x[11] = 5;
  m.execute({kLrD});
  m.hart.line_changed(kLines + 64, 64);
  REQUIRE(m.hart.state().reservation);
  m.hart.line_changed(kLines, 64);
  REQUIRE_FALSE(m.hart.state().reservation);
  m.execute({kLrD});
  m.on_hold = [&m] { m.hart.line_changed(kLines, 64); };
  m.execute({kScD});
  REQUIRE(m.x(12) == 1);
  REQUIRE(m.bytes[16] == 0);
}

TEST_CASE("nothing is fetched from a homed line", "[iss]") {
  HomedMachine m;
  m.hart.state().pc = kLines;
  m.hart.step();
  REQUIRE(m.mcause() == 1);
  REQUIRE(m.refusals == std::vector<Refusal>{Refusal::fetch});
}

TEST_CASE("a second access to a page goes through the cached translation", "[iss]") {
  HomedMachine m;
  m.hart.state().x[10] = kLines;
  m.execute({kLd, kLd, kSd});
  REQUIRE(m.uses == std::vector<LineUse>{LineUse::load, LineUse::load, LineUse::store});
}
