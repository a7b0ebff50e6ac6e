// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "tests/unit/nic/nic_descriptor_bench.h"

using namespace sluice;
using namespace sluice::test;

namespace {

std::uint64_t dropped(const char* reason) {
  const auto& d = base::ledger().dropped();
  return d.count(reason) ? d.at(reason) : 0;
}

std::uint64_t all_drops(const nic::DescriptorNic& n) {
  std::uint64_t sum = 0;
  for (unsigned s = DESC_STAT_RX_DROP_FIFO; s <= DESC_STAT_RX_DROP_DMA; ++s) sum += n.statistic(s);
  return sum;
}

}  // namespace

TEST_CASE("a NIC that turns frames around receives what it sends, in its pipelines' time, and nothing else", "[nic]") {
  nic::DescriptorParameters p;
  p.mac.tx_latency = p.mac.rx_latency = 1_ms;  // are not met
  NicBench b(p);
  b.run([&] {
    b.wire.set_up(false);
    b.on(DESC_CONTROL_TURN_AROUND);
    CHECK((b.read(DESC_CONTROL) & DESC_CONTROL_TURN_AROUND) != 0);
    auto in = b.receive_ring(0, 64, 32);
    auto out = b.transmit_ring(0, 64);
    b.wait(3_us);
    const auto frame = udp_frame(64);
    b.put(out, frame);
    const auto id = base::ledger().open(SLUICE_STAGE_doorbell, b.wire.component(), base::now());
    b.ram.set_tag(out.buffers, frame.size(), id);
    b.doorbell(out);
    REQUIRE(b.next_frame(in) == 0);
    CHECK(b.received(in, 0) == frame);
    CHECK(b.ram.tag(in.buffers) == id);
    const auto& tiles = base::ledger().find(id)->tiles;
    const auto transmit =
        std::find_if(tiles.begin(), tiles.end(), [](const auto& t) { return t.stage == SLUICE_STAGE_transmit; });
    REQUIRE(tiles.end() - transmit > 3);
    CHECK(transmit[1].stage == SLUICE_STAGE_parse);
    CHECK(transmit[1].start - transmit[0].start == p.tx_pipeline);
    CHECK(transmit[2].start - transmit[1].start == p.parse);
    CHECK(transmit[3].start - transmit[2].start == p.rx_pipeline);
    CHECK(b.stat(DESC_STAT_TX_PACKETS) == 1);
    CHECK(b.stat(DESC_STAT_TX_DROP_LINK) == 0);
    CHECK(b.stat(DESC_STAT_RX_PACKETS) == 1);
    b.wire.set_up(true);
    b.send(frame);
    b.wait(3_us);
    CHECK_FALSE(b.done(in, 1));
    CHECK(b.station.frames.empty());
    b.write(DESC_CONTROL, DESC_CONTROL_RESET);
    b.wait(3_us);
    b.on();
    auto again = b.transmit_ring(0, 64);
    b.put(again, frame);
    b.doorbell(again);
    b.wait(2_ms);
    CHECK(b.station.frames.size() == 1);
  });
}

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

TEST_CASE("a ring wraps around as long as software gives descriptors back", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 64, 63);
    for (unsigned n = 0; n < 200; ++n) {
      const auto frame = udp_frame(18 + n % 50, static_cast<std::uint16_t>(n));
      b.send(frame);
      const std::uint32_t i = b.next_frame(ring);
      CHECK(i == n % 64);
      CHECK(b.received(ring, i) == frame);
      b.post(ring);
      if (n % 16 == 15) b.doorbell(ring);
    }
    CHECK(b.stat(DESC_STAT_RX_PACKETS) == 200);
    CHECK(b.read(DESC_ERRORS) == 0);
  });
}

TEST_CASE("without descriptors frames wait in the FIFO, and are dropped when it is full", "[nic]") {
  nic::DescriptorParameters p;
  p.rx_fifo = 16_KiB;
  NicBench b(p);
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 64, 4);
    b.wait(3_us);
    const unsigned sent = 30;
    for (unsigned n = 0; n < sent; ++n) b.send(udp_frame(1000 - 42, static_cast<std::uint16_t>(n)));
    b.wait(20_us);
    for (unsigned n = 0; n < 4; ++n) CHECK(b.done(ring, n));
    CHECK_FALSE(b.done(ring, 4));
    const std::uint32_t lost = b.stat(DESC_STAT_RX_DROP_FIFO);
    CHECK(lost == sent - 4 - 16);  // 16 frames of 1000 B fit into 16 KiB
    CHECK(b.read(DESC_QUEUE(0) + DESC_RX_DROPS) == lost);
    CHECK(dropped("receive FIFO full") == lost);

    for (unsigned n = 0; n < 32; ++n) b.post(ring);
    b.doorbell(ring);
    b.wait(20_us);
    CHECK(b.stat(DESC_STAT_RX_PACKETS) == sent - lost);
    CHECK(b.received(ring, 19).size() == 1000);
    CHECK(b.nic.mac().statistics().rx_frames == b.nic.statistic(DESC_STAT_RX_PACKETS) + all_drops(b.nic));
  });
}

TEST_CASE("descriptors are fetched in batches ahead of the frames", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    b.receive_ring(0, 128, 96);
    b.wait(5_us);
    CHECK(b.nic.counters().dma_reads == 3);
    CHECK(b.nic.counters().dma_read_bytes == 96 * 32);
    // The NIC has all the descriptors that it was given: frames cause no further read.
    for (unsigned n = 0; n < 8; ++n) b.send(udp_frame(20));
    b.wait(5_us);
    CHECK(b.nic.counters().dma_reads == 3);
  });
}

TEST_CASE("a cache smaller than the ring is refilled as frames use it up", "[nic]") {
  nic::DescriptorParameters p;
  p.rx_cache = 32;
  p.rx_fetch_batch = 16;
  p.rx_fetch_threshold = 8;
  NicBench b(p);
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 128, 127);
    b.wait(5_us);
    CHECK(b.nic.counters().dma_reads == 2);
    for (unsigned n = 0; n < 100; ++n) b.send(udp_frame(18));
    b.wait(50_us);
    CHECK(b.stat(DESC_STAT_RX_PACKETS) == 100);
    CHECK(b.done(ring, 99));
    CHECK(b.nic.counters().dma_reads == 7);  // of 16 each; the last 15 only once fewer than 8 are on chip
  });
}

TEST_CASE("write-backs are batched under load and immediate when idle", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 256, 255);
    b.wait(5_us);
    const std::uint64_t before = b.nic.counters().dma_writes;
    b.send(udp_frame(18));
    b.wait(5_us);
    CHECK(b.done(ring, 0));
    CHECK(b.nic.counters().dma_writes - before == 2);
    for (unsigned n = 0; n < 64; ++n) b.send(udp_frame(18));
    b.wait(10_us);
    CHECK(b.done(ring, 64));
    CHECK(b.nic.counters().dma_writes - before == 2 + 64 + 16);
  });
}

TEST_CASE("a batch of write-backs ends with the ring", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 64, 63);
    b.wait(3_us);
    const std::vector<std::uint8_t> behind(128, 0xcd);
    b.ram.write(ring.base + 64 * sizeof(desc_rx_read), behind.data(), behind.size());
    for (unsigned n = 0; n < 62; ++n) {
      b.send(udp_frame(18));
      b.next_frame(ring);
      b.post(ring);
    }
    b.doorbell(ring);
    b.wait(3_us);
    for (unsigned n = 0; n < 8; ++n) b.send(udp_frame(18));  // descriptors 62, 63, 0 ...
    for (unsigned n = 0; n < 8; ++n) b.next_frame(ring);
    std::vector<std::uint8_t> now(128);
    b.ram.read(ring.base + 64 * sizeof(desc_rx_read), now.data(), now.size());
    CHECK(now == behind);
  });
}

TEST_CASE("without write-back on idle a lone frame waits for the timeout", "[nic]") {
  nic::DescriptorParameters p;
  p.writeback_when_idle = false;
  p.writeback_timeout = 7_us;
  NicBench b(p);
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 64, 32);
    b.wait(3_us);
    const auto id = b.send(udp_frame(18));
    b.next_frame(ring);
    const auto* r = base::ledger().find(id);
    const auto notify =
        std::find_if(r->tiles.begin(), r->tiles.end(), [](const auto& t) { return t.stage == SLUICE_STAGE_notify; });
    REQUIRE(notify != r->tiles.end());
    CHECK((notify + 1)->stage == SLUICE_STAGE_upstream_link);
    // Both times count from the frame's start on its way to memory: to its last bit there, and to the timeout.
    const base::Time moved = (notify - 1)->start;
    CHECK((notify - 1)->stage == SLUICE_STAGE_upstream_link);
    CHECK(notify->start == moved + 100_ns + b.link.up().wire_time(20 + 60));
    CHECK((notify + 1)->start == moved + 7_us);
    CHECK(r->tiles.back().stage == SLUICE_STAGE_wait_core);
    const base::Time landed = r->tiles.back().start;
    CHECK((base::now() >= landed && base::now() < landed + 20_ns));  // a step of polling
  });
}

TEST_CASE("RSS spreads flows over queues as the table says, and keeps a flow together", "[nic]") {
  nic::DescriptorParameters p;
  p.queues = 4;
  NicBench b(p);
  b.run([&] {
    b.on();
    std::vector<NicBench::RxRing> rings;
    for (unsigned q = 0; q < 4; ++q) rings.push_back(b.receive_ring(q, 64, 63));
    for (unsigned w = 0; w < 10; ++w) b.write(DESC_RSS_KEY(w), 0x6d5a56da + w * 0x01020304);
    for (unsigned w = 0; w < DESC_RSS_TABLE_WORDS; ++w) b.write(DESC_RSS_TABLE(w), 0x03020100);
    CHECK(b.read(DESC_RSS_TABLE(31)) == 0x03020100);
    b.write(DESC_RSS_CONTROL, DESC_RSS_CONTROL_IPV4 | DESC_RSS_CONTROL_UDP);
    b.wait(5_us);
    for (unsigned round = 0; round < 2; ++round)
      for (unsigned n = 0; n < 60; ++n) b.send(udp_frame(18, static_cast<std::uint16_t>(5000 + n)));
    b.wait(20_us);
    std::map<unsigned, std::set<unsigned>> queues_of_flow;
    unsigned total = 0;
    for (unsigned q = 0; q < 4; ++q) {
      unsigned here = 0;
      for (std::uint32_t i = 0; i < 63 && b.done(rings[q], i); ++i, ++here) {
        CHECK(b.report(rings[q], i).status & DESC_RX_RSS_VALID);
        CHECK(b.report(rings[q], i).rss_hash % 4 == q);
        const auto frame = b.received(rings[q], i);
        queues_of_flow[frame[34] << 8 | frame[35]].insert(q);
      }
      CHECK(here >= 10);
      total += here;
    }
    CHECK(total == 120);
    CHECK(queues_of_flow.size() == 60);
    for (const auto& [flow, queues] : queues_of_flow) CHECK(queues.size() == 1);
  });
}

TEST_CASE("a rule sends the datagrams of its UDP port, and nothing else, to its queue", "[nic]") {
  nic::DescriptorParameters p;
  p.queues = 4;
  NicBench b(p);
  b.run([&] {
    b.on();
    std::vector<NicBench::RxRing> rings;
    for (unsigned q = 0; q < 3; ++q) rings.push_back(b.receive_ring(q, 64, 32));
    const auto rule = [](unsigned port, unsigned queue) {
      return DESC_UDP_RULE_VALID | queue << DESC_UDP_RULE_QUEUE_SHIFT | port;
    };
    for (unsigned w = 0; w < DESC_RSS_TABLE_WORDS; ++w) b.write(DESC_RSS_TABLE(w), 0x01010101);
    b.write(DESC_RSS_CONTROL, DESC_RSS_CONTROL_IPV4 | DESC_RSS_CONTROL_UDP);
    b.write(DESC_UDP_RULE(5), rule(20049, 2));
    b.write(DESC_UDP_RULE(63), rule(20049, 0));  // behind another rule for the port
    b.write(DESC_UDP_RULE(6), rule(20050, 3));   // not enabled
    b.write(DESC_UDP_RULE(7), rule(20051, 2) & ~DESC_UDP_RULE_VALID);
    CHECK(b.read(DESC_UDP_RULE(5)) == rule(20049, 2));
    b.wait(5_us);
    const auto queue_of = [&](unsigned source, unsigned port) {
      std::vector<std::uint32_t> before;
      for (const auto& r : rings) {
        std::uint32_t i = 0;
        while (i < 32 && b.done(r, i)) ++i;
        before.push_back(i);
      }
      b.send(udp_frame(18, static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(port)));
      b.wait(3_us);
      for (unsigned q = 0; q < 3; ++q)
        if (b.done(rings[q], before[q])) return q;
      return 99u;
    };
    CHECK(queue_of(5000, 20049) == 2);
    CHECK(queue_of(20049, 5000) == 1);  // the port that counts is the destination's
    CHECK(queue_of(5000, 20050) == 1);
    CHECK(queue_of(5000, 20051) == 1);
    CHECK(queue_of(5000, 111) == 1);
    b.write(DESC_UDP_RULE(5), 0);
    b.wait(1_us);
    CHECK(queue_of(5000, 20049) == 0);
    b.write(DESC_UDP_RULE(63), 0);
    b.wait(1_us);
    CHECK(queue_of(5000, 20049) == 1);
    b.write(DESC_UDP_RULE(0), rule(1, 4));
    CHECK(b.read(DESC_UDP_RULE(0)) == 0);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_VALUE);
    b.write(DESC_UDP_RULE(1), rule(1, 2));
    b.write(DESC_CONTROL, DESC_CONTROL_RESET);
    b.wait(1_us);
    CHECK(b.read(DESC_UDP_RULE(1)) == 0);
  });
}

TEST_CASE("a frame for a queue that is not enabled goes to queue 0, or nowhere", "[nic]") {
  nic::DescriptorParameters p;
  p.queues = 2;
  NicBench b(p);
  b.run([&] {
    b.on();
    for (unsigned w = 0; w < DESC_RSS_TABLE_WORDS; ++w) b.write(DESC_RSS_TABLE(w), 0x01010101);
    b.write(DESC_RSS_CONTROL, DESC_RSS_CONTROL_IPV4);
    b.send(udp_frame(18));
    b.wait(2_us);
    CHECK(b.stat(DESC_STAT_RX_DROP_NO_QUEUE) == 1);
    auto ring = b.receive_ring(0, 64, 32);
    b.wait(3_us);
    b.send(udp_frame(18));
    b.next_frame(ring);
    CHECK(b.stat(DESC_STAT_RX_DROP_NO_QUEUE) == 1);
  });
}

TEST_CASE("frames that are not for this station, damaged or of a bad length never reach memory", "[nic]") {
  NicBench b;
  b.run([&] {
    auto ring = b.receive_ring(0, 64, 32);
    b.write(DESC_QUEUE(0) + DESC_RX_BUFFER, 1024);  // refused: the ring runs
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_RING_BUSY);
    b.wait(3_us);
    b.send(udp_frame(18));  // receive is still disabled
    b.wait(1_us);
    b.on();
    auto other = udp_frame(18);
    other[5] = 7;
    b.send(other);
    b.send(udp_frame(18), true);
    b.send(std::vector<std::uint8_t>(40));
    b.send(udp_frame(1600));
    b.wait(3_us);
    CHECK_FALSE(b.done(ring, 0));
    CHECK(b.stat(DESC_STAT_RX_DROP_DISABLED) == 1);
    CHECK(b.stat(DESC_STAT_RX_DROP_ADDRESS) == 1);
    CHECK(b.stat(DESC_STAT_RX_DROP_FCS) == 1);
    CHECK(b.stat(DESC_STAT_RX_DROP_LENGTH) == 2);
    CHECK(base::ledger().in_flight() == 0);

    auto broadcast = udp_frame(18);
    std::fill_n(broadcast.begin(), 6, 0xff);
    auto multicast = other;
    multicast[0] |= 1;
    b.send(broadcast);
    b.send(multicast);
    b.on(DESC_CONTROL_PROMISCUOUS);
    b.send(other);
    b.next_frame(ring);
    b.next_frame(ring);
    b.next_frame(ring);
    CHECK(b.report(ring, 0).cast == DESC_RX_CAST_BROADCAST);
    CHECK(b.report(ring, 1).cast == DESC_RX_CAST_MULTICAST);
    CHECK(b.report(ring, 2).cast == DESC_RX_CAST_UNICAST);
  });
}

TEST_CASE("long frames need a longer limit and a buffer that holds them", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    b.write(DESC_MAX_FRAME, 9000);
    b.write(DESC_MAX_FRAME, 9725);
    CHECK(b.read(DESC_MAX_FRAME) == 9000);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_VALUE);
    auto ring = b.receive_ring(0, 64, 32);
    b.wait(3_us);
    b.send(udp_frame(2049 - 42));
    b.send(udp_frame(2048 - 42));
    b.next_frame(ring);
    CHECK(b.report(ring, 0).packet_length == 2048);
    CHECK(b.stat(DESC_STAT_RX_DROP_LENGTH) == 1);
  });
}

TEST_CASE("checksum verdicts reach software", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 64, 32);
    b.wait(3_us);
    auto bad_ip = udp_frame(20);
    bad_ip[22] ^= 1;
    auto bad_udp = udp_frame(20);
    bad_udp[50] ^= 1;
    auto arp = udp_frame(20);
    arp[13] = 6;
    b.send(bad_ip);
    b.send(bad_udp);
    b.send(arp);
    for (int n = 0; n < 3; ++n) b.next_frame(ring);
    constexpr unsigned kResult = DESC_RX_CHECKED | DESC_RX_IP_ERROR | DESC_RX_L4_ERROR;
    CHECK((b.report(ring, 0).status & kResult) == (DESC_RX_CHECKED | DESC_RX_IP_ERROR));
    CHECK((b.report(ring, 1).status & kResult) == (DESC_RX_CHECKED | DESC_RX_L4_ERROR));
    CHECK((b.report(ring, 2).status & kResult) == 0);
    CHECK(b.report(ring, 2).packet_type == DESC_RX_TYPE_OTHER);
    CHECK(b.stat(DESC_STAT_RX_CHECKSUM_IP) == 1);
    CHECK(b.stat(DESC_STAT_RX_CHECKSUM_UDP) == 1);
  });
}

TEST_CASE("the link's state is visible and its loss costs the frames under way", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.receive_ring(0, 64, 32);
    CHECK(b.read(DESC_STATUS) == DESC_STATUS_LINK_UP);
    CHECK(b.read(DESC_LINK_SPEED) == 100'000);
    b.send(udp_frame(18));
    b.wire.set_up(false);
    CHECK(b.read(DESC_STATUS) == 0);
    CHECK(b.read(DESC_LINK_SPEED) == 0);
    b.wire.set_up(true);
    b.wait(3_us);
    CHECK_FALSE(b.done(ring, 0));
    CHECK(dropped("link down") == 1);
    CHECK(b.stat(DESC_STAT_LINK_CHANGES) == 2);
    b.send(udp_frame(18));
    b.next_frame(ring);
  });
}
