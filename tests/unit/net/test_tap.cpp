// SPDX-License-Identifier: Apache-2.0
/// The end of a wire that leads outside, without a TAP device; tests/cli/test_tap.py has one.
#include <catch2/catch.hpp>

#include "models/net/tap.h"

using namespace sluice;
using namespace sluice::base::literals;
using net::Wire;

namespace {

struct Board : Wire::Client {
  void frame_arrived(net::PacketPtr p) override {
    times.push_back(base::now());
    frames.push_back(std::move(p));
  }
  std::vector<base::Time> times;
  std::vector<net::PacketPtr> frames;
};

struct Bench {
  Bench() {
    base::calendar().clear();
    base::ledger() = {};
    wire.attach(Wire::kB, board);
  }
  void from_outside(base::Time at, std::vector<std::uint8_t> frame) {
    base::calendar().at(at, base::kInputKey, [this, f = std::move(frame)] { inputs.arrive(0, f); });
  }
  static void run() {
    while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();
  }
  Wire wire{"wire", Wire::Parameters{100_Gbps, 10_ns}};
  base::Inputs inputs;
  net::TapEnd tap{"tap", wire, Wire::kA, inputs};
  Board board;
};

}  // namespace

TEST_CASE("a frame from outside is padded and enters the wire when it comes", "[tap]") {
  Bench bench;
  bench.from_outside(5_us, std::vector<std::uint8_t>(42, 0xab));
  bench.run();
  REQUIRE(bench.board.frames.size() == 1);
  CHECK(bench.board.times[0] == 5_us + 10_ns + 5760_ps);
  const net::Packet& p = *bench.board.frames[0];
  CHECK(p.length == 60);
  CHECK(p.bytes[41] == 0xab);
  CHECK(p.bytes[42] == 0);
  CHECK(p.request() == 0);
  CHECK(bench.tap.statistics().received == 1);
}

TEST_CASE("frames that come together leave one after the other", "[tap]") {
  Bench bench;
  bench.from_outside(0_ns, std::vector<std::uint8_t>(60));
  bench.from_outside(0_ns, std::vector<std::uint8_t>(60));
  bench.run();
  REQUIRE(bench.board.times.size() == 2);
  CHECK(bench.board.times[1] - bench.board.times[0] == 6720_ps);
}

TEST_CASE("a frame from outside that no wire could carry is counted", "[tap]") {
  Bench bench;
  bench.from_outside(0_ns, std::vector<std::uint8_t>(net::Packet::kCapacity));
  bench.from_outside(0_ns, std::vector<std::uint8_t>(net::Packet::kCapacity + 1));
  bench.from_outside(0_ns, {});
  bench.run();
  CHECK(bench.board.frames.size() == 2);
  CHECK(bench.tap.statistics().received == 2);
  CHECK(bench.tap.statistics().oversized == 1);
}

TEST_CASE("only sound frames go outside", "[tap]") {
  Bench bench;
  for (const bool corrupted : {false, true}) {
    net::PacketPtr p = net::make_packet();
    net::pad(*p);
    p->corrupted = corrupted;
    bench.wire.send(Wire::kB, std::move(p));
  }
  bench.run();
  CHECK(bench.tap.statistics().sent == 1);
  CHECK(bench.tap.statistics().bad_frames == 1);
  CHECK(bench.tap.refused() == 0);
}

TEST_CASE("a name that no interface has is refused", "[tap]") {
  for (const char* name : {"", "sixteen-letters!", "a/b", "tap%d", "a b"}) {
    INFO(name);
    CHECK_THROWS_WITH(net::TapDevice(name),
                      "an interface's name has 1 to 15 characters, and no '/', '%', ':' or space");
  }
}
