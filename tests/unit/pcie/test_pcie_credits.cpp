// SPDX-License-Identifier: Apache-2.0
/// The credits that receivers advertise by default: none of them limits a stream, at any rate of the link.
#include <catch2/catch.hpp>

#include "tests/unit/pcie/dma_bench.h"

using namespace sluice;
using namespace sluice::pcie;

TEST_CASE("credits do not limit a stream of writes at any rate", "[pcie]") {
  const unsigned generation = GENERATE(1u, 2u, 3u, 4u, 5u);
  const unsigned bytes = GENERATE(64u, 256u);
  PcieBench b({.link = {.generation = generation}});
  b.enumerate();
  const auto data = pattern(bytes);
  const base::Time start = base::now();
  base::Time last;
  for (int i = 0; i < 2000; ++i) b.device.dma_write(kRam, data, {}, [&](const DmaSent& s) { last = s.sent; });
  b.settle();
  REQUIRE(last == start + 100_ns + b.link.up().wire_time(20 + bytes) * 2000);  // the link is never idle
  REQUIRE(b.link.up().statistics().credit_stalls == 0);
}

TEST_CASE("the buffers of generation 3 limit a stream of small writes of generation 5", "[pcie]") {
  PcieBench b({.link = {.generation = 5, .posted_headers = 128, .posted_data = 1024}});
  b.enumerate();
  const auto data = pattern(64);
  const base::Time start = base::now();
  base::Time last;
  for (int i = 0; i < 2000; ++i) b.device.dma_write(kRam, data, {}, [&](const DmaSent& s) { last = s.sent; });
  b.settle();
  // 128 writes leave in each round trip of a write and its credits, which begins with the device's own pipeline. An
  // update takes 168 symbols of 0.25 ns.
  const base::Time wire = b.link.up().wire_time(84);
  const base::Time round_trip = 100_ns + wire + 5_ns + kLanded + 42_ns + 5_ns;
  REQUIRE(round_trip > wire * 128);
  REQUIRE(last == start + 100_ns + round_trip * (1999 / 128) + wire * (1999 % 128 + 1));
}

TEST_CASE("the default buffers grow with the rate, and a board's own do not", "[pcie]") {
  const auto credits = [](const Link::Parameters& p) {
    std::vector<std::uint32_t> all;
    for (const base::Credits& c : p.credits()) all.insert(all.end(), {c.messages, c.data});
    return all;
  };
  using All = std::vector<std::uint32_t>;
  for (const unsigned generation : {1u, 2u, 3u})
    REQUIRE(credits({.generation = generation}) == All{128, 1024, 128, 128, 0, 0});
  REQUIRE(credits({.generation = 4}) == All{256, 2048, 256, 256, 0, 0});
  REQUIRE(credits({.generation = 5}) == All{512, 4096, 512, 512, 0, 0});
  REQUIRE(credits({.generation = 5, .posted_headers = 7, .posted_data = 16}) == All{7, 16, 512, 512, 0, 0});
}
