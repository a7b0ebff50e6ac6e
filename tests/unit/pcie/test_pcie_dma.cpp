// SPDX-License-Identifier: Apache-2.0
/// The DMA engine against a root complex with memory: splits, alignment, tags, errors, closed forms.
#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

#include "tests/unit/pcie/dma_bench.h"

using namespace sluice;
using namespace sluice::pcie;

namespace {

std::uint64_t tlps(PcieBench& b, TlpType type) { return b.link.up().statistics().tlps[static_cast<unsigned>(type)]; }
std::uint64_t tlps_down(PcieBench& b, TlpType type) {
  return b.link.down().statistics().tlps[static_cast<unsigned>(type)];
}

}  // namespace

TEST_CASE("writes of any alignment and length put exactly their bytes in memory", "[pcie]") {
  PcieBench b;
  b.enumerate();
  for (const std::uint64_t start : {0u, 1u, 3u, 62u, 4093u}) {
    for (const std::size_t length : {1u, 2u, 5u, 64u, 255u, 257u, 1500u, 9000u}) {
      std::fill_n(b.memory.ram.at(kRam), 16384, std::uint8_t{0xee});
      const auto data = pattern(length);
      REQUIRE(b.device.dma_write(kRam + start, data, {}));
      b.settle();
      const std::uint8_t* p = b.memory.ram.at(kRam);
      REQUIRE(std::equal(data.begin(), data.end(), p + start));
      REQUIRE(std::all_of(p, p + start, [](std::uint8_t v) { return v == 0xee; }));
      REQUIRE(std::all_of(p + start + length, p + 16384, [](std::uint8_t v) { return v == 0xee; }));
    }
  }
}

TEST_CASE("reads of any alignment and length bring exactly the memory's bytes", "[pcie]") {
  const base::Bytes size = GENERATE(64_B, 128_B, 256_B);
  PcieBench b({.root = {.completion_size = size}});
  b.enumerate();
  const auto all = pattern(32768, 5);
  b.memory.ram.write(kRam, all.data(), all.size());
  for (const std::uint64_t start : {0u, 1u, 3u, 62u, 4093u}) {
    for (const std::uint32_t length : {1u, 2u, 5u, 64u, 255u, 257u, 1500u, 9000u}) {
      Outcome o;
      read(b, kRam + start, length, o);
      b.settle();
      REQUIRE(o.done);
      REQUIRE(o.status == DmaStatus::kOk);
      REQUIRE(o.data.size() == length);
      REQUIRE(std::equal(o.data.begin(), o.data.end(), all.begin() + static_cast<std::ptrdiff_t>(start)));
    }
  }
  REQUIRE(b.device.reads_in_flight() == 0);
  REQUIRE(b.device.counters().unexpected_completions == 0);
}

TEST_CASE("transfers split at MPS, MRRS, the completion size and 4 KiB", "[pcie]") {
  PcieBench b({.root = {.completion_size = 256_B}});
  b.enumerate();
  const auto count = [&](TlpType type, auto action) {
    const std::uint64_t before = tlps(b, type);
    action();
    b.settle();
    return tlps(b, type) - before;
  };
  Outcome o;
  const auto data = pattern(4096);
  const auto write = [&](std::uint64_t at, std::size_t n) {
    return count(TlpType::kMWr, [&] { b.device.dma_write(at, {data.data(), n}, {}); });
  };
  REQUIRE(write(kRam, 256) == 1);
  REQUIRE(write(kRam, 257) == 2);
  REQUIRE(write(kRam, 1024) == 4);
  REQUIRE(write(kRam + 4096 - 8, 16) == 2);  // crosses a page
  REQUIRE(count(TlpType::kMRd, [&] { read(b, kRam, 512, o); }) == 1);
  REQUIRE(count(TlpType::kMRd, [&] { read(b, kRam, 513, o); }) == 2);
  REQUIRE(count(TlpType::kMRd, [&] { read(b, kRam + 4000, 200, o); }) == 2);

  const std::uint64_t before = tlps_down(b, TlpType::kCplD);
  read(b, kRam, 512, o);
  b.settle();
  REQUIRE(tlps_down(b, TlpType::kCplD) - before == 2);
}

TEST_CASE("completions end at multiples of the completion size", "[pcie]") {
  using Lengths = std::vector<unsigned>;
  const auto [size, max_payload, expected] =
      GENERATE(std::tuple{64_B, 256u, Lengths{28, 64, 64, 64, 64, 16}},
               std::tuple{128_B, 256u, Lengths{28, 128, 128, 16}}, std::tuple{256_B, 256u, Lengths{156, 144}},
               // Software has set a smaller maximum payload than the board.
               std::tuple{256_B, 128u, Lengths{28, 128, 128, 16}});
  PcieBench b({.root = {.completion_size = size}});
  b.enumerate();
  if (max_payload == 128u) {
    b.run([&](ScriptedHart& h) {
      const auto port = routing_id(0, 1, 0);
      const unsigned express = b.root.bridge(0).config().find_capability(PCIE_CAPABILITY_ID_EXPRESS);
      h.write(b.ecam(port, express + PCIE_EXPRESS_DEVICE_CONTROL), 0, 2);
    });
  }
  Lengths lengths;
  b.link.down().add_tap([&](const Tlp& t, base::Time, base::Time) {
    if (t.type == TlpType::kCplD) lengths.push_back(t.payload_bytes());
  });
  Outcome o;
  read(b, kRam + 100, 300, o);
  b.settle();
  REQUIRE(o.data.size() == 300);
  REQUIRE(lengths == expected);
}

TEST_CASE("software finds the read completion boundary at the root port", "[pcie]") {
  const base::Bytes boundary = GENERATE(64_B, 128_B);
  PcieBench b({.root = {.read_completion_boundary = boundary}});
  b.enumerate();
  b.root.reset();
  const ConfigSpace& c = b.root.bridge(0).config();
  const unsigned control = c.find_capability(PCIE_CAPABILITY_ID_EXPRESS) + PCIE_EXPRESS_LINK_CONTROL;
  REQUIRE(c.get16(control) == (boundary == 128_B ? PCIE_EXPRESS_LINK_CONTROL_RCB_128 : 0));
}

TEST_CASE("an unaligned transfer sends no TLP of more whole DWs than MPS and MRRS allow", "[pcie]") {
  // Credits for no more than one payload of MPS: a longer one would never start.
  PcieBench b({.link = {.posted_data = 16}});
  b.enumerate();
  unsigned longest_write = 0;
  unsigned longest_read = 0;
  b.link.up().add_tap([&](const Tlp& t, base::Time, base::Time) {
    if (t.type == TlpType::kMWr) longest_write = std::max(longest_write, t.length * 4u);
    if (t.type == TlpType::kMRd) longest_read = std::max(longest_read, t.length * 4u);
  });
  const auto data = pattern(1000);
  for (const std::uint64_t start : {1u, 2u, 3u}) {
    REQUIRE(b.device.dma_write(kRam + start, data, {}));
    Outcome o;
    read(b, kRam + start, 1000, o);
    b.settle();
    CHECK(o.data == data);
  }
  CHECK(longest_write == 256);
  CHECK(longest_read == 512);
}

TEST_CASE("a read's cost on the links is the arithmetic's", "[pcie]") {
  const auto [size, completions] = GENERATE(std::pair{64_B, 24u}, std::pair{128_B, 12u}, std::pair{256_B, 6u});
  PcieBench b({.root = {.completion_size = size}});
  b.enumerate();
  const std::uint64_t up = b.link.up().statistics().bytes;
  const std::uint64_t down = b.link.down().statistics().bytes;
  const std::uint64_t payload = b.link.down().statistics().payload_bytes;
  Outcome o;
  DmaOptions options;
  options.content = Content::kPayload;
  read(b, kRam, 1536, o, options);
  b.settle();
  REQUIRE(b.link.up().statistics().bytes - up == 3 * 20);  // 32-bit addresses: 20 B; ceil(1536 / MRRS) of them
  REQUIRE(b.link.down().statistics().bytes - down == completions * 20 + 1536);
  REQUIRE(b.link.down().statistics().payload_bytes - payload == 1536);
}

TEST_CASE("with one read outstanding, its latency is the sum of its parts", "[pcie]") {
  PcieBench b;
  b.enumerate();
  b.settle();
  Outcome o;
  read(b, kRam, 64, o);
  b.settle();
  const base::Time expected = 100_ns + b.link.up().wire_time(20) + 5_ns + RootComplex::Parameters{}.read_latency +
                              50_ns + b.link.down().wire_time(20 + 64) + 5_ns + 100_ns;
  REQUIRE(o.at - o.issued == expected);

  // A larger read has two completions of 128 B in the place of the one of 64 B.
  read(b, kRam, 256, o);
  b.settle();
  REQUIRE(o.at - o.issued == expected - b.link.down().wire_time(20 + 64) + b.link.down().wire_time(20 + 128) * 2);
}

TEST_CASE("100 ns more in one latency parameter is 100 ns more in a read", "[pcie]") {
  const auto latency = [](auto change) {
    PcieBench::Options options;
    FlatMemory* memory = nullptr;
    change(options, memory);
    PcieBench b(options);
    b.enumerate();
    Outcome o;
    read(b, kRam, 64, o);
    b.settle();
    return o.at - o.issued;
  };
  const base::Time plain = latency([](auto&, auto) {});
  REQUIRE(latency([](auto& o, auto) { o.root.read_latency += 100_ns; }) == plain + 100_ns);
  REQUIRE(latency([](auto& o, auto) { o.endpoint.transmit_latency += 100_ns; }) == plain + 100_ns);
  REQUIRE(latency([](auto& o, auto) { o.endpoint.receive_latency += 100_ns; }) == plain + 100_ns);
  REQUIRE(latency([](auto& o, auto) { o.link.flight += 100_ns; }) == plain + 200_ns);  // two traversals
  REQUIRE(latency([](auto& o, auto) { o.root.write_latency += 100_ns; }) == plain);
  REQUIRE(latency([](auto& o, auto) { o.root.outbound_latency += 100_ns; }) == plain);
}

TEST_CASE("tags run out and come back", "[pcie]") {
  PcieBench b({.endpoint = {.tags = 2}});
  b.enumerate();
  Outcome o[5];
  for (int i = 0; i < 5; ++i) read(b, kRam + 64u * static_cast<unsigned>(i), 64, o[i]);
  REQUIRE(b.device.reads_in_flight() == 5);
  b.settle();
  for (const Outcome& x : o) REQUIRE(x.done);
  REQUIRE(b.device.counters().tag_stalls == 3);
  // Two at a time: the third waits for the first one's completion, and so on.
  const base::Time completion = b.link.down().wire_time(84);
  const base::Time alone = 100_ns + b.link.up().wire_time(20) + 5_ns + kServed + completion + 105_ns;
  REQUIRE(o[0].at == o[0].issued + alone);
  REQUIRE(o[1].at == o[0].at + completion);
  REQUIRE(o[2].at == o[0].at + alone);
  REQUIRE(o[3].at == o[1].at + alone);
  REQUIRE(o[4].at == o[2].at + alone);
}

TEST_CASE("a root complex serves as many reads at once as it can", "[pcie]") {
  PcieBench b({.root = {.reads = 1}});
  b.enumerate();
  Outcome first, second;
  read(b, kRam, 64, first);
  read(b, kRam + 64, 64, second);
  b.settle();
  REQUIRE(second.at - first.at == kServed);  // memory and root complex, one after the other
}

TEST_CASE("a read of nowhere is an unsupported request", "[pcie]") {
  PcieBench b;
  b.enumerate();
  Outcome o, over, good;
  read(b, 0x10, 64, o);
  read(b, kRam + (16u << 20) - 32, 64, over);  // the end of RAM is inside
  read(b, kRam, 64, good);
  b.settle();
  REQUIRE(o.status == DmaStatus::kUnsupportedRequest);
  REQUIRE(o.data.empty());
  REQUIRE(over.status == DmaStatus::kUnsupportedRequest);
  REQUIRE(good.status == DmaStatus::kOk);
  REQUIRE(b.root.counters().unsupported_requests == 2);
  REQUIRE(b.device.counters().dma_errors == 2);
}

TEST_CASE("a write to nowhere is dropped and counted", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const auto data = pattern(64);
  REQUIRE(b.device.dma_write(0x10, data, {}));
  b.settle();
  REQUIRE(b.root.counters().unsupported_requests == 1);
  REQUIRE(b.soc.messages.empty());
}

TEST_CASE("no DMA without bus mastering", "[pcie]") {
  PcieBench b;
  b.enumerate();
  b.run([&](ScriptedHart& h) { h.write(b.ecam(b.endpoint().id, PCIE_COMMAND), PCIE_COMMAND_MEMORY, 2); });
  Outcome o;
  const auto data = pattern(64);
  REQUIRE_FALSE(b.device.dma_write(kRam, data, {}));
  read(b, kRam, 64, o);
  REQUIRE_FALSE(o.done);  // told later, never from inside the call
  b.settle();
  REQUIRE(o.status == DmaStatus::kBusMasterOff);
  REQUIRE(b.device.counters().dma_refused == 2);
  REQUIRE(tlps(b, TlpType::kMRd) == 0);

  // A root port whose bus mastering is off refuses the device's request.
  b.run([&](ScriptedHart& h) {
    h.write(b.ecam(b.endpoint().id, PCIE_COMMAND), PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER, 2);
    h.write(b.ecam(routing_id(0, 1, 0), PCIE_COMMAND), PCIE_COMMAND_MEMORY, 2);
  });
  read(b, kRam, 64, o);
  b.settle();
  REQUIRE(o.status == DmaStatus::kUnsupportedRequest);
}

TEST_CASE("bus mastering switched off ends the reads that wait", "[pcie]") {
  PcieBench b({.endpoint = {.tags = 1}});
  b.enumerate();
  Outcome long_one, waiting;
  read(b, kRam, 2048, long_one);  // four requests, one at a time
  read(b, kRam, 64, waiting);
  b.run([&](ScriptedHart& h) { h.write(b.ecam(b.endpoint().id, PCIE_COMMAND), PCIE_COMMAND_MEMORY, 2); });
  REQUIRE(long_one.status == DmaStatus::kBusMasterOff);
  REQUIRE(waiting.status == DmaStatus::kBusMasterOff);
  REQUIRE(b.device.reads_in_flight() == 0);
  REQUIRE(b.device.counters().dma_refused == 2);
}

TEST_CASE("empty and absurd lengths are refused", "[pcie]") {
  PcieBench b;
  b.enumerate();
  Outcome empty, absurd;
  read(b, kRam, 0, empty);
  read(b, kRam, (16u << 20) + 1, absurd);
  bool sent = false;
  REQUIRE(b.device.dma_write(kRam, {}, {}, [&](const DmaSent&) { sent = true; }));
  b.settle();
  REQUIRE(empty.status == DmaStatus::kCompleterAbort);
  REQUIRE(absurd.status == DmaStatus::kCompleterAbort);
  REQUIRE(sent);
}

TEST_CASE("what a device cannot have meant is refused", "[pcie]") {
  PcieBench b;
  b.enumerate();
  REQUIRE_THROWS_AS(b.device.dma_read(kRam, 64, {}, nullptr), std::invalid_argument);
  REQUIRE(b.device.reads_in_flight() == 0);
  REQUIRE_THROWS_WITH(b.device.resume(), "resume() without a stop()");
  b.device.stop();
  b.device.resume();
  REQUIRE_FALSE(b.device.stopped());
}

TEST_CASE("a read without an answer times out, and its late completion is unexpected", "[pcie]") {
  // The root complex takes 9 us to answer, and the device waits 5 us.
  PcieBench b({.root = {.read_latency = 9_us}, .endpoint = {.completion_timeout = 5_us}});
  b.enumerate();
  Outcome o;
  read(b, kRam, 64, o);
  b.settle();
  REQUIRE(o.status == DmaStatus::kTimeout);
  REQUIRE(o.at - o.issued == 5_us);
  REQUIRE(b.device.counters().completion_timeouts == 1);
  REQUIRE(b.device.counters().unexpected_completions == 1);
  REQUIRE(b.device.reads_in_flight() == 0);
}

TEST_CASE("a reset forgets reads in flight", "[pcie]") {
  const bool link_lost = GENERATE(false, true);
  PcieBench b({.root = {.reads = 1}, .endpoint = {.tags = 2}});
  b.memory.read = 5_us;  // served when the device has long been reset
  b.enumerate();
  Outcome flying, behind, waiting, after;
  read(b, kRam, 64, flying);
  read(b, kRam, 64, behind);
  read(b, kRam, 64, waiting);
  b.scheduler.run_until(base::now() + 1_us);
  if (link_lost) {
    b.link.reset();
  } else {
    const unsigned express = b.device.config().find_capability(PCIE_CAPABILITY_ID_EXPRESS);
    b.hart.start([&](ScriptedHart& h) {
      h.write(b.ecam(b.endpoint().id, express + PCIE_EXPRESS_DEVICE_CONTROL), PCIE_EXPRESS_DEVICE_CONTROL_FLR, 2);
    });
    b.scheduler.run_until(base::now() + 1_us);
  }
  REQUIRE(b.device.resets == 1);
  // With its link the device has lost the completions too; else it must wait for them before it reuses their tags.
  REQUIRE(b.device.reads_in_flight() == (link_lost ? 0 : 2));
  b.settle();
  REQUIRE(b.device.counters().completion_timeouts == 0);
  REQUIRE(b.device.counters().unexpected_completions == 0);
  REQUIRE(b.root.counters().dma_reads == (link_lost ? 1 : 2));
  REQUIRE_FALSE(flying.done);
  REQUIRE_FALSE(waiting.done);
  REQUIRE(b.device.reads_in_flight() == 0);
  b.enumerate();
  read(b, kRam, 64, after);
  b.settle();
  REQUIRE(after.status == DmaStatus::kOk);
}

TEST_CASE("a read begins when the writes before it are visible", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const auto data = pattern(64, 9);
  const base::Time start = base::now();
  b.device.dma_write(kRam, data, {});
  Outcome o;
  read(b, kRam, 64, o);
  const base::Time visible = start + 100_ns + b.link.up().wire_time(84) + 5_ns + kLanded;
  // What memory takes is looked up then, and not when the read arrives: the write may have brought the line to a cache.
  b.scheduler.run_until(visible - 1_ns);
  b.memory.read = 7_ns;
  b.settle();
  REQUIRE(o.data == data);
  REQUIRE(o.at == visible + RootComplex::Parameters{}.read_latency + 7_ns + b.link.down().wire_time(84) + 105_ns);
}

TEST_CASE("a read whose writes are visible before it arrives waits for nothing", "[pcie]") {
  PcieBench b;
  b.enumerate();
  b.device.dma_write(kRam, pattern(64, 9), {});
  b.scheduler.run_until(base::now() + 500_ns);
  Outcome o;
  read(b, kRam, 64, o);
  b.settle();
  REQUIRE(o.at - o.issued == 105_ns + b.link.up().wire_time(20) + kServed + b.link.down().wire_time(84) + 105_ns);
}

TEST_CASE("a read that waits for writes is forgotten with its link", "[pcie]") {
  PcieBench b({.root = {.write_latency = 900_ns, .reads = 1}});
  b.enumerate();
  b.device.dma_write(kRam, pattern(64, 9), {});
  Outcome lost, after;
  read(b, kRam, 64, lost);
  b.scheduler.run_until(base::now() + 500_ns);
  b.link.reset();
  b.settle();
  REQUIRE_FALSE(lost.done);
  b.enumerate();
  read(b, kRam, 64, after);
  b.settle();
  REQUIRE(after.data == pattern(64, 9));
}

TEST_CASE("writes land in order, whatever memory says", "[pcie]") {
  PcieBench b;
  b.enumerate();
  b.memory.write = 500_ns;
  b.device.dma_write(kRam, pattern(64, 1), {});
  // The second write takes less time in memory, but must not land first.
  b.scheduler.run_until(base::now() + 200_ns);
  b.memory.write = 0_ns;
  b.device.dma_write(kRam, pattern(64, 2), {});
  b.settle();
  REQUIRE(std::equal(b.memory.ram.at(kRam), b.memory.ram.at(kRam) + 64, pattern(64, 2).begin()));
}

TEST_CASE("a write tells when its last bit has left", "[pcie]") {
  PcieBench b;
  b.enumerate();
  DmaSent sent{};
  base::Time at;
  b.device.dma_write(kRam, pattern(600), {}, [&](const DmaSent& s) {
    sent = s;
    at = base::now();
  });
  const base::Time start = base::now();
  b.settle();
  REQUIRE(sent.issued == start);
  REQUIRE(sent.sent == at);
  REQUIRE(at - start == 100_ns + b.link.up().wire_time(20 + 256) * 2 + b.link.up().wire_time(20 + 88));
}

TEST_CASE("bytes go where the device wants them", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const auto data = pattern(700, 3);
  b.memory.ram.write(kRam + 5, data.data(), data.size());
  std::vector<std::uint8_t> own(700);
  DmaOptions options;
  options.into = own.data();
  Outcome o;
  read(b, kRam + 5, 700, o, options);
  b.settle();
  REQUIRE(own == data);
  REQUIRE(o.data == data);
}

TEST_CASE("streams of writes and reads reach the link's effective rate", "[pcie]") {
  // The default credits and tags cover the round trip at gen3 x16.
  PcieBench b;
  b.enumerate();
  const auto data = pattern(256);
  const base::Time start = base::now();
  base::Time last;
  for (int i = 0; i < 2000; ++i)
    b.device.dma_write(kRam + 256u * static_cast<unsigned>(i), data, {}, [&](const DmaSent& s) { last = s.sent; });
  b.settle();
  REQUIRE(last == start + 100_ns + b.link.up().wire_time(20 + 256) * 2000);  // the link is never idle
  const double write = 2000 * 256 * 8 / (last - start).nanoseconds();
  REQUIRE(write == Approx(113.7 * 256 / 276).epsilon(0.005));

  const base::Time begin = base::now();
  unsigned bytes = 0;
  for (int i = 0; i < 2000; ++i)
    b.device.dma_read(kRam + 512u * static_cast<unsigned>(i), 512, {}, [&](const DmaCompletion& c) {
      bytes += static_cast<unsigned>(c.data.size());
      last = base::now();
    });
  b.settle();
  REQUIRE(bytes == 2000 * 512);
  // Once the first completion has set out, the link is never idle.
  REQUIRE(last == begin + 100_ns + b.link.up().wire_time(20) + 5_ns + kServed +
                      b.link.down().wire_time(20 + 128) * (2000 * 4) + 105_ns);
  const double read_rate = bytes * 8 / (last - begin).nanoseconds();
  REQUIRE(read_rate == Approx(113.7 * 128 / 148).epsilon(0.01));
}
