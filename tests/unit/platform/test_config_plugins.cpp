// SPDX-License-Identifier: Apache-2.0
/// What plug-ins add to the models that boards may name, and what rules and choices see of it.
#include <catch2/catch.hpp>

#include "platform/config/board_differences.h"
#include "platform/config/dump.h"
#include "tests/unit/platform/config_bench.h"

using namespace sluice;
using namespace sluice::config;

TEST_CASE("plug-ins bring models to the boards that name them, and to no others", "[config]") {
  Bench bench;
  bench.mine("parts/adder.so", "");
  bench.mine("parts/adder.toml", "plugins = ['adder.so']\n[nic.add]\nmodel = 'adder'\nwidth = 64\n");
  const std::string own = bench.mine("own.toml", "extends = ['parts/adder']\nplugins = ['parts/../parts/adder.so']\n");
  const BoardConfig board = bench.load(own);
  CHECK(board.parameters<Adder>("nic.add").width == 64);
  REQUIRE(board.plugins().size() == 1);  // the same file, named twice
  CHECK(board.plugins()[0].name == "parts/adder.so");
  CHECK(board.plugins()[0].sha256 == "sha of adder.so");

  CHECK(bench.load("e810").plugins().empty());
  CHECK(bench.error_of("[nic.x]\nmodel = 'adder'\n") ==
        "b.toml:3: adder is not a model of nic; valid: descriptor, enso");
  const auto all = differences(board, bench.load("e810"));
  REQUIRE(!all.empty());
  CHECK(all[0].path == "plugins");
  CHECK(all[0].first == "parts/adder.so (sha of a)");
  CHECK(all[0].second.empty());
}

TEST_CASE("a model gets paths that it can open, and a board shows what was written", "[config]") {
  Bench bench;
  const std::string own = bench.mine("own.toml", "extends = ['parts/run']\n");
  const std::string part = bench.mine("parts/run.toml", "[run]\nscript = 'a.txt'\n");
  const BoardConfig board = bench.load(own, {"run.other=b.txt"});
  const Run& run = board.parameters<Run>("run");
  CHECK(run.script == (fs::path(part).parent_path() / "a.txt").string());
  CHECK(run.other == "b.txt");
  const Instance& shown = *board.find("run");
  CHECK(shown.schema().find("script")->text(shown.values()) == "a.txt");
  CHECK(static_cast<const Run*>(shown.model_values()) == &run);
  CHECK(bench.load(own, {"run.script=/x/y"}).parameters<Run>("run").script == "/x/y");
  CHECK(bench.load(own, {"run.script=\"\""}).parameters<Run>("run").script.empty());
}

TEST_CASE("a rule that throws is told with its key", "[config]") {
  Bench bench;
  CHECK(bench.error_of("[run]\nlevel = 1\n") ==
        "b.toml:3: run.level cannot be checked: a rule of the run threw no luck");
  CHECK(bench.error_of("[run]\nlevel = 2\n") ==
        "b.toml:3: run.level cannot be checked: a rule of the run threw something that is no std::exception");
}

TEST_CASE("a model that there is already is told with who has it", "[config]") {
  Bench bench;
  bench.mine("one.so", "");
  bench.mine("two.so", "");
  const std::string own = bench.mine("own.toml", "plugins = ['one.so', 'two.so']\n");
  CHECK_THROWS_WITH(bench.load(own), "nic has a model adder already, of one.so");
  Registry r = registry();
  CHECK_THROWS_WITH(r.add<Enso>("nic", "enso", "Enso NIC"), "nic has a model enso already, a built-in one");
}

TEST_CASE("what a board says of plug-ins is checked", "[config]") {
  Bench bench;
  CHECK(bench.error_of("plugins = ['none.so']\n") == "b.toml:2: plugins: none.so does not exist");
  CHECK(bench.error_of("plugins = 3\n") == "b.toml:2: plugins must be a list of paths of shared objects");
  CHECK(bench.error_of("plugins = [1]\n") == "b.toml:2: each path in plugins must be a string");
  CHECK(bench.error_of("plugins = ['']\n") == "b.toml:2: each path in plugins must name a shared object");
  CHECK(bench.error_of("plugin = []\n") == "b.toml:2: plugin is not a key of a board file; did you mean plugins?");
  CHECK(bench.error(bench.mine("own.toml", ""), {"plugins=x.so"}) ==
        "--set plugins=x.so: plug-ins are named by a board file, plugins = [...], not by an override");
}

TEST_CASE("a parameter chooses by name what the registry or a plug-in of the board has", "[config]") {
  Bench bench;
  bench.mine("add.so", "");
  const auto farthest = [&](const std::string& board, const std::vector<std::string>& sets) {
    return bench.load(board, sets).parameters<Walk>("walk.w").farthest;
  };
  const std::string plain = bench.mine("plain.toml", "extends = ['e810']\n[walk.w]\n");
  CHECK(farthest(plain, {}) == 5);
  CHECK(farthest(plain, {"walk.w.pace=brisk"}) == 9);
  CHECK(bench.error_of("[walk.w]\npace = 'fast'\n") == "b.toml:3: walk.w.pace must be one of 2");
  CHECK(bench.error(plain, {"walk.w.pace=fast"}) == "--set walk.w.pace=fast: must be one of 2");
  const std::string own = bench.mine("own.toml", "extends = ['e810']\nplugins = ['add.so']\n[walk.w]\npace = 'fast'\n");
  CHECK(farthest(own, {}) == 50);
  CHECK(bench.error(own, {"walk.w.pace=sl"}) == "--set walk.w.pace=sl: must be one of 3");
  Registry r = registry();
  CHECK_THROWS_WITH(r.add_part("paces", "slow", nullptr), "there are paces named slow already, built-in ones");
}

TEST_CASE("rules hold for what has been chosen", "[config]") {
  Bench bench;
  CHECK(bench.error_of("[walk.w]\ndistance = 6\n") == "b.toml:3: walk.w.distance must be at most 5");
  const std::string far = bench.mine("far.toml", "extends = ['e810']\n[walk.w]\npace = 'brisk'\ndistance = 9\n");
  CHECK(bench.load(far).parameters<Walk>("walk.w").distance == 9);
  CHECK(bench.error(far, {"walk.w.pace=slow"}) == "far.toml:4: walk.w.distance must be at most 5");
}
