// SPDX-License-Identifier: Apache-2.0
/// Cache lines with a home of their own, as an engine's slow path sees them.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/unit/riscv/iss_machine.h"

using namespace sluice::riscv;
using sluice::base::LineUse;

namespace {

constexpr std::uint64_t kLines = 0x3000'0000, kLinesSize = 8192;

/// A machine with two pages of such lines. hold() takes `slots`.
struct HomedMachine : IssMachine {
  using IssMachine::IssMachine;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(kLinesSize);
  std::vector<LineUse> uses;
  std::vector<std::uint64_t> held_lines;  ///< that need no hold()
  unsigned let_goes = 0;
  std::uint64_t end_of_lines = kLines + kLinesSize;
  std::uint64_t slots = 100;
  bool refuses = false;
  std::vector<Refusal> refusals;
  std::function<void()> on_hold;

  bool homed(std::uint64_t address) override { return address >= kLines && address < end_of_lines; }
  std::uint8_t* held(std::uint64_t address, LineUse) override {
    const bool is_held = std::find(held_lines.begin(), held_lines.end(), address / 64 * 64) != held_lines.end();
    return is_held ? bytes.data() + (address - kLines) : nullptr;
  }
  std::uint8_t* hold(std::uint64_t address, LineUse use) override {
    uses.push_back(use);
    hart.state().slots += slots;
    if (on_hold) on_hold();
    return refuses ? nullptr : bytes.data() + (address - kLines);
  }
  void let_go() override { ++let_goes; }
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

TEST_CASE("a store changes the line, and lets it go", "[iss]") {
  HomedMachine m;
  m.hart.state().x[10] = kLines + 8;
  m.hart.state().x[11] = 0x1122'3344'5566'7788;
  m.execute({kSd, kSw});
  REQUIRE(m.bytes[8] == 0x88);
  REQUIRE(m.bytes[15] == 0x11);
  REQUIRE(m.uses == std::vector<LineUse>(2, LineUse::store));
  REQUIRE(m.let_goes == 2);
  REQUIRE(m.stores == 0);
}

TEST_CASE("a line that the hart's caches hold is used without a wait", "[iss]") {
  HomedMachine m;
  m.held_lines = {kLines};
  m.hart.state().x[10] = kLines + 8;
  m.hart.state().x[11] = 0x55;
  const std::uint64_t before = m.hart.state().slots;
  m.execute({kSd, kLd});
  REQUIRE(m.x(12) == 0x55);
  REQUIRE(m.hart.state().slots == before + 2 * 2);
  REQUIRE(m.uses.empty());
  REQUIRE(m.let_goes == 0);
}

TEST_CASE("an access across the end of a homed line is one to each line", "[iss]") {
  for (const std::uint64_t at : {kLines + 60, kLines + 0x1000 - 68}) {
    HomedMachine m;
    m.hart.state().x[10] = at;
    m.hart.state().x[11] = 0x8877'6655'4433'2211;
    m.execute({kSd});
    for (unsigned i = 0; i < 8; ++i) REQUIRE(m.bytes[at - kLines + i] == 0x11 * (i + 1));
    REQUIRE(m.uses == std::vector<LineUse>(2, LineUse::store));
    REQUIRE(m.let_goes == 2);
    m.execute({kLd});
    REQUIRE(m.x(12) == 0x8877'6655'4433'2211);
    m.refuses = true;
    m.held_lines = {at / 64 * 64};
    m.execute({kLd});
    std::uint64_t value = 0;
    m.hart.privileged().csr_peek(0x343, value);  // mtval: the part that is refused
    REQUIRE(m.mcause() == 5);
    REQUIRE(value == at + 4);
  }
}

TEST_CASE("an access across two pages of homed lines is one to each, and both pages are checked first", "[iss]") {
  {
    HomedMachine m;
    m.end_of_lines = kLines + 4096;
    m.hart.state().x[10] = kLines + 4092;
    m.execute({kSd});
    REQUIRE(m.mcause() == 7);
    REQUIRE(m.refusals == std::vector<Refusal>{Refusal::crossing});
    REQUIRE(m.uses.empty());
  }
  HomedMachine m;
  m.hart.state().x[10] = kLines + 4092;
  m.hart.state().x[11] = 0x8877'6655'4433'2211;
  m.execute({kSd, kLd});
  REQUIRE(m.x(12) == 0x8877'6655'4433'2211);
  REQUIRE(m.bytes[4092] == 0x11);
  REQUIRE(m.bytes[4096] == 0x55);
  REQUIRE(m.uses.size() == 4);
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
    REQUIRE(m.let_goes == 0);
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
  REQUIRE(m.let_goes == 4);
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
