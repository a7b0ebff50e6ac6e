// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <catch2/catch.hpp>

#include "platform/config/dump.h"
#include "platform/report/sensitivity/variations.h"
#include "tests/unit/platform/config_bench.h"

using namespace sluice;
using namespace sluice::config;
using namespace sluice::report;

namespace {

/// What happens to the flight of a board's slot, as "less value more".
std::string flight_of(Bench& bench, const std::string& value) {
  const auto all =
      variations(bench.load(bench.mine("b.toml", "extends = [\"e810\"]\n[pcie.slot0]\nflight = " + value)));
  for (const VariedParameter& p : all.varied)
    if (p.path == "pcie.slot0.flight") return p.less.text + " < " + p.value + " < " + p.more.text;
  return "fixed";
}

}  // namespace

TEST_CASE("numbers that are no settings are varied by what their source or kind says", "[variations]") {
  Bench bench;
  CHECK(flight_of(bench, "{ value = \"10 ns\", kind = \"measured\", source = \"s\" }") == "9.5 ns < 10 ns < 10.5 ns");
  CHECK(flight_of(bench, "{ value = \"10 ns\", kind = \"stated\", source = \"s\" }") == "fixed");
  CHECK(flight_of(bench, "{ value = \"10 ns\", kind = \"derived\", source = \"s\" }") == "9 ns < 10 ns < 11 ns");
  CHECK(flight_of(bench, "{ value = \"10 ns\", kind = \"assumed\", source = \"s\" }") == "7.5 ns < 10 ns < 12.5 ns");
  CHECK(flight_of(bench, "\"10 ns\"") == "7.5 ns < 10 ns < 12.5 ns");
  const std::string stated = "{ value = \"10 ns\", kind = \"stated\", source = \"s\", uncertainty = ";
  CHECK(flight_of(bench, stated + "\"2 %\" }") == "9.8 ns < 10 ns < 10.2 ns");
  CHECK(flight_of(bench, stated + "0.5 }") == "5 ns < 10 ns < 15 ns");
  CHECK(flight_of(bench, stated + "1 }") == "0 ns < 10 ns < 20 ns");
  CHECK(flight_of(bench, "{ value = \"10 ns\", source = \"s\", uncertainty = \"1 %\" }") == "9.9 ns < 10 ns < 10.1 ns");
}

TEST_CASE("what is not varied is listed with the reason", "[variations]") {
  Bench bench;
  const auto all = variations(bench.load("e810", {"run.stall_limit=0 ns"}));
  const auto why = [&](const char* path) -> std::string {
    const auto f =
        std::find_if(all.fixed.begin(), all.fixed.end(), [&](const FixedParameter& p) { return p.path == path; });
    if (f == all.fixed.end()) return "varied";
    return f->why == Fixed::kSetting    ? "setting"
           : f->why == Fixed::kExact    ? "exact"
           : f->why == Fixed::kNoNumber ? "no number"
                                        : "no other";
  };
  CHECK(why("pcie.slot0.lanes") == "setting");
  CHECK(why("nic.eth0.slot") == "setting");
  CHECK(why("pcie.slot0.max_payload") == "exact");
  CHECK(why("run.stall_limit") == "no other");
  CHECK(why("pcie.slot0.flight") == "varied");
  CHECK(why("nic.eth0.rx_fifo") == "varied");
}

TEST_CASE("an uncertainty that is wrong, or that nothing has, is refused where it stands", "[variations]") {
  Bench bench;
  const auto flight = [&](const std::string& uncertainty) {
    return bench.error_of(
        "[pcie.slot0]\nflight = { value = \"5 ns\", kind = \"assumed\", source = \"s\", uncertainty = " + uncertainty +
        " }\n");
  };
  const std::string at = "b.toml:3: pcie.slot0.flight.uncertainty ";
  const std::string ratio = "must be a ratio such as 0.39, \"39 %\" or \"128/130\"";
  CHECK(flight("\"10 %\"") == "no error");
  CHECK(flight("\"100 %\"") == "no error");
  CHECK(flight("\"101 %\"") == at + "must be 0 % to 100 % of the value");
  CHECK(flight("2") == at + "must be 0 % to 100 % of the value");
  CHECK(flight("-0.1") == at + "must not be negative");
  CHECK(flight("\"-10 %\"") == at + "must not be negative");
  CHECK(flight("\"5 ns\"") == at + ratio);
  CHECK(flight("true") == at + ratio);
  CHECK(flight("{ a = 1 }") == at + ratio);
  const auto of = [&](const std::string& table, const std::string& value) {
    return bench.error_of(table + " = { value = " + value +
                          ", kind = \"assumed\", source = \"s\", uncertainty = \"1 %\" }\n");
  };
  CHECK(of("[pcie.slot0]\nlanes", "8") ==
        "b.toml:3: pcie.slot0.lanes has an uncertainty, but a choice of the board has none: leave it out");
  CHECK(of("[nic.eth0]\nslot", "\"pcie.slot0\"") ==
        "b.toml:3: nic.eth0.slot has an uncertainty, but a choice of the board has none: leave it out");
  CHECK(bench.error_of("[pcie.slot0]\nflight = { value = \"5 ns\", uncertainty = \"1 %\" }\n") ==
        "b.toml:3: pcie.slot0.flight needs a source beside its value");
  CHECK(bench.error_of("[pcie.slot0]\nflight = { uncertainty = \"1 %\" }\n") ==
        "b.toml:3: pcie.slot0.flight must be a time, 0 ns to 1 us, not a table without a value");
}

TEST_CASE("the dump has the uncertainty of numbers that are no settings, and whose it is", "[variations]") {
  Bench bench;
  const auto json = to_json(bench.load(bench.mine(
      "b.toml",
      "extends = [\"e810\"]\n[pcie.slot0]\nflight = { value = \"5 ns\", kind = \"measured\", source = \"s\", "
      "uncertainty = \"2 %\" }\n")));
  const auto& slot = json["instances"]["pcie.slot0"]["parameters"];
  CHECK(slot["flight"]["uncertainty"] == 0.02);
  CHECK(slot["flight"]["uncertainty_by"] == "source");
  CHECK(slot["max_payload"]["uncertainty"] == 0);
  CHECK(slot["max_payload"]["uncertainty_by"] == "kind");
  CHECK_FALSE(slot["lanes"].contains("uncertainty"));
}
