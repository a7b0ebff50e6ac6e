// SPDX-License-Identifier: Apache-2.0
/// Quantities of result files by name.

#include <catch2/catch.hpp>

#include "platform/sweep/quantity.h"

using namespace sluice::sweep;
using Json = nlohmann::ordered_json;

namespace {

Json result() {
  return Json::parse(R"({
    "latency_ns": {"mean": 10.5, "p99": 20, "histogram": [1, 2]},
    "outcome": "finished", "ok": true,
    "links": [{"name": "pcie.slot0", "direction": "up", "bytes": 1}, {"name": "pcie.slot0", "direction": "down", "bytes": 2},
              {"name": "pcie.slot1", "direction": "up", "bytes": 3}],
    "cores": [{"name": "cluster.host.hart0", "time": {"idle": 0.5}}],
    "dma": [{"bytes": 64, "cache": "warm", "read_p50_ns": 1}, {"bytes": 64, "cache": "cold", "read_p50_ns": 2},
            {"bytes": 128, "cache": "warm", "read_p50_ns": 3}],
    "counters": {"nic": {"eth0.x": 8}, "nic.eth0": {"x": 7, "rx.y": 5}, "a": null},
    "phases": [{"latency_ns": {"p99": 4}}, {"latency_ns": {"p99": 5}}],
    "board": {"x": 1}, "host": {"wall_s": 3}})");
}

std::optional<double> find(const std::string& name) { return find_quantity(result(), name); }

}  // namespace

TEST_CASE("a quantity is found by members, dots in their names included", "[sweep]") {
  CHECK(find("latency_ns.mean") == 10.5);
  CHECK(find("latency_ns.p99") == 20);
  CHECK(find("ok") == 1);
  CHECK(find("counters.nic.eth0.rx.y") == 5);
  // The first that leads to a number.
  CHECK(find("counters.nic.eth0.x") == 8);
  CHECK(find("host.wall_s") == 3);
}

TEST_CASE("elements of a list are found by name, by what tells them apart, or by place", "[sweep]") {
  CHECK(find("cores.cluster.host.hart0.time.idle") == 0.5);
  CHECK(find("cores.0.time.idle") == 0.5);
  CHECK(find("links.pcie.slot0.down.bytes") == 2);
  CHECK(find("links.pcie.slot1.bytes") == 3);
  CHECK(find("links.pcie.slot1.up.bytes") == 3);
  CHECK(find("dma.64.cold.read_p50_ns") == 2);
  CHECK(find("dma.128.read_p50_ns") == 3);
  CHECK(find("phases.1.latency_ns.p99") == 5);
  CHECK(find("latency_ns.histogram.1") == 2);
}

TEST_CASE("what is no number, is not there, or is there twice is not found", "[sweep]") {
  for (const char* name : {"", ".", "latency_ns", "latency_ns.", "latency_ns.p9", "latency_ns.p99.x", "outcome",
                           "counters.a", "links.pcie.slot0.bytes", "dma.64.read_p50_ns", "phases.2.latency_ns.p99",
                           "phases.1x.latency_ns.p99", "phases.99999999999999999999.x", "cores.hart0.time.idle"})
    CHECK_FALSE(find(name));
  CHECK_FALSE(find_quantity(Json(), "x"));
  CHECK_FALSE(find_quantity(Json::array(), "0"));
}

TEST_CASE("every quantity that is named in a result is found by its name", "[sweep]") {
  const std::vector<std::string> names = quantities_in(result());
  CHECK(names.size() == 20);
  for (const std::string& name : names) CHECK(find(name));
  CHECK(std::find(names.begin(), names.end(), "links.pcie.slot0.up.bytes") != names.end());
  CHECK(std::find(names.begin(), names.end(), "host.wall_s") == names.end());
}

TEST_CASE("a name says its unit", "[sweep]") {
  CHECK(unit_of("latency_ns.p99") == "ns");
  CHECK(unit_of("latency_ns.histogram.count").empty());
  CHECK(unit_of("throughput_per_s") == "1/s");
  CHECK(unit_of("load.achieved_per_s") == "1/s");
  CHECK(unit_of("links.pcie.slot0.up.bytes") == "B");
  CHECK(unit_of("links.pcie.slot0.up.payload_bytes") == "B");
  CHECK(unit_of("dma.64.read_gbps") == "Gb/s");
  CHECK(unit_of("links.pcie.slot0.up.utilisation").empty());
  CHECK(unit_of("requests.sent").empty());
}
