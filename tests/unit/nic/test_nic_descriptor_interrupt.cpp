// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/nic/nic_descriptor_bench.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr std::uint32_t kVector1 = DESC_CAUSE_ENABLE | 1;

}  // namespace

TEST_CASE("a received frame interrupts after its descriptor is visible", "[nic]") {
  NicBench b;
  b.run([&] {
    b.enable_msix(2);
    b.on();
    auto ring = b.receive_ring(0, 64, 32, kVector1);
    b.write(DESC_VECTOR_CONTROL(1), DESC_VECTOR_ENABLE);
    b.wait(3_us);
    b.send(udp_frame(18));
    bool visible = false;
    b.interrupts.on_message = [&] { visible = b.done(ring, 0); };
    b.next_frame(ring);
    b.wait(200_ns);
    CHECK(visible);
    REQUIRE(b.interrupts.seen.size() == 1);
    CHECK(b.interrupts.seen[0].first == 0x101);
    CHECK(b.stat(DESC_STAT_INTERRUPTS) == 1);
    CHECK(b.read(DESC_VECTOR_STATUS(1)) == 0);
  });
}

TEST_CASE("moderation spaces messages and loses no cause", "[nic]") {
  NicBench b;
  b.run([&] {
    b.enable_msix(2);
    b.on();
    auto ring = b.receive_ring(0, 256, 255, kVector1);
    b.write(DESC_VECTOR_MODERATION(1), 5);  // 10 us
    CHECK(b.read(DESC_VECTOR_MODERATION(1)) == 5);
    b.write(DESC_VECTOR_CONTROL(1), DESC_VECTOR_ENABLE);
    b.wait(3_us);
    for (unsigned n = 0; n < 100; ++n) {
      b.send(udp_frame(18));
      b.wait(500_ns);
    }
    const base::Time last = base::now();
    b.wait(20_us);
    CHECK(b.done(ring, 99));
    // One for the first frame, and one at the end of each interval of 10 us that has frames.
    REQUIRE(b.interrupts.seen.size() == 6);
    for (std::size_t n = 1; n < b.interrupts.seen.size(); ++n)
      CHECK(b.interrupts.seen[n].second - b.interrupts.seen[n - 1].second >=
            9900_ns);  // at the host: links may delay the earlier one
    // After the last frame there was one more message.
    CHECK(b.interrupts.seen.back().second > last);
    CHECK(b.read(DESC_VECTOR_STATUS(1)) == 0);
    b.write(DESC_VECTOR_MODERATION(1), 4096);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_VALUE);
  });
}

TEST_CASE("auto mask closes the door, and what happens behind it fires when it is opened", "[nic]") {
  NicBench b;
  b.run([&] {
    b.enable_msix(2);
    b.on();
    auto ring = b.receive_ring(0, 64, 32, kVector1);
    constexpr std::uint32_t kOpen = DESC_VECTOR_ENABLE | DESC_VECTOR_AUTO_MASK;
    b.write(DESC_VECTOR_CONTROL(1), kOpen);
    b.wait(3_us);
    b.send(udp_frame(18));
    b.wait(3_us);
    CHECK(b.interrupts.seen.size() == 1);
    CHECK(b.read(DESC_VECTOR_CONTROL(1)) == DESC_VECTOR_AUTO_MASK);
    b.send(udp_frame(18));
    b.wait(3_us);
    CHECK(b.interrupts.seen.size() == 1);
    CHECK(b.read(DESC_VECTOR_STATUS(1)) == DESC_VECTOR_STATUS_PENDING);
    b.write(DESC_VECTOR_CONTROL(1), kOpen);
    b.wait(3_us);
    CHECK(b.interrupts.seen.size() == 2);
    b.send(udp_frame(18));
    b.wait(3_us);
    b.write(DESC_VECTOR_CONTROL(1), kOpen | DESC_VECTOR_CLEAR_PENDING);
    b.wait(3_us);
    CHECK(b.interrupts.seen.size() == 2);
    b.write(DESC_VECTOR_CONTROL(1), kOpen | DESC_VECTOR_TRIGGER);
    b.wait(3_us);
    CHECK(b.interrupts.seen.size() == 3);
    CHECK(b.done(ring, 2));
  });
}

TEST_CASE("transmit write-backs and link changes interrupt too, each by its own cause", "[nic]") {
  NicBench b;
  b.run([&] {
    b.enable_msix(2);
    b.on();
    auto ring = b.transmit_ring(0, 64, kVector1);
    b.write(DESC_LINK_INTERRUPT, DESC_CAUSE_ENABLE | 0);
    b.write(DESC_VECTOR_CONTROL(0), DESC_VECTOR_ENABLE);
    b.write(DESC_VECTOR_CONTROL(1), DESC_VECTOR_ENABLE);
    b.put(ring, udp_frame(18));
    b.doorbell(ring);
    b.wait(5_us);
    REQUIRE(b.interrupts.seen.size() == 1);
    CHECK(b.interrupts.seen[0].first == 0x101);
    b.wire.set_up(false);
    b.wait(2_us);
    REQUIRE(b.interrupts.seen.size() == 2);
    CHECK(b.interrupts.seen[1].first == 0x100);
    b.write(DESC_LINK_INTERRUPT, 0);
    b.read(DESC_LINK_INTERRUPT);
    b.wire.set_up(true);
    b.wait(2_us);
    CHECK(b.interrupts.seen.size() == 2);
  });
}

TEST_CASE("without MSI-X the level of INTA follows pending and enable", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    b.receive_ring(0, 64, 32, kVector1);
    b.write(DESC_VECTOR_CONTROL(1), DESC_VECTOR_ENABLE | DESC_VECTOR_AUTO_MASK);
    b.wait(3_us);
    base::Line& line = b.rc.intx[1];  // INTA of root port 0's device
    CHECK_FALSE(line.level());
    b.send(udp_frame(18));
    b.wait(3_us);
    CHECK(line.level());
    CHECK(b.read(DESC_VECTOR_CONTROL(1)) & DESC_VECTOR_ENABLE);  // AUTO_MASK is for messages
    b.write(DESC_VECTOR_CONTROL(1), DESC_VECTOR_CLEAR_PENDING);
    b.read(DESC_VECTOR_CONTROL(1));
    b.wait(1_us);
    CHECK_FALSE(line.level());
    b.send(udp_frame(18));
    b.wait(3_us);
    CHECK_FALSE(line.level());
    b.write(DESC_VECTOR_CONTROL(1), DESC_VECTOR_ENABLE);
    b.wait(3_us);
    CHECK(line.level());
    CHECK(b.interrupts.seen.empty());
    CHECK(b.stat(DESC_STAT_INTERRUPTS) == 0);
    b.enable_msix(2);
    b.wait(3_us);
    CHECK_FALSE(line.level());
    CHECK(b.interrupts.seen.size() == 1);
  });
}

TEST_CASE("a request knows whether it waits for moderation, for the handler, or was found before", "[nic][ledger]") {
  NicBench b;
  b.run([&] {
    b.enable_msix(2);
    b.on();
    auto ring = b.receive_ring(0, 64, 32, kVector1);
    b.write(DESC_VECTOR_MODERATION(1), 5);
    b.write(DESC_VECTOR_CONTROL(1), DESC_VECTOR_ENABLE);
    b.wait(3_us);
    auto stage = [](base::RequestId id) { return base::ledger().find(id)->tiles.back().stage; };
    const auto prompt = b.send(udp_frame(18));
    b.next_frame(ring);
    b.wait(100_ns);
    REQUIRE(b.interrupts.seen.size() == 1);
    CHECK(stage(prompt) == SLUICE_STAGE_interrupt);
    CHECK(base::ledger().find(prompt)->tiles.back().start == b.interrupts.seen[0].second);

    const auto held = b.send(udp_frame(18));
    const auto found = b.send(udp_frame(18));
    b.wait(3_us);
    CHECK(stage(held) == SLUICE_STAGE_notify);
    CHECK(stage(found) == SLUICE_STAGE_notify);
    base::ledger().enter(found, SLUICE_STAGE_poll, b.nic.component(), base::now());
    b.wait(20_us);
    REQUIRE(b.interrupts.seen.size() == 2);
    CHECK(stage(held) == SLUICE_STAGE_interrupt);
    CHECK(stage(found) == SLUICE_STAGE_poll);

    b.write(DESC_VECTOR_CONTROL(1), 0);
    b.read(DESC_VECTOR_CONTROL(1));
    const auto polled = b.send(udp_frame(18));
    b.wait(3_us);
    CHECK(stage(polled) == SLUICE_STAGE_wait_core);
    b.write(DESC_VECTOR_CONTROL(1), DESC_VECTOR_ENABLE);
    b.wait(20_us);
    REQUIRE(b.interrupts.seen.size() == 3);
    CHECK(stage(polled) == SLUICE_STAGE_interrupt);
    CHECK(base::ledger().find(polled)->tiles.back().start == b.interrupts.seen[2].second);
  });
}
