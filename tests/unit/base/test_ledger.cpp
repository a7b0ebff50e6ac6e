// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/base/measure/journey.h"
#include "models/base/measure/ledger.h"

using namespace sluice::base;
using namespace sluice::base::literals;

TEST_CASE("stages tile a request without gap or overlap", "[ledger]") {
  Ledger l;
  const auto wire = l.component("net.wire0"), host = l.component("cluster.host");
  const RequestId id = l.open(SLUICE_STAGE_wire, wire, 10_ns);
  l.enter(id, SLUICE_STAGE_handler, host, 17_ns);
  l.enter(id, SLUICE_STAGE_handler, host, 18_ns);  // the same stage goes on
  l.enter(id, SLUICE_STAGE_wire, wire, 30_ns);
  l.complete(id, 37_ns);
  REQUIRE(l.total(wire, SLUICE_STAGE_wire).femtoseconds == (14_ns).femtoseconds());
  REQUIRE(l.total(wire, SLUICE_STAGE_wire).visits == 2);
  REQUIRE(l.total(host, SLUICE_STAGE_handler).femtoseconds == (13_ns).femtoseconds());
  REQUIRE(l.total_latency() == (27_ns).femtoseconds());
  REQUIRE(l.completed() == 1);
  REQUIRE(l.error().empty());
}

TEST_CASE("going backwards is an error that names the stages", "[ledger]") {
  Ledger l;
  const auto c = l.component("nic.eth0");
  const RequestId id = l.open(SLUICE_STAGE_wire, c, 10_ns);
  l.enter(id, SLUICE_STAGE_parse, c, 9_ns);
  REQUIRE(l.error().find("parse at nic.eth0 entered at 9 ns") != std::string::npos);
}

TEST_CASE("a request that ends before its last stage is an error too", "[ledger]") {
  Ledger l;
  const auto c = l.component("net.wire0");
  const RequestId id = l.open(SLUICE_STAGE_wire, c, 10_ns);
  l.enter(id, SLUICE_STAGE_parse, c, 12_ns);
  l.complete(id, 11_ns);
  REQUIRE(l.error().find("ends at 11 ns, before its last stage: parse at net.wire0") != std::string::npos);

  Ledger tolerant;
  tolerant.tolerate(1_ns);
  tolerant.component("net.wire0");
  const RequestId other = tolerant.open(SLUICE_STAGE_wire, c, 10_ns);
  tolerant.enter(other, SLUICE_STAGE_parse, c, 12_ns);
  tolerant.complete(other, 11_ns);
  REQUIRE(tolerant.error().empty());
  REQUIRE(tolerant.clamped() == 1);
  REQUIRE(tolerant.total_latency() == (2_ns).femtoseconds());
}

TEST_CASE("what a late copy has entered after the reply came is taken back", "[ledger]") {
  Ledger l;
  const auto wire = l.component("net.wire0"), host = l.component("cluster.host");
  const RequestId id = l.open(SLUICE_STAGE_retransmit, wire, 10_ns);
  l.enter(id, SLUICE_STAGE_wire, wire, 12_ns);
  l.enter(id, SLUICE_STAGE_poll, host, 20_ns);
  l.enter(id, SLUICE_STAGE_handler, host, 21_ns);
  l.take_back(id, 20_ns);
  REQUIRE(l.find(id)->tiles.size() == 3);
  l.take_back(id, 15_ns);
  REQUIRE(l.find(id)->tiles.size() == 2);
  l.complete(id, 15_ns, 10_ns);
  REQUIRE(l.error().empty());
  REQUIRE(l.total(wire, SLUICE_STAGE_wire).femtoseconds == (3_ns).femtoseconds());
  REQUIRE(l.total(host, SLUICE_STAGE_handler).visits == 0);
  const RequestId other = l.open(SLUICE_STAGE_wire, wire, 30_ns);
  l.take_back(other, 20_ns);  // its first stage stays
  REQUIRE(l.find(other)->tiles.size() == 1);
  l.take_back(id, 0_ns);
}

TEST_CASE("stages that do not sum to the latency that the caller saw are an error", "[ledger]") {
  const auto error_for = [](Time since) {
    Ledger l;
    const auto c = l.component("net.wire0");
    const RequestId id = l.open(SLUICE_STAGE_wire, c, 10_ns);
    l.enter(id, SLUICE_STAGE_parse, c, 12_ns);
    l.complete(id, 37_ns, since);
    CHECK(l.total_latency() == (37_ns - since).femtoseconds());
    return l.error();
  };
  CHECK(error_for(10_ns).empty());
  CHECK(error_for(Time::fs(9'999'999)) == "request 1: its stages sum to 27000000 fs, its latency is 27000001 fs");
  CHECK(error_for(11_ns) == "request 1: its stages sum to 27000000 fs, its latency is 26000000 fs");
}

TEST_CASE("between harts a step back within the tolerance is clamped and counted", "[ledger]") {
  Ledger l;
  l.tolerate(2_ns);
  const auto c = l.component("cluster.host");
  const RequestId id = l.open(SLUICE_STAGE_poll, c, 10_ns);
  l.enter(id, SLUICE_STAGE_handler, c, 9_ns);
  REQUIRE(l.error().empty());
  REQUIRE(l.clamped() == 1);
  l.complete(id, 12_ns);
  REQUIRE(l.total(c, SLUICE_STAGE_handler).femtoseconds == (2_ns).femtoseconds());
}

TEST_CASE("a step back behind a hart that is beyond its window may be longer by that", "[ledger]") {
  for (const Time back : {5_ns, 6_ns}) {
    Ledger l;
    l.tolerate(2_ns);
    const auto c = l.component("cluster.host");
    const RequestId id = l.open(SLUICE_STAGE_wire, c, 1_ns);
    l.enter(id, SLUICE_STAGE_poll, c, 20_ns, 3_ns);
    CAPTURE(back.nanoseconds());
    CHECK(l.waited_since(id, 20_ns - back) == (back == 5_ns));
    l.enter(id, SLUICE_STAGE_handler, c, 20_ns - back);
    CHECK(l.error().empty() == (back == 5_ns));
    // The step back has been moved to where the hart ahead was, so that still counts.
    CHECK(l.waited_since(id, 15_ns));
    l.enter(id, SLUICE_STAGE_marshal, c, 21_ns);
    CHECK_FALSE(l.waited_since(id, 18_ns));
    CHECK(l.waited_since(id, 19_ns));
  }
}

TEST_CASE("a request that has moved on has not waited for an older message", "[ledger]") {
  Ledger l;
  const auto c = l.component("cluster.host");
  const RequestId id = l.open(SLUICE_STAGE_poll, c, 10_ns);
  CHECK(l.waited_since(id, 10_ns));
  CHECK(l.clamped() == 0);
  CHECK_FALSE(l.waited_since(id, 9_ns));
  CHECK(l.clamped() == 1);
  CHECK_FALSE(l.waited_since(12345, 11_ns));
  CHECK(l.clamped() == 1);
  l.tolerate(1_ns);
  CHECK(l.waited_since(id, 9_ns));
  CHECK_FALSE(l.waited_since(id, 8_ns));
  CHECK(l.error().empty());
}

TEST_CASE("dropped, unknown and late ids do not disturb the account", "[ledger]") {
  Ledger l;
  const auto c = l.component("net.wire0");
  const RequestId id = l.open(SLUICE_STAGE_wire, c, 0_ns);
  REQUIRE(l.in_flight() == 1);
  REQUIRE(l.drop(id, "no descriptor", 5_ns));
  REQUIRE_FALSE(l.drop(id, "no descriptor", 5_ns));
  l.enter(id, SLUICE_STAGE_parse, c, 6_ns);
  l.complete(id, 7_ns);
  l.enter(12345, SLUICE_STAGE_parse, c, 6_ns);
  l.complete(0, 7_ns);
  REQUIRE(l.dropped().at("no descriptor") == 1);
  REQUIRE(l.completed() == 0);
  REQUIRE(l.in_flight() == 0);
}

TEST_CASE("many requests in flight keep their tiles", "[ledger]") {
  Ledger l;
  const auto c = l.component("net.wire0");
  std::vector<RequestId> ids;
  for (unsigned i = 0; i < 1000; ++i) ids.push_back(l.open(SLUICE_STAGE_wire, c, Time::ns(i)));
  for (RequestId id : ids) REQUIRE(l.find(id)->start() == Time::ns(id - 1));
  for (RequestId id : ids) l.complete(id, 2000_ns);
  REQUIRE(l.completed() == 1000);
}

TEST_CASE("requests of the warm-up are not counted", "[ledger]") {
  Ledger l;
  const auto c = l.component("net.wire0");
  l.measure(false);
  const RequestId warm = l.open(SLUICE_STAGE_wire, c, 0_ns);
  l.measure(true);
  const RequestId hot = l.open(SLUICE_STAGE_wire, c, 1_ns);
  l.complete(warm, 10_ns);
  REQUIRE(l.completed() == 0);
  l.complete(hot, 11_ns);
  REQUIRE(l.completed() == 1);
  REQUIRE(l.opened() == 1);
}

TEST_CASE("a journey becomes the stages of the request that waited for it", "[ledger]") {
  ledger() = Ledger{};
  const auto nic = ledger().component("nic"), link = ledger().component("link"), rc = ledger().component("rc");
  const RequestId id = ledger().open(SLUICE_STAGE_doorbell, nic, 0_ns);
  Journey j;
  j.enter(SLUICE_STAGE_upstream_link, link, 10_ns);
  j.enter(SLUICE_STAGE_memory, rc, 30_ns);
  j.enter(SLUICE_STAGE_downstream_link, link, 70_ns);
  Spans spans(0, 64, id);
  j.apply(spans);
  ledger().complete(id, 100_ns);
  REQUIRE(ledger().total(link, SLUICE_STAGE_upstream_link).femtoseconds == (20_ns).femtoseconds());
  REQUIRE(ledger().total(rc, SLUICE_STAGE_memory).femtoseconds == (40_ns).femtoseconds());
  REQUIRE(ledger().total(link, SLUICE_STAGE_downstream_link).femtoseconds == (30_ns).femtoseconds());
}

TEST_CASE("a journey keeps every hop, and so do its copies", "[ledger]") {
  ledger() = Ledger{};
  const auto link = ledger().component("link"), fabric = ledger().component("switch");
  const auto hops = GENERATE(1u, 11u, 12u, 13u, 24u, 100u);
  const auto expect = [&](const Journey& j) {
    const RequestId id = ledger().open(SLUICE_STAGE_doorbell, link, 0_ns);
    j.apply(id);
    const auto& tiles = ledger().find(id)->tiles;
    REQUIRE(tiles.size() == hops + 1);
    for (unsigned i = 0; i < hops; ++i) {
      REQUIRE(tiles[i + 1].stage == (i % 2 ? SLUICE_STAGE_switch_fabric : SLUICE_STAGE_upstream_link));
      REQUIRE(tiles[i + 1].component == (i % 2 ? fabric : link));
      REQUIRE(tiles[i + 1].start == Time::ns(10 + i));
    }
  };
  Journey j;
  for (unsigned i = 0; i < hops; ++i)
    j.enter(i % 2 ? SLUICE_STAGE_switch_fabric : SLUICE_STAGE_upstream_link, i % 2 ? fabric : link, Time::ns(10 + i));
  expect(j);
  Journey copy(j), assigned;
  assigned = j;
  j.clear();
  REQUIRE(j.empty());
  expect(copy);
  expect(assigned);
  assigned = Journey{};
  assigned.enter(SLUICE_STAGE_memory, link, 5_ns);
  REQUIRE(assigned.start() == 5_ns);
  const RequestId id = ledger().open(SLUICE_STAGE_doorbell, link, 0_ns);
  assigned.apply(id);
  REQUIRE(ledger().find(id)->tiles.size() == 2);
}

TEST_CASE("spans without an id take no room, and the ninth is refused", "[ledger]") {
  Spans s;
  REQUIRE(s.add({0, 64, 0}));
  REQUIRE(s.empty());
  for (RequestId id = 1; id <= Spans::kMost; ++id) REQUIRE(s.add({0, 64, id}));
  REQUIRE_FALSE(s.add({0, 64, 99}));
  REQUIRE(s.first() == 1);
}
