// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <numeric>

#include "tests/unit/nic/nic_descriptor_bench.h"

using namespace sluice;
using namespace sluice::test;

namespace {

std::vector<std::uint8_t> bytes_of(const net::Packet& p) { return {p.bytes, p.bytes + p.length}; }

constexpr std::uint64_t kLengths =
    7ull << DESC_TX_MAC_LENGTH_SHIFT | 5ull << DESC_TX_IP_LENGTH_SHIFT | 2ull << DESC_TX_L4_LENGTH_SHIFT;

}  // namespace

TEST_CASE("a frame given by a doorbell leaves on the wire and is reported", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    const auto frame = udp_frame(64);
    b.put(ring, frame);
    b.doorbell(ring);
    b.wait(10_us);
    REQUIRE(b.station.frames.size() == 1);
    CHECK(bytes_of(*b.station.frames[0]) == frame);
    CHECK(b.done(ring, 0));
    CHECK(b.stat(DESC_STAT_TX_PACKETS) == 1);
    CHECK(b.stat(DESC_STAT_TX_BYTES) == frame.size());
    CHECK(b.read(DESC_QUEUE(0) + DESC_TX_HEAD) == 1);
    CHECK(b.read(DESC_ERRORS) == 0);
  });
}

TEST_CASE("short frames are padded, frames of many pieces are put together", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    b.put(ring, std::vector<std::uint8_t>(14, 0xaa));
    std::vector<std::uint8_t> whole(800);
    std::iota(whole.begin(), whole.end(), 0);
    const std::uint64_t at = NicBench::kRam + 0x500'0003;  // neither the pieces nor their sizes are aligned
    b.ram.write(at, whole.data(), whole.size());
    const unsigned sizes[] = {1, 63, 129, 7, 300, 150, 100, 50};
    std::uint64_t offset = 0;
    for (unsigned i = 0; i < 8; ++i) {
      b.put(ring, at + offset, sizes[i], i == 7 ? DESC_TX_EOP | DESC_TX_RS : 0);
      offset += sizes[i];
    }
    b.doorbell(ring);
    b.wait(10_us);
    REQUIRE(b.station.frames.size() == 2);
    CHECK(b.station.frames[0]->length == 60);
    CHECK(bytes_of(*b.station.frames[1]) == whole);
    CHECK(b.done(ring, 8));
    CHECK_FALSE(b.done(ring, 7));
  });
}

TEST_CASE("checksums are inserted where asked, and nowhere else", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    const auto good = udp_frame(33);
    auto blank = good;
    blank[24] = blank[25] = 0;
    blank[40] = 0xde;
    blank[41] = 0xad;
    b.put(ring, blank);
    b.put(ring, blank, DESC_TX_IPV4_CHECKSUM | kLengths);
    b.put(ring, blank, DESC_TX_IPV4_CHECKSUM | DESC_TX_UDP_CHECKSUM | kLengths);
    b.doorbell(ring);
    b.wait(10_us);
    REQUIRE(b.station.frames.size() == 3);
    CHECK(bytes_of(*b.station.frames[0]) == blank);
    auto only_ip = good;
    only_ip[40] = 0xde;
    only_ip[41] = 0xad;
    CHECK(bytes_of(*b.station.frames[1]) == only_ip);
    CHECK(bytes_of(*b.station.frames[2]) == good);
  });
}

TEST_CASE("only descriptors with RS are written back, in order", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    const auto frame = udp_frame(18);
    for (unsigned n = 0; n < 32; ++n) {
      const std::uint64_t at = ring.buffers;
      b.ram.write(at, frame.data(), frame.size());
      b.put(ring, at, frame.size(), DESC_TX_EOP | (n % 8 == 7 ? DESC_TX_RS : 0));
    }
    const std::uint64_t before = b.nic.counters().dma_writes;
    b.doorbell(ring);
    b.wait(20_us);
    CHECK(b.station.frames.size() == 32);
    CHECK(b.nic.counters().dma_writes - before == 4);
    for (unsigned n = 0; n < 32; ++n) CHECK(b.done(ring, n) == (n % 8 == 7));
  });
}

TEST_CASE("a transmit ring wraps, and its descriptors come in batches", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    for (unsigned round = 0; round < 10; ++round) {
      std::uint32_t last = 0;
      for (unsigned n = 0; n < 24; ++n) last = b.put(ring, udp_frame(18, static_cast<std::uint16_t>(round * 24 + n)));
      b.doorbell(ring);
      while (!b.done(ring, last)) b.wait(100_ns);
    }
    REQUIRE(b.station.frames.size() == 240);
    for (unsigned n = 0; n < 240; ++n)
      CHECK(b.station.frames[n]->bytes[34] * 256u + b.station.frames[n]->bytes[35] == n);
    // 10 batches, of which those that reach over the ring's end take two reads; and 240 frames.
    CHECK(b.nic.counters().dma_reads == 10 + 2 + 240);
  });
}

TEST_CASE("a queue sends at line rate when its slot is fast enough", "[nic]") {
  pcie::Link::Parameters slot;
  slot.generation = 4;
  NicBench b({}, slot);
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 1024);
    for (unsigned n = 0; n < 1000; ++n) b.put(ring, udp_frame(1472));
    b.doorbell(ring);
    b.wait(200_us);
    REQUIRE(b.station.times.size() == 1000);
    const base::Time frame = 80_ps * (1514 + 24);
    // From the 100th frame on, one follows the other directly.
    CHECK(b.station.times[999] - b.station.times[99] == frame * 900);
  });
}

TEST_CASE("queues take turns, frame by frame", "[nic]") {
  nic::DescriptorParameters p;
  p.queues = 3;
  NicBench b(p);
  b.run([&] {
    std::vector<NicBench::TxRing> rings;
    for (unsigned q = 0; q < 3; ++q) {
      rings.push_back(b.transmit_ring(q, 64));
      for (unsigned n = 0; n < 10; ++n) b.put(rings[q], udp_frame(18, static_cast<std::uint16_t>(q)));
      b.doorbell(rings[q]);
    }
    b.wait(5_us);
    CHECK(b.station.frames.empty());  // transmit is disabled: descriptors are there, no frame starts
    b.on();
    b.wait(10_us);
    REQUIRE(b.station.frames.size() == 30);
    for (unsigned n = 3; n < 30; ++n) CHECK(b.station.frames[n]->bytes[35] == b.station.frames[n - 3]->bytes[35]);
    CHECK(b.station.frames[0]->bytes[35] != b.station.frames[1]->bytes[35]);
  });
}

TEST_CASE("malformed descriptors lose their frame, are counted and completed, and the queue goes on", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 128);
    const auto frame = udp_frame(18);
    const std::uint64_t at = ring.buffers + 0x1'0000;
    b.ram.write(at, frame.data(), frame.size());
    std::vector<std::uint32_t> last;
    const std::uint64_t end = DESC_TX_EOP | DESC_TX_RS;
    last.push_back(b.put(ring, at, 0, end));                          // no bytes
    last.push_back(b.put(ring, at, 60, end | DESC_TX_TYPE_DONE));     // not a data descriptor
    last.push_back(b.put(ring, at, 13, end));                         // no whole Ethernet header
    last.push_back(b.put(ring, at, 1515, end));                       // longer than the limit
    last.push_back(b.put(ring, at, 60, end | 0x0200));                // half a checksum field
    last.push_back(b.put(ring, at, 60, end | DESC_TX_UDP_CHECKSUM));  // without lengths
    b.put(ring, at, 30, DESC_TX_RS);                                  // RS before the end
    last.push_back(b.put(ring, at, 30, end));
    for (unsigned n = 0; n < 8; ++n) b.put(ring, at, 10, 0);  // nine pieces
    last.push_back(b.put(ring, at, 10, end));
    for (unsigned n = 0; n < 40; ++n) b.put(ring, at, 10, 0);  // and many more than fit into a batch
    last.push_back(b.put(ring, at, 10, end));
    const std::uint64_t not_ip = DESC_TX_IPV4_CHECKSUM | 8ull << DESC_TX_MAC_LENGTH_SHIFT | 5ull << 23;
    last.push_back(b.put(ring, at, 60, end | not_ip));
    last.push_back(b.put(ring, frame));
    b.doorbell(ring);
    b.wait(20_us);
    CHECK(b.stat(DESC_STAT_TX_DROP_DESCRIPTOR) == 10);
    CHECK(b.stat(DESC_STAT_TX_PACKETS) == 1);
    for (const std::uint32_t i : last) CHECK(b.done(ring, i));
    CHECK(b.station.frames.size() == 1);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_DESCRIPTOR);
  });
}

TEST_CASE("unreadable data loses the frame, unreadable descriptors stop the queue", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    b.put(ring, 0x1000, 60, DESC_TX_EOP | DESC_TX_RS);
    b.put(ring, NicBench::kRam + (128 << 20) - 30, 60, DESC_TX_EOP | DESC_TX_RS);
    b.put(ring, udp_frame(18));
    b.doorbell(ring);
    b.wait(20_us);
    CHECK(b.stat(DESC_STAT_TX_DROP_DMA) == 2);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_DMA);
    CHECK(b.station.frames.size() == 1);
    CHECK(b.done(ring, 0));
    CHECK(b.done(ring, 1));
    CHECK_FALSE(b.read(DESC_QUEUE(0) + DESC_TX_CONTROL) & DESC_RING_ERROR);

    b.write(DESC_QUEUE(0) + DESC_TX_CONTROL, 0);
    CHECK(b.read(DESC_QUEUE(0) + DESC_TX_CONTROL) == 0);
    b.write(DESC_QUEUE(0) + DESC_TX_BASE_LOW, 0x1000);
    b.write(DESC_QUEUE(0) + DESC_TX_BASE_HIGH, 0);
    b.write(DESC_QUEUE(0) + DESC_TX_CONTROL, DESC_RING_ENABLE);
    b.write(DESC_QUEUE(0) + DESC_TX_TAIL, 3);
    b.wait(5_us);
    CHECK(b.read(DESC_QUEUE(0) + DESC_TX_CONTROL) & DESC_RING_ERROR);
    CHECK(b.station.frames.size() == 1);
  });
}

TEST_CASE("software's mistakes with a transmit ring are counted and change nothing", "[nic]") {
  nic::DescriptorParameters p;
  p.queues = 2;
  NicBench b(p);
  b.run([&] {
    b.on();
    const auto q = DESC_QUEUE(1);
    b.write(q + DESC_TX_TAIL, 1);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_TAIL);
    CHECK(b.read(DESC_ERROR_QUEUE_FIRST) == 1);
    b.write(DESC_ERRORS, ~0u);
    b.write(q + DESC_TX_CONTROL, DESC_RING_ENABLE);
    b.write(q + DESC_TX_LENGTH, 100);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_VALUE);
    CHECK(b.read(q + DESC_TX_LENGTH) == 0);
    b.write(DESC_ERRORS, ~0u);
    auto ring = b.transmit_ring(1, 64);
    b.write(q + DESC_TX_LENGTH, 128);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_RING_BUSY);
    CHECK(b.read(q + DESC_TX_LENGTH) == 64);
    b.write(DESC_ERRORS, ~0u);
    b.write(q + DESC_TX_TAIL, 64);
    b.write(q + DESC_TX_TAIL, 0xffffffff);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_TAIL);
    CHECK(b.read(q + DESC_TX_TAIL) == 0);
    b.wait(5_us);
    CHECK(b.nic.counters().dma_reads == 0);
    b.put(ring, udp_frame(18));
    b.doorbell(ring);
    b.wait(5_us);
    CHECK(b.station.frames.size() == 1);
  });
}

TEST_CASE("a transmit ring can be stopped and reset under traffic", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto fill = [&] {
      auto ring = b.transmit_ring(0, 256);
      for (unsigned n = 0; n < 200; ++n) b.put(ring, udp_frame(400));
      b.doorbell(ring);
      return ring;
    };
    fill();
    b.wait(2500_ns);
    b.write(DESC_QUEUE(0) + DESC_TX_CONTROL, 0);
    while (b.read(DESC_QUEUE(0) + DESC_TX_CONTROL) & DESC_RING_ACTIVE) b.wait(100_ns);
    b.wait(5_us);
    const std::size_t first = b.station.frames.size();
    CHECK(first > 0);
    CHECK(first < 200);
    CHECK(b.stat(DESC_STAT_TX_PACKETS) == first);

    fill();
    b.wait(2500_ns);
    b.write(DESC_CONTROL, DESC_CONTROL_RESET);
    while (b.read(DESC_CONTROL) & DESC_CONTROL_RESET) b.wait(100_ns);
    b.wait(5_us);
    const std::size_t second = b.station.frames.size();
    CHECK(second > first);
    CHECK(second < first + 200);

    b.on();
    auto ring = b.transmit_ring(0, 64);
    b.put(ring, udp_frame(18));
    b.doorbell(ring);
    b.wait(10_us);
    CHECK(b.station.frames.size() == second + 1);
    b.station.frames.clear();
  });
  CHECK(net::PacketPool::instance().taken() == 0);
}

TEST_CASE("a tail that overtakes frames not yet sent is refused", "[nic]") {
  NicBench b;
  b.run([&] {
    auto ring = b.transmit_ring(0, 64);  // transmit is disabled: nothing leaves
    for (unsigned n = 0; n < 63; ++n) b.put(ring, udp_frame(18, static_cast<std::uint16_t>(n)));
    b.doorbell(ring);
    b.write(DESC_QUEUE(0) + DESC_TX_TAIL, 5);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_TAIL);
    CHECK(b.read(DESC_QUEUE(0) + DESC_TX_TAIL) == 63);
    b.on();
    b.wait(10_us);
    CHECK(b.station.frames.size() == 63);
    b.write(DESC_QUEUE(0) + DESC_TX_TAIL, 5);  // now they are software's again, and it may give them
    CHECK(b.read(DESC_QUEUE(0) + DESC_TX_TAIL) == 5);
  });
}

TEST_CASE("data that arrives after a reset touches no frame of somebody else", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    for (unsigned n = 0; n < 20; ++n) b.put(ring, std::vector<std::uint8_t>(500, 0xaa));
    b.doorbell(ring);
    while (b.nic.counters().dma_reads < 10) b.wait(10_ns);
    b.write(DESC_CONTROL, DESC_CONTROL_RESET);
    while (b.nic.statistic(DESC_STAT_TX_PACKETS) == 0 && b.read(DESC_CONTROL) == 0) b.wait(10_ns);
    REQUIRE(b.nic.statistic(DESC_STAT_TX_PACKETS) == 0);  // the reset was faster than the data
    std::vector<net::PacketPtr> others;
    for (unsigned n = 0; n < 30; ++n) {
      others.push_back(net::make_packet());
      std::memset(others.back()->bytes, 0x77, 500);
    }
    b.wait(10_us);
    for (const auto& p : others) CHECK(std::all_of(p->bytes, p->bytes + 500, [](std::uint8_t v) { return v == 0x77; }));
    CHECK(b.read(DESC_CONTROL) == 0);
  });
  CHECK(net::PacketPool::instance().taken() == 0);
}

TEST_CASE("frames given while the link is down are lost and completed", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    b.wire.set_up(false);
    b.put(ring, udp_frame(18));
    b.doorbell(ring);
    b.wait(10_us);
    CHECK(b.stat(DESC_STAT_TX_DROP_LINK) == 1);
    CHECK(b.stat(DESC_STAT_TX_PACKETS) == 0);
    CHECK(b.done(ring, 0));
    CHECK(b.station.frames.empty());
  });
}

TEST_CASE("a frame's departure is noted where it asks for it", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    const auto stamp = [](std::uint64_t entry) -> std::uint64_t {
      return DESC_TX_STAMP | entry << DESC_TX_STAMP_SHIFT;
    };
    const auto value = [&](unsigned entry) {
      return std::uint64_t{b.read(DESC_TX_STAMP_HIGH(entry))} << 32 | b.read(DESC_TX_STAMP_LOW(entry));
    };
    // Three frames, one after the other; the second and the third ask for a stamp.
    for (const std::uint64_t flags : {std::uint64_t{0}, stamp(3), stamp(40)}) b.put(ring, udp_frame(64), flags);
    b.doorbell(ring);
    b.wait(10_us);
    REQUIRE(b.station.times.size() == 3);
    CHECK(b.read(DESC_TX_STAMP_READY(0)) == 1u << 3);
    CHECK(b.read(DESC_TX_STAMP_READY(1)) == 1u << 8);
    const auto left = [&](unsigned frame) {
      return (b.station.times[frame] - 10_ns - b.wire.octets(Wire::kB, 64 + 42 + Wire::kFcs)) / 1_ns;
    };
    CHECK(value(3) == left(1));
    CHECK(value(40) == left(2));
    CHECK(value(4) == 0);
    // An entry that nobody has read keeps its stamp.
    b.put(ring, udp_frame(64), stamp(3));
    b.doorbell(ring);
    b.wait(10_us);
    CHECK(value(3) == left(1));
    b.write(DESC_TX_STAMP_READY(0), 1u << 3);
    CHECK(b.read(DESC_TX_STAMP_READY(0)) == 0);
    CHECK(b.read(DESC_TX_STAMP_READY(1)) == 1u << 8);
    CHECK(value(3) == 0);
    b.put(ring, udp_frame(64), stamp(3));
    b.doorbell(ring);
    b.wait(10_us);
    CHECK(value(3) == left(4));
    CHECK(b.read(DESC_ERRORS) == 0);
  });
}

TEST_CASE("frames that the carrier leaves behind on their way out are neither stamped nor captured", "[nic]") {
  const base::Time down = 2300_ns;
  constexpr unsigned kFrames = 8;
  NicBench b;
  unsigned captured = 0;
  b.wire.add_tap(net::Wire::kB, [&captured](const net::Packet&, net::Wire::Direction d, base::Time) {
    captured += d == net::Wire::Direction::kSent;
  });
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    for (std::uint64_t n = 0; n < kFrames; ++n) b.put(ring, udp_frame(1400), DESC_TX_STAMP | n << DESC_TX_STAMP_SHIFT);
    b.doorbell(ring);
    base::calendar().after(down, 0, [&b] { b.wire.set_up(false); });
    b.wait(10_us);
    const auto stamped = static_cast<unsigned>(std::popcount(b.read(DESC_TX_STAMP_READY(0))));
    const auto arrived = static_cast<unsigned>(b.station.frames.size());
    CHECK(arrived > 0);
    CHECK(arrived < kFrames);
    // At most one frame was leaving when the carrier went.
    CHECK((stamped >= arrived && stamped <= arrived + 1));
    CHECK((captured >= arrived && captured <= arrived + 1));
  });
}

TEST_CASE("frames that never leave are not stamped, and a reset forgets stamps", "[nic]") {
  NicBench b;
  b.run([&] {
    b.on();
    auto ring = b.transmit_ring(0, 64);
    b.wire.set_up(false);
    b.put(ring, udp_frame(64), DESC_TX_STAMP);
    b.doorbell(ring);
    b.wait(10_us);
    CHECK(b.read(DESC_TX_STAMP_READY(0)) == 0);
    b.wire.set_up(true);
    b.put(ring, udp_frame(64), DESC_TX_STAMP);
    b.doorbell(ring);
    b.wait(10_us);
    CHECK(b.read(DESC_TX_STAMP_READY(0)) == 1);
    // A stamp may only be asked for in a frame's last descriptor.
    b.put(ring, ring.buffers, 64, DESC_TX_STAMP);
    b.put(ring, ring.buffers, 64, DESC_TX_EOP | DESC_TX_RS);
    b.doorbell(ring);
    b.wait(10_us);
    CHECK(b.read(DESC_ERRORS) == DESC_ERROR_DESCRIPTOR);
    b.write(DESC_CONTROL, DESC_CONTROL_RESET);
    CHECK(b.read(DESC_TX_STAMP_READY(0)) == 0);
  });
}
