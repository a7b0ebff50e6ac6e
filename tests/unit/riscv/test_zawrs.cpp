// SPDX-License-Identifier: Apache-2.0
// Zawrs from its specification: QEMU 7.2 does not have it.

#include <catch2/catch.hpp>

#include "tests/unit/riscv/iss_machine.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

constexpr std::uint64_t kRam = IssMachine::kRam, kLine = kRam + 0x10000, kHandler = kRam + 0x2000;
constexpr unsigned kA0 = 10, kS0 = 8;
constexpr std::uint32_t kWrsNto = 0x00d0'0073, kWrsSto = 0x01d0'0073, kLoop = 0x0000'006f;
constexpr std::uint32_t kLr = 0x1004'352f;     // lr.d a0, (s0)
constexpr std::uint32_t kSc = 0x1884'352f;     // sc.d a0, s0, (s0)
constexpr std::uint32_t kStore = 0x0084'3423;  // sd s0, 8(s0)
constexpr std::uint32_t kDone = 0x0070'0513;   // li a0, 7

struct Waiter : IssMachine {
  explicit Waiter(const std::vector<std::uint32_t>& words, const HartConfig& config = {}) : IssMachine(config) {
    load_words(words);
    load_words({kLoop}, kHandler);
    hart.state().x[kS0] = kLine;
    hart.privileged().csr_poke(csr::kMtvec, kHandler);
    hart.privileged().csr_poke(csr::kPmpaddr0, ~std::uint64_t{0});
    hart.privileged().csr_poke(csr::kPmpcfg0, 0x1f);
  }
  StopReason go(std::uint64_t slots = 2000) {
    limit = hart.state().slots + slots;
    return hart.run();
  }
  std::uint64_t cause() {
    std::uint64_t value = 0;
    hart.privileged().csr_peek(csr::kMcause, value);
    return value;
  }
};

}  // namespace

TEST_CASE("wrs.nto waits while the reservation holds, and goes on behind itself", "[zawrs]") {
  Waiter w({kLr, kWrsNto, kDone, kLoop});
  REQUIRE(w.go() == StopReason::wait_on_reservation);
  REQUIRE(w.hart.state().pc == kRam + 8);
  REQUIRE(w.hart.state().instret == 2);
  const std::uint64_t value = 1;
  w.ram.write(kLine + 56, &value, 8);  // any byte of the line
  REQUIRE(w.go() == StopReason::slot_limit);
  REQUIRE(w.x(kA0) == 7);
}

TEST_CASE("a write outside the reserved line does not end the wait's reason", "[zawrs]") {
  Waiter w({kLr, kWrsNto, kDone, kLoop});
  bool woken = false;
  w.hart.on_reservation_lost([&] { woken = true; });
  REQUIRE(w.go() == StopReason::wait_on_reservation);
  const std::uint64_t value = 1;
  w.ram.write(kLine + 64, &value, 8);
  REQUIRE_FALSE(woken);
  REQUIRE(w.hart.state().reservation);
}

TEST_CASE("wrs does not wait once SC has ended the reservation", "[zawrs]") {
  const std::uint32_t wait = GENERATE(kWrsNto, kWrsSto);
  Waiter w({kLr, kSc, wait, kDone, kLoop});
  REQUIRE(w.go() == StopReason::slot_limit);
  REQUIRE(w.x(kA0) == 7);
}

TEST_CASE("the hart's own store keeps its reservation, so it waits", "[zawrs]") {
  Waiter w({kLr, kStore, kWrsNto, kDone, kLoop});
  REQUIRE(w.go() == StopReason::wait_on_reservation);
}

TEST_CASE("a pending interrupt that mie enables ends the wait, whatever mstatus says", "[zawrs]") {
  const std::uint32_t wait = GENERATE(kWrsNto, kWrsSto);
  Waiter w({kLr, wait, kDone, kLoop});
  w.hart.privileged().set_mip(irq::kMti, true);
  SECTION("not enabled in mie: waits") { REQUIRE(w.go() == StopReason::wait_on_reservation); }
  SECTION("enabled in mie, not in mstatus: goes on without a trap") {
    w.hart.privileged().csr_poke(csr::kMie, irq::bit(irq::kMti));
    REQUIRE(w.go() == StopReason::slot_limit);
    REQUIRE(w.x(kA0) == 7);
  }
  SECTION("enabled in both: is taken before") {
    w.hart.privileged().csr_poke(csr::kMie, irq::bit(irq::kMti));
    w.hart.privileged().csr_poke(csr::kMstatus, mstatus::kMie);
    REQUIRE(w.go() == StopReason::slot_limit);
    REQUIRE(w.hart.state().pc == kHandler);
  }
}

TEST_CASE("TW makes wrs.nto illegal below machine mode, and leaves wrs.sto alone", "[zawrs]") {
  const auto mode = GENERATE(Privilege::user, Privilege::supervisor, Privilege::machine);
  const bool tw = GENERATE(false, true);
  const std::uint32_t wait = GENERATE(kWrsNto, kWrsSto);
  CAPTURE(static_cast<int>(mode), tw, wait);
  Waiter w({kLr, wait, kDone, kLoop});
  w.hart.privileged().csr_poke(csr::kMstatus, tw ? mstatus::kTw : 0);
  w.hart.privileged().set_privilege(mode);
  const StopReason reason = w.go();
  if (tw && wait == kWrsNto && mode != Privilege::machine) {
    REQUIRE(w.hart.state().pc == kHandler);
    REQUIRE(w.cause() == static_cast<std::uint64_t>(Cause::illegal_instruction));
  } else {
    REQUIRE(reason == StopReason::wait_on_reservation);
  }
}

TEST_CASE("only wrs.sto has a deadline", "[zawrs]") {
  HartConfig config;
  config.wrs_short_slots = 300;
  Waiter nto({kLr, kWrsNto, kLoop}, config), sto({kLr, kWrsSto, kLoop}, config);
  REQUIRE(nto.go() == StopReason::wait_on_reservation);
  REQUIRE(nto.hart.wait_deadline() == ~std::uint64_t{0});
  REQUIRE(sto.go() == StopReason::wait_on_reservation);
  REQUIRE(sto.hart.wait_deadline() == sto.hart.state().slots + 300);
}
