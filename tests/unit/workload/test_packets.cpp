// SPDX-License-Identifier: Apache-2.0
#include "models/net/headers.h"
#include "tests/unit/workload/packets_bench.h"

using namespace sluice;
using namespace sluice::workload;
using namespace sluice::base::literals;

TEST_CASE("a packet takes exactly wire, board and wire", "[packets]") {
  for (const std::uint32_t size : {64u, 65u, 1518u}) {
    CAPTURE(size);
    PacketsParameters p = slowly(50);
    p.sizes = std::to_string(size);
    Bench b(p);
    const auto& r = b.go();
    REQUIRE(r.sent == 50);
    REQUIRE(r.returned == 50);
    REQUIRE(r.first_error == "");
    // Preamble and frame with FCS there and back at 80 ps an octet, twice 10 ns of flight, 1 us at the board.
    const base::Time expected = base::Time::ps(2 * (8 + size) * 80) + 20_ns + 1_us;
    REQUIRE(r.latency.min() == expected.femtoseconds());
    REQUIRE(r.latency.max() == expected.femtoseconds());
    const auto wire = base::ledger().component("wire"), board = base::ledger().component("reflector");
    REQUIRE(base::ledger().total(wire, SLUICE_STAGE_wire).femtoseconds ==
            50 * (base::Time::ps(2 * (8 + size) * 80) + 20_ns).femtoseconds());
    REQUIRE(base::ledger().total(board, SLUICE_STAGE_handler).femtoseconds == 50 * (1_us).femtoseconds());
  }
}

TEST_CASE("an l2 frame has addresses, the type for experiments and its number", "[packets]") {
  Bench b(slowly(2));
  b.go();
  REQUIRE(b.board.frames.size() == 2);
  const auto& f = b.board.frames[1];
  REQUIRE(f.size() == 60);
  REQUIRE(std::vector<std::uint8_t>(f.begin(), f.begin() + 14) ==
          std::vector<std::uint8_t>{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5});
  REQUIRE(std::vector<std::uint8_t>(f.begin() + 16, f.begin() + 24) ==
          std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0, 2});
  REQUIRE(b.board.frames[0] != f);
}

TEST_CASE("udp frames have right checksums and use their source ports in turn", "[packets]") {
  PacketsParameters p = packets(300, "64,65,1518");
  p.format = PacketFormat::udp;
  p.flows = 3;
  Bench b(p);
  const auto& r = b.go();
  REQUIRE(r.first_error == "");
  REQUIRE(r.returned == 900);
  REQUIRE(b.board.frames.size() == 900);
  for (std::size_t i = 0; i < 900; ++i) {
    const auto& f = b.board.frames[i];
    REQUIRE(f.size() == (i < 300 ? 60u : i < 600 ? 61u : 1514u));
    const net::Headers h = net::parse_headers(f.data(), f.size());
    REQUIRE(h.udp);
    REQUIRE(h.ip_checksum_good);
    REQUIRE(h.udp_checksum_good);
    REQUIRE((f[40] != 0 || f[41] != 0));
    REQUIRE(h.source == 0x0a000001);
    REQUIRE(h.destination == 0x0a000002);
    REQUIRE(h.source_port == 40'000 + (i + 1) % 3);
    REQUIRE(h.destination_port == 9);
  }
}

TEST_CASE("frames that keep their addresses are asked for", "[packets]") {
  const auto swap_back = [](unsigned, net::Packet& p) {
    std::swap_ranges(p.bytes, p.bytes + 6, p.bytes + 6);
    if (p.bytes[12] != 0x08) return;
    std::swap_ranges(p.bytes + 26, p.bytes + 30, p.bytes + 30);
    std::swap_ranges(p.bytes + 34, p.bytes + 36, p.bytes + 36);
  };
  for (const PacketFormat format : {PacketFormat::l2, PacketFormat::udp}) {
    CAPTURE(static_cast<int>(format));
    PacketsParameters p = packets(300);
    p.format = format;
    p.flows = 3;
    p.addresses = PacketAddresses::kept;
    Bench b(p);
    b.board.spoil = swap_back;
    const auto& r = b.go();
    REQUIRE(r.first_error == "");
    REQUIRE(r.wrong == 0);
    REQUIRE(r.returned == 300);
  }
  PacketsParameters p = slowly(3);
  p.addresses = PacketAddresses::kept;
  Bench b(p);
  const auto& r = b.go();
  REQUIRE(r.wrong == 3);
  REQUIRE(r.first_error == "packet 1: byte 5 is 0x01, not 0x02");
}

TEST_CASE("any byte that differs is found, whatever it is", "[packets]") {
  for (const PacketFormat format : {PacketFormat::l2, PacketFormat::udp}) {
    // Without the type, the protocol, the port and the number, a frame is none of the source's.
    const auto unknown = [&](unsigned at) {
      if (format == PacketFormat::l2) return at == 12 || at == 13 || (at >= 16 && at < 24);
      return at == 12 || at == 13 || at == 23 || at == 36 || at == 37 || (at >= 44 && at < 52);
    };
    for (unsigned at = 0; at < 60; ++at) {
      if (unknown(at)) continue;
      CAPTURE(static_cast<int>(format), at);
      PacketsParameters p = slowly(3);
      p.format = format;
      Bench b(p);
      std::uint8_t now = 0;
      b.board.spoil = [&](unsigned n, net::Packet& packet) {
        if (n == 1) now = packet.bytes[at] ^= 0x80;
      };
      const auto& r = b.go();
      REQUIRE(r.wrong == 1);
      REQUIRE(r.returned == 3);
      REQUIRE(r.first_error == fmt::format("packet 2: byte {} is {:#04x}, not {:#04x}", at, now, now ^ 0x80));
    }
  }
}

TEST_CASE("a frame of another length, or one that is only sent back, is wrong", "[packets]") {
  Bench b(slowly(4));
  b.board.spoil = [](unsigned n, net::Packet& p) {
    if (n == 0) ++p.length;
    if (n == 2) --p.bytes[14];  // as it came, but for the addresses
  };
  const auto& r = b.go();
  REQUIRE(r.wrong == 2);
  REQUIRE(r.first_error == "packet 1: it has 61 bytes without FCS, not 60");
}

TEST_CASE("a frame without the number of a packet under way is none", "[packets]") {
  Bench b(slowly(3));
  b.board.spoil = [](unsigned n, net::Packet& p) {
    if (n == 0) p.bytes[16] = 1;  // a number far above
    if (n == 1) p.bytes[12] = 0;  // another type
  };
  const auto& r = b.go();
  REQUIRE(r.returned == 1);
  REQUIRE(r.lost == 2);
  REQUIRE(b.source.host_statistics().unexpected == 2);
}

TEST_CASE("lost and dropped packets are told apart, and dropped ones are known at once", "[packets]") {
  Bench b(slowly(10));
  b.board.ignore = {2, 5};
  b.board.drop = {3};
  const auto& r = b.go();
  REQUIRE(r.returned == 7);
  REQUIRE(r.lost == 2);
  REQUIRE(r.dropped == std::map<std::string, std::uint64_t>{{"no descriptor", 1}});
  REQUIRE(r.wrong + r.reordered + r.repeated + r.late == 0);
  // Packet 6 left 50 us behind the first and is given up a millisecond later; all others have ended by then.
  REQUIRE(base::now() == r.first_sent + 50_us + 1_ms);
}

TEST_CASE("a packet that comes back twice is an error, one that comes back late is not", "[packets]") {
  {
    Bench b(slowly(5));
    b.board.repeat = {1};
    const auto& r = b.go();
    REQUIRE(r.returned == 5);
    REQUIRE(r.repeated == 1);
    REQUIRE(r.first_error == "packet 2: it came back though it had come back or been dropped before");
  }
  Bench b(slowly(5));
  b.board.slow = {1};
  const auto& r = b.go();
  REQUIRE(r.returned == 4);
  REQUIRE(r.lost == 1);
  b.drain();
  REQUIRE(r.late == 1);
  REQUIRE(r.repeated == 0);
  REQUIRE(r.first_error == "");
}

TEST_CASE("order counts within a flow only", "[packets]") {
  {
    Bench b(slowly(5));
    b.board.behind = {1};
    const auto& r = b.go();
    REQUIRE(r.returned == 5);
    REQUIRE(r.reordered == 1);
    REQUIRE(r.first_error == "packet 2: it came back behind packet 3 of its flow");
  }
  PacketsParameters p = slowly(5);
  p.format = PacketFormat::udp;
  p.flows = 2;
  Bench b(p);
  b.board.behind = {1};
  const auto& r = b.go();
  REQUIRE(r.returned == 5);
  REQUIRE(r.reordered == 0);
  REQUIRE(r.first_error == "");
}

TEST_CASE("the packets of the warm-up are sent and not counted", "[packets]") {
  PacketsParameters p = packets(20, "64,128");
  p.warmup = 5;
  Bench b(p);
  b.board.drop = {4};
  const auto& r = b.go();
  REQUIRE(b.board.arrivals.size() == 50);
  REQUIRE(b.measuring_after == 3);  // the sixth frame leaves at 33.6 ns, the fourth arrives at 35.92 ns
  REQUIRE(r.sent == 40);
  REQUIRE(r.returned == 40);
  REQUIRE(r.dropped.empty());
  REQUIRE(b.source.trials().size() == 2);
  for (const auto& t : b.source.trials()) REQUIRE(t.sent == 20);
  REQUIRE(base::ledger().opened() == 40);
}

TEST_CASE("a wire that goes down under the last packet of a size does not stop the next size", "[packets]") {
  Bench b(packets(10, "64,128"));
  b.source.start();
  while (!b.source.running()) base::calendar().dispatch();
  b.wire.set_up(false);
  while (b.source.trials().size() < 2) base::calendar().dispatch();
  REQUIRE(b.source.trials()[0].dropped == 10);
  b.wire.set_up(true);
  while (!b.source.finished()) base::calendar().dispatch();
  REQUIRE(b.source.results().dropped == std::map<std::string, std::uint64_t>{{"link down", 10}});
  REQUIRE(b.source.trials()[1].returned == 10);
  REQUIRE(b.source.results().in_flight() == 0);
  for (const base::Time end = base::now() + 1_us; base::calendar().next() < end;) base::calendar().dispatch();
  REQUIRE(b.wire.statistics(net::Wire::kA).frames == 1 + 20);  // the first asks for the address
}
