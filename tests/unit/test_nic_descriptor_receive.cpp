#include "tests/unit/nic_descriptor_bench.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("a frame from the wire lies in its buffer and its descriptor says so", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 64, 32);
    b.wait(3_us);
    const auto frame = udp_frame(64);
    const base::Time start = base::now();
    const auto id = b.send(frame);
    REQUIRE(b.next_frame(ring) == 0);
    CHECK(b.received(ring, 0) == frame);
    const desc_rx_writeback w = b.report(ring, 0);
    CHECK(w.profile == DESC_RX_PROFILE);
    CHECK(w.cast == DESC_RX_CAST_UNICAST);
    CHECK(w.packet_type == DESC_RX_TYPE_UDP);
    CHECK(w.header_length == 42);
    CHECK(w.status == (DESC_RX_DD | DESC_RX_EOF | DESC_RX_CHECKED));
    CHECK(w.timestamp == (start + 10_ns + 640_ps) / 1_ns);
    CHECK(b.ram.tag(ring.buffers) == id);
    CHECK(b.ram.tag(ring.buffers + 64) == id);
    CHECK(b.stat(DESC_STAT_RX_PACKETS) == 1);
    CHECK(b.stat(DESC_STAT_RX_BYTES) == frame.size());
    CHECK(b.read(DESC_QUEUE(0) + DESC_RX_HEAD) == 1);
    CHECK_FALSE(b.done(ring, 1));
  });
}
