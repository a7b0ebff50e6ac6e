// SPDX-License-Identifier: Apache-2.0
/// What a device's transfers leave in the ledger and in the memory's tags.
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/pcie/dma_bench.h"

using namespace sluice;
using namespace sluice::pcie;

TEST_CASE("a landed write tiles its requests' time and tags their lines", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const base::RequestId one = open_request();
  const base::RequestId two = open_request();
  DmaOptions options;
  options.spans = base::Spans(0, 128, one);
  options.spans.add({128, 272, two});
  options.arrival_stage = {SLUICE_STAGE_wait_core, host()};
  const base::Time start = base::now() + 40_ns;
  b.scheduler.run_until(start);
  base::calendar().set_now(start);
  b.device.dma_write(kRam, pattern(400), options);
  b.settle();

  const base::Time wire0 = b.link.up().wire_time(20 + 256);
  const base::Time wire1 = b.link.up().wire_time(20 + 144);
  struct Tile {
    base::Stage stage;
    base::Time start;
    bool operator==(const Tile&) const = default;
  };
  const auto tiles = [](base::RequestId id) {
    std::vector<Tile> v;
    for (const auto& t : base::ledger().find(id)->tiles) v.push_back({t.stage, t.start});
    return v;
  };
  const auto expected = [&](base::Time serialised) {
    const base::Time arrival = start + 100_ns + serialised + 5_ns;
    return std::vector<Tile>{{SLUICE_STAGE_nic_queue, start - 40_ns},
                             {SLUICE_STAGE_upstream_link, start},
                             {SLUICE_STAGE_memory, arrival},
                             {SLUICE_STAGE_wait_core, arrival + kLanded}};
  };
  // Each request waits for the packet with its own last byte.
  REQUIRE(tiles(one) == expected(wire0));
  REQUIRE(tiles(two) == expected(wire0 + wire1));
  REQUIRE(base::ledger().error().empty());
  REQUIRE(b.memory.ram.tag(kRam) == one);
  REQUIRE(b.memory.ram.tag(kRam + 127) == one);
  REQUIRE(b.memory.ram.tag(kRam + 128) == two);
  REQUIRE(b.memory.ram.tag(kRam + 399) == two);
  REQUIRE(b.memory.ram.tag(kRam + 448) == 0);

  // Packet bytes that belong to no request clear the tags, descriptors leave them.
  b.device.dma_write(kRam, pattern(16), {});
  b.settle();
  REQUIRE(b.memory.ram.tag(kRam) == one);
  DmaOptions payload;
  payload.content = Content::kPayload;
  b.device.dma_write(kRam, pattern(64), payload);
  b.settle();
  REQUIRE(b.memory.ram.tag(kRam) == 0);
}

TEST_CASE("a write without a landed stage leaves the ledger alone", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const base::RequestId id = open_request();
  DmaOptions options;
  options.spans = base::Spans(0, 64, id);
  b.device.dma_write(kRam, pattern(64), options);
  b.settle();
  REQUIRE(base::ledger().find(id)->tiles.size() == 1);
  REQUIRE(b.memory.ram.tag(kRam) == id);
}

TEST_CASE("a read tiles the time of who waits for it, by its spans or by its journey", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const base::RequestId known = open_request();
  const base::RequestId learnt = open_request();
  b.memory.ram.set_tag(kRam + 64, 64, learnt);
  DmaOptions options = reading(true);
  options.spans = base::Spans(0, 128, known);
  const base::Time start = base::now();
  base::RequestId tags[3] = {};
  b.device.dma_read(kRam + 32, 128, options, [&](const DmaCompletion& c) {
    tags[0] = c.tag_at(0);
    tags[1] = c.tag_at(32);
    tags[2] = c.tag_at(127);
    c.journey.apply(c.tag_at(32));
  });
  b.settle();
  REQUIRE(tags[0] == 0);
  REQUIRE(tags[1] == learnt);
  REQUIRE(tags[2] == 0);
  for (const base::RequestId id : {known, learnt}) {
    const auto& tiles = base::ledger().find(id)->tiles;
    std::vector<base::Stage> stages;
    for (const auto& t : tiles) stages.push_back(t.stage);
    REQUIRE(stages.back() == SLUICE_STAGE_downstream_link);
    REQUIRE(std::count(stages.begin(), stages.end(), SLUICE_STAGE_upstream_link) == 1);
    const auto memory = std::find(stages.begin(), stages.end(), SLUICE_STAGE_memory) - stages.begin();
    REQUIRE(tiles[static_cast<std::size_t>(memory)].start == start + 105_ns + b.link.up().wire_time(20));
    REQUIRE(tiles[static_cast<std::size_t>(memory) + 1].start - tiles[static_cast<std::size_t>(memory)].start ==
            kServed);
  }
  REQUIRE(base::ledger().error().empty());
}

TEST_CASE("waiting for a tag is the engine's time", "[pcie]") {
  PcieBench b({.endpoint = {.tags = 1}});
  b.enumerate();
  const base::RequestId id = open_request();
  Outcome o;
  read(b, kRam, 64, o);
  DmaOptions options;
  options.spans = base::Spans(0, 64, id);
  Outcome second;
  const base::Time start = base::now();
  read(b, kRam, 64, second, options);
  b.settle();
  const auto& tiles = base::ledger().find(id)->tiles;
  REQUIRE(tiles.size() == 5);
  REQUIRE(tiles[1].stage == SLUICE_STAGE_dma_read);
  REQUIRE(tiles[1].start == start);
  REQUIRE(tiles[2].stage == SLUICE_STAGE_upstream_link);
  REQUIRE(tiles[2].start == o.at);
  REQUIRE(tiles[3].stage == SLUICE_STAGE_memory);
  REQUIRE(tiles[3].start == o.at + 100_ns + b.link.up().wire_time(20) + 5_ns);
  REQUIRE(tiles[4].stage == SLUICE_STAGE_downstream_link);
  REQUIRE(tiles[4].start == tiles[3].start + kServed);
}
