// SPDX-License-Identifier: Apache-2.0
/// Receive rings that software sets up wrongly or takes away under traffic.
#include <algorithm>
#include <set>

#include "tests/unit/nic/nic_descriptor_bench.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("software's mistakes with a receive ring are counted and change nothing", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    const auto q = DESC_QUEUE(0);
    auto expect = [&](std::uint32_t bits) {
      CHECK(b.read(DESC_ERRORS) == bits);
      b.write(DESC_ERRORS, ~0u);
      CHECK(b.read(DESC_ERRORS) == 0);
    };
    b.write(q + DESC_RX_TAIL, 1);  // not enabled
    expect(DESC_ERROR_TAIL);
    b.write(q + DESC_RX_CONTROL, DESC_RING_ENABLE);  // no length
    expect(DESC_ERROR_VALUE);
    CHECK(b.read(q + DESC_RX_CONTROL) == 0);
    for (std::uint32_t length : {0u, 32u, 63u, 65u, 4128u, 0xffffffffu}) {
      b.write(q + DESC_RX_LENGTH, length);
      expect(DESC_ERROR_VALUE);
      CHECK(b.read(q + DESC_RX_LENGTH) == 0);
    }
    for (std::uint32_t size : {0u, 1000u, 1025u, 16384u}) {
      b.write(q + DESC_RX_BUFFER, size);
      expect(DESC_ERROR_VALUE);
    }
    b.write(q + DESC_RX_INTERRUPT, DESC_CAUSE_ENABLE | 2);  // two vectors: 0 and 1
    expect(DESC_ERROR_VALUE);
    auto ring = b.receive_ring(0, 64, 8);
    b.write(q + DESC_RX_TAIL, 64);
    expect(DESC_ERROR_TAIL);
    b.write(q + DESC_RX_TAIL, 7);  // would give descriptors a second time
    expect(DESC_ERROR_TAIL);
    CHECK(b.read(q + DESC_RX_TAIL) == 8);
    b.wait(3_us);
    b.send(udp_frame(18));
    b.next_frame(ring);

    CHECK(b.read(DESC_STAT_LOW(DESC_STAT_BAD_ACCESS)) == 0);
    CHECK(b.read(0x48) == 0xffffffff);
    CHECK(b.read(DESC_QUEUE(1) + DESC_RX_TAIL) == 0xffffffff);  // a queue that this NIC does not have
    b.write(0x48, 1);
    std::uint16_t half = 0;
    b.host.access(tlm::TLM_READ_COMMAND, NicBench::kBar0 + DESC_STATUS, &half, 2);
    CHECK(half == 0xffff);
    b.write(DESC_REVISION, 0);  // read-only: ignored
    CHECK(b.read(DESC_STAT_LOW(DESC_STAT_BAD_ACCESS)) == 4);
  });
}

TEST_CASE("a ring outside memory stops with an error and loses its frames, until it is set up anew", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    const auto q = DESC_QUEUE(0);
    b.write(q + DESC_RX_BASE_LOW, 0x1000);
    b.write(q + DESC_RX_LENGTH, 64);
    b.write(q + DESC_RX_CONTROL, DESC_RING_ENABLE);
    b.read(q + DESC_RX_CONTROL);
    b.send(udp_frame(18));
    b.wait(1_us);
    b.write(q + DESC_RX_TAIL, 32);
    b.wait(3_us);
    CHECK(b.read(q + DESC_RX_CONTROL) == (DESC_RING_ENABLE | DESC_RING_ACTIVE | DESC_RING_ERROR));
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_DMA);
    CHECK(b.stat(DESC_STAT_RX_DROP_DMA) == 1);
    b.send(udp_frame(18));
    b.wait(1_us);
    CHECK(b.stat(DESC_STAT_RX_DROP_DMA) == 2);

    b.write(q + DESC_RX_CONTROL, 0);
    CHECK((b.read(q + DESC_RX_CONTROL) & (DESC_RING_ENABLE | DESC_RING_ACTIVE)) == 0);
    auto ring = b.receive_ring(0, 64, 32);
    b.wait(3_us);
    b.send(udp_frame(18));
    b.next_frame(ring);
  });
}

TEST_CASE("buffers outside memory lose their frames and nothing else", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 64, 0);
    ring.buffers = 0x1000;
    b.post(ring);
    ring.buffers = NicBench::kRam + (128 << 20) - NicBench::kBuffer - 64;  // buffer 1: 64 B before the end of RAM
    b.post(ring);
    ring.buffers = NicBench::kRam + 0x100'0000;
    for (int n = 0; n < 8; ++n) b.post(ring);
    b.doorbell(ring);
    b.wait(3_us);
    for (int n = 0; n < 3; ++n) b.send(udp_frame(100));
    for (int n = 0; n < 3; ++n) b.next_frame(ring);
    CHECK(b.received(ring, 2) == udp_frame(100));
    CHECK(b.rc.counters().unsupported_requests == 2);  // the first frame, and the second's part beyond the end
  });
}

TEST_CASE("with bus mastering off nothing is delivered and the queue stops", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 64, 32);
    b.wait(3_us);
    b.bus_master(false);
    b.send(udp_frame(18));
    b.wait(3_us);
    CHECK_FALSE(b.done(ring, 0));
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_DMA);
    CHECK(b.read(DESC_QUEUE(0) + DESC_RX_CONTROL) & DESC_RING_ERROR);
    CHECK(b.stat(DESC_STAT_RX_DROP_DMA) == 1);
    CHECK(base::ledger().in_flight() == 0);
  });
}

/// Frames are reported 20 us after they have arrived.
static nic::DescriptorParameters late_reports() {
  nic::DescriptorParameters p;
  p.writeback_when_idle = false;
  p.writeback_timeout = 20_us;
  return p;
}

/// A ring with three frames in memory that are not yet reported.
static NicBench::RxRing unreported_frames(NicBench& b) {
  b.on();
  auto ring = b.receive_ring(0, 64, 32);
  b.wait(3_us);
  for (unsigned n = 0; n < 3; ++n) b.send(udp_frame(18 + n));
  b.wait(2_us);
  return ring;
}

TEST_CASE("frames in memory are still reported when a later descriptor read fails", "[nic]") {
  NicBench b(late_reports());
  b.run([&] {
    auto ring = unreported_frames(b);
    REQUIRE_FALSE(b.done(ring, 0));
    b.bus_master(false);
    b.write(DESC_QUEUE(0) + DESC_RX_TAIL, 40);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_DMA);
    b.bus_master(true);
    b.wait(30_us);
    for (unsigned n = 0; n < 3; ++n) {
      CHECK(b.done(ring, n));
      CHECK(b.received(ring, n) == udp_frame(18 + n));
    }
    CHECK_FALSE(b.done(ring, 3));
    CHECK(b.read(DESC_QUEUE(0) + DESC_RX_CONTROL) == (DESC_RING_ENABLE | DESC_RING_ACTIVE | DESC_RING_ERROR));
  });
}

/// Three frames are in memory and not yet reported when bus mastering goes off. The NIC finds that out when the timer
/// of the write-back ends, or when one more frame comes.
static void lose_reports(bool one_more) {
  NicBench b(late_reports());
  b.run([&] {
    auto ring = unreported_frames(b);
    CHECK(base::ledger().in_flight() == 3);
    b.bus_master(false);
    if (one_more) b.send(udp_frame(18));
    b.wait(30_us);
    CHECK_FALSE(b.done(ring, 0));
    CHECK(b.read(DESC_QUEUE(0) + DESC_RX_CONTROL) & DESC_RING_ERROR);
    CHECK(b.stat(DESC_STAT_RX_DROP_DMA) == (one_more ? 4 : 3));
    CHECK(b.stat(DESC_STAT_RX_PACKETS) == 0);
    CHECK(base::ledger().in_flight() == 0);
    b.bus_master(true);
    b.write(DESC_QUEUE(0) + DESC_RX_CONTROL, 0);
    auto again = b.receive_ring(0, 64, 32);
    b.wait(3_us);
    b.send(udp_frame(18));
    CHECK(b.next_frame(again) == 0);
  });
}

TEST_CASE("with bus mastering off a due write-back loses its frames", "[nic]") { lose_reports(false); }
TEST_CASE("with bus mastering off a frame's loss takes those not yet reported along", "[nic]") { lose_reports(true); }

TEST_CASE("a frame lost with bus mastering off makes room for those of other queues", "[nic]") {
  nic::DescriptorParameters p;
  p.queues = 2;
  p.rx_writes = 1;
  p.rx_pipeline = 5_us;
  NicBench b(p);
  b.run([&] {
    b.on();
    b.write(DESC_RSS_CONTROL, DESC_RSS_CONTROL_IPV4);
    b.receive_ring(0, 64, 32);
    auto ring = b.receive_ring(1, 64, 32);
    b.wait(3_us);
    b.send(udp_frame(18));
    b.wait(300_ns);
    for (unsigned w = 0; w < DESC_RSS_TABLE_WORDS; ++w) b.write(DESC_RSS_TABLE(w), 0x01010101);
    b.read(DESC_CONTROL);
    b.send(udp_frame(20));
    b.wait(300_ns);
    b.bus_master(false);
    b.wait(5_us);
    b.bus_master(true);
    CHECK(b.stat(DESC_STAT_RX_DROP_DMA) == 1);
    b.wait(10_us);
    CHECK(b.done(ring, 0));
    CHECK(b.received(ring, 0) == udp_frame(20));
  });
}

TEST_CASE("disabling a ring under traffic loses frames but never the count of them", "[nic]") {
  nic::DescriptorParameters p;
  p.queues = 2;
  NicBench b(p);
  b.run([&] {
    b.on();
    b.receive_ring(0, 256, 255);
    b.wait(5_us);
    for (unsigned n = 0; n < 100; ++n) b.send(udp_frame(18));
    b.wait(400_ns);
    b.write(DESC_QUEUE(0) + DESC_RX_CONTROL, 0);
    while (b.read(DESC_QUEUE(0) + DESC_RX_CONTROL) & DESC_RING_ACTIVE) b.wait(100_ns);
    b.wait(5_us);
    const std::uint64_t delivered = b.nic.statistic(DESC_STAT_RX_PACKETS);
    CHECK(delivered > 0);
    CHECK(delivered < 100);
    CHECK(delivered + b.nic.statistic(DESC_STAT_RX_DROP_NO_QUEUE) == 100);
    CHECK(base::ledger().in_flight() == delivered);

    auto again = b.receive_ring(0, 64, 32);
    b.wait(3_us);
    b.send(udp_frame(18));
    CHECK(b.next_frame(again) == 0);
  });
}

TEST_CASE("a reset forgets frames and descriptors inside the NIC and keeps the statistics", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    b.receive_ring(0, 64, 2);
    b.wait(3_us);
    for (unsigned n = 0; n < 10; ++n) b.send(udp_frame(18));
    b.wait(5_us);
    b.write(DESC_QUEUE(0) + DESC_RX_TAIL, 40);  // a fetch that the reset overtakes
    b.write(DESC_CONTROL, DESC_CONTROL_RESET);
    while (b.read(DESC_CONTROL) & DESC_CONTROL_RESET) b.wait(100_ns);
    CHECK(b.read(DESC_CONTROL) == 0);
    CHECK(b.read(DESC_QUEUE(0) + DESC_RX_LENGTH) == 0);
    CHECK(b.read(DESC_QUEUE(0) + DESC_RX_CONTROL) == 0);
    const std::uint64_t delivered = b.nic.statistic(DESC_STAT_RX_PACKETS);
    CHECK(delivered == 2);
    CHECK(b.nic.statistic(DESC_STAT_RX_DROP_DISABLED) == 8);
    b.on();
    auto again = b.receive_ring(0, 64, 32);
    b.wait(3_us);
    b.send(udp_frame(18));
    CHECK(b.next_frame(again) == 0);
    CHECK(b.nic.statistic(DESC_STAT_RX_PACKETS) == delivered + 1);
  });
}
