// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include "platform/config/board_differences.h"
#include "platform/config/dump.h"
#include "platform/config/memory_map.h"
#include "platform/config/nearest_name.h"
#include "platform/config/resources.h"
#include "tests/unit/platform/config_bench.h"

using namespace sluice;
using namespace sluice::config;
using Catch::Matchers::Contains;
using Catch::Matchers::Message;

TEST_CASE("a board has its instances, with their files' values and the models' defaults", "[config]") {
  const Bench bench;
  const BoardConfig board = bench.load("e810");
  CHECK(board.name() == "e810");
  CHECK(board.summary() == "a board");
  CHECK(board.files() == std::vector<std::string>{"hosts/pc.toml", "e810.toml"});
  REQUIRE(board.instances().size() == 4);  // run exists without being mentioned
  CHECK(board.instances()[0].path() == "pcie.slot0");
  CHECK(board.instances()[1].path() == "nic.eth0");
  CHECK(board.instances()[2].path() == "workload");
  CHECK(board.instances()[3].path() == "run");
  CHECK(board.parameters<Slot>("pcie.slot0").lanes == 8);
  CHECK(board.parameters<Slot>("pcie.slot0").flight == 7_ns);
  CHECK(board.parameters<Nic>("nic.eth0").queues == 4);
  CHECK(board.parameters<Nic>("nic.eth0").moderation == 50_us);
  CHECK(board.parameters<ClosedLoop>("workload").bytes == 128);
  CHECK(board.parameters<Run>("run").stall_limit == 10_ms);
  CHECK(board.the("nic").title() == "descriptor NIC");
  CHECK_THROWS_AS(board.parameters<Slot>("nic.eth0"), std::logic_error);
}

TEST_CASE("every value knows who set it and where it comes from", "[config]") {
  const Bench bench;
  const BoardConfig board = bench.load("e810", {"pcie.slot0.max_payload=512 B"});
  const Instance& slot = *board.find("pcie.slot0");
  CHECK(slot.origin("flight").set_by == "hosts/pc.toml:3");
  CHECK(slot.origin("flight").provenance.kind == base::Provenance::Kind::kMeasured);
  CHECK(slot.origin("flight").provenance.source == "us");
  CHECK(slot.origin("lanes").set_by == "hosts/pc.toml:2");
  CHECK(slot.origin("lanes").provenance.source == "choice of the board");
  CHECK(slot.origin("max_payload").set_by == "--set");
  CHECK(slot.origin("max_payload").provenance.source == "set on the command line");
  CHECK(slot.origin("max_payload").provenance.kind == base::Provenance::Kind::kAssumed);
  const BoardConfig overridden = bench.load("e810", {"nic.eth0.moderation.time=1 us"});
  CHECK(overridden.find("nic.eth0")->origin("moderation.time").provenance.points.empty());
  const Instance& nic = *board.find("nic.eth0");
  CHECK(nic.origin("rx_fifo").set_by == "default");
  CHECK(nic.origin("rx_fifo").provenance.source == "typical");
  CHECK(nic.origin("moderation.time").provenance.points == std::vector<std::string>{"V2", "V9"});
}

TEST_CASE("a value without its source replaces an inherited one with its source", "[config]") {
  Bench bench;
  const BoardConfig board = bench.load(bench.mine("b.toml", "extends = [\"e810\"]\n[pcie.slot0]\nflight = \"9 ns\"\n"));
  const Origin& origin = board.find("pcie.slot0")->origin("flight");
  CHECK(origin.provenance.kind == base::Provenance::Kind::kAssumed);
  CHECK(origin.provenance.source == "no source given");
  CHECK(origin.set_by == "b.toml:3");
}

TEST_CASE("extends applies depth first, the later over the earlier, the file itself last", "[config]") {
  Bench bench;
  bench.mine("base.toml", "[pcie.a]\nlanes = 1\n[pcie.b]\nlanes = 1\n[pcie.c]\nlanes = 1\n[pcie.d]\nlanes = 1\n");
  bench.mine("left.toml", "extends = [\"base\"]\n[pcie.b]\nlanes = 2\n[pcie.c]\nlanes = 2\n[pcie.d]\nlanes = 2\n");
  bench.mine("sub/right.toml", "extends = [\"../base.toml\"]\n[pcie.c]\nlanes = 4\n[pcie.d]\nlanes = 4\n");
  const BoardConfig board = bench.load(bench.mine(
      "top.toml", "extends = [\"left\", \"sub/right\"]\n[pcie.d]\nlanes = 8\n[workload]\nkind = \"open-loop\""));
  CHECK(board.parameters<Slot>("pcie.a").lanes == 1);
  CHECK(board.parameters<Slot>("pcie.b").lanes == 2);  // base applies once: right does not bring its value back
  CHECK(board.parameters<Slot>("pcie.c").lanes == 4);
  CHECK(board.parameters<Slot>("pcie.d").lanes == 8);
  CHECK(board.files() == std::vector<std::string>{"base.toml", "left.toml", "sub/right.toml", "top.toml"});
  CHECK(board.find("pcie.c")->origin("lanes").set_by == "sub/right.toml:3");
}

TEST_CASE("a cycle in extends is named", "[config]") {
  Bench bench;
  bench.mine("b.toml", "extends = [\"c\"]\n");
  bench.mine("c.toml", "\nextends = [\"b\"]\n");
  CHECK(bench.error(bench.mine("a.toml", "extends = [\"b\"]\n")) ==
        "c.toml:2: extends forms a cycle: b.toml -> c.toml -> b.toml");
  CHECK(bench.error(bench.mine("self.toml", "extends = [\"self\"]\n")) ==
        "self.toml:1: extends forms a cycle: self.toml -> self.toml");
}

TEST_CASE("an override has the last word and is checked like a file", "[config]") {
  const Bench bench;
  CHECK(bench.load("e810", {"nic.eth0.queues=2", "nic.eth0.queues=3"}).parameters<Nic>("nic.eth0").queues == 3);
  CHECK(bench.load("e810", {"workload.call.program=a=b"}).parameters<ClosedLoop>("workload").program == "a=b");
  CHECK(bench.load("e810", {"run.stall_limit=2.5ms"}).parameters<Run>("run").stall_limit == 2'500_us);
  CHECK(bench.error("e810", {"nic.eth0.queues=-1"}) == "--set nic.eth0.queues=-1: must be 1 to 64");
  CHECK(bench.error("e810", {"nic.eth0.quues=1"}) ==
        "--set nic.eth0.quues=1: nic.eth0.quues is not a parameter of the descriptor NIC; did you mean "
        "nic.eth0.queues?");
  CHECK(bench.error("e810", {"nic.eth1.queues=1"}) ==
        "--set nic.eth1.queues=1: the board has no nic.eth1; did you mean nic.eth0?");
  CHECK(bench.error("e810", {"nick.eth0.queues=1"}) ==
        "--set nick.eth0.queues=1: nick is not a kind of component; did you mean nic?");
  CHECK(bench.error("e810", {"run.stall_limit=5"}) ==
        "--set run.stall_limit=5: must be a time with a unit (fs, ps, ns, us, ms or s)");
  CHECK(bench.error("e810", {"nic.eth0.queues"}) == "--set nic.eth0.queues: must be PATH=VALUE");
  CHECK(bench.error("e810", {"=3"}) == "--set =3: must be PATH=VALUE");
  CHECK(bench.error("e810", {"nic.eth0=3"}) == "--set nic.eth0=3: names a component, not a parameter of it");
  CHECK(bench.error("e810", {"nic=3"}) == "--set nic=3: must name one nic; valid: eth0");
  CHECK(bench.error("e810", {"workload.call=3"}) ==
        "--set workload.call=3: workload.call is a table of parameters, not a value");
  const std::string mistake = bench.error("e810", {"nic.eth0.que\nues=3"});
  CHECK(mistake.starts_with("--set nic.eth0.que ues=3: nic.eth0.que ues is not a parameter"));
  CHECK_THAT(mistake, !Catch::Contains("\n"));
}

TEST_CASE("a mistake in a file is one sentence with file, line, key and what would be valid", "[config]") {
  Bench bench;
  CHECK(bench.error_of("[nic.eth0]\nquues = 1\n") ==
        "b.toml:3: nic.eth0.quues is not a parameter of the descriptor NIC; did you mean nic.eth0.queues?");
  CHECK(bench.error_of("[nic.eth0]\ncolour = 1\n") ==
        "b.toml:3: nic.eth0.colour is not a parameter of the descriptor NIC; valid: queues, slot, moderation.time, "
        "rx_fifo, model");
  CHECK(bench.error_of("[nic.eth0]\nqueues = \"two\"\n") ==
        "b.toml:3: nic.eth0.queues must be a whole number, not \"two\"");
  CHECK(bench.error_of("[nic.eth0]\nqueues = 65\n") == "b.toml:3: nic.eth0.queues must be 1 to 64, not 65");
  CHECK(bench.error_of("[nic.eth0.queues]\nmany = 65\n") ==
        "b.toml:2: nic.eth0.queues must be a whole number, 1 to 64, not a table without a value");
  CHECK(bench.error_of("[pcie.slot0]\nflight = \"5 KiB\"\n") ==
        "b.toml:3: pcie.slot0.flight must be a time with a unit (fs, ps, ns, us, ms or s), not \"5 KiB\"");
  CHECK(bench.error_of("[pcie.slot0]\nflight = 5\n") ==
        "b.toml:3: pcie.slot0.flight must be a time with a unit (fs, ps, ns, us, ms or s), not 5");
  CHECK(bench.error_of("[pcie.slot0]\nflight = \"5 us\"\n") ==
        "b.toml:3: pcie.slot0.flight must be 0 ns to 1 us, not \"5 us\"");
  CHECK(bench.error_of("[nic.eth0]\nmodel = \"descriptors\"\n") ==
        "b.toml:3: descriptors is not a model of nic; did you mean descriptor?");
  CHECK(bench.error_of("[nic.eth0]\nmodel = 3\n") == "b.toml:3: nic.eth0.model must be a string");
  CHECK(bench.error_of("[nic.eth1]\nslot = \"pcie.slot0\"\n") ==
        "b.toml:3: nic.eth1.model must be set; valid: descriptor, enso");
  CHECK(bench.error_of("[nic.eth1]\nmodel = \"enso\"\n") ==
        "b.toml:2: nic.eth1.slot must be set: where it is plugged in");
  CHECK(bench.error_of("[nic.eth0]\nslot = \"pcie.slot1\"\n") ==
        "b.toml:3: nic.eth0.slot must name a pcie of the board, not \"pcie.slot1\"; did you mean pcie.slot0?");
  CHECK(bench.error_of("[nic.eth0]\nslot = \"run\"\n") ==
        "b.toml:3: nic.eth0.slot must name a pcie of the board, not \"run\"; valid: pcie.slot0");
  CHECK(bench.error_of("[nic.eth0]\nqueues = 33\nrx_fifo = \"4 KiB\"\n") ==
        "b.toml:4: nic.eth0.rx_fifo must be at least 8 KiB for more than 32 queues");
  CHECK(bench.error_of("[nick.eth0]\n") == "b.toml:2: nick is not a kind of component; did you mean nic?");
  CHECK(bench.error_of("[nic]\nqueues = 3\n") ==
        "b.toml:3: nic.queues is in no component: the table must be [nic.NAME], not [nic]");
  CHECK(bench.error_of("extends = \"none\"\n") == "b.toml:2: " + bench.error_of("extends = [\"none\"]\n").substr(10));
  CHECK(bench.error_of("[workload]\ncall = 3\n") == "b.toml:3: workload.call is a table of parameters, not a value");
  CHECK(bench.error_of("sumary = \"x\"\n") == "b.toml:2: sumary is not a key of a board file; did you mean summary?");
  CHECK(bench.error_of("[[nic.eth0.queues]]\n") ==
        "b.toml:2: nic.eth0.queues must be a list of plain values, not of tables");
  CHECK(bench.error_of("[nic.eth0]\nqueues = 2020-01-01\n") ==
        "b.toml:3: nic.eth0.queues must not be a date or a time of day");
  CHECK(bench.error_of("[nic.\"a.b\"]\n") == "b.toml:2: a name may have only letters, digits, _ and -");
  CHECK_THAT(bench.error_of("[nic.eth0\n"), Contains("b.toml:2: not valid TOML: "));
  for (const char* letter : {"\u00e9", "\u2c9e", "\ufb00", "\ufeff"})
    CHECK_THAT(bench.error_of(std::string("a") + letter + " = 1\n"), Contains("b.toml:2: not valid TOML: "));
}

TEST_CASE("a value with its source must be complete", "[config]") {
  Bench bench;
  const auto flight = [&](const std::string& value) {
    return bench.error_of("[pcie.slot0]\nflight = " + value + "\n");
  };
  CHECK(flight("{ value = \"5 ns\", kind = \"fitted\", source = \"s\", points = [\"V1\"] }") == "no error");
  CHECK(flight("{ value = \"5 ns\", kind = \"fitted\", source = \"s\" }") ==
        "b.toml:3: pcie.slot0.flight is fitted and needs the points that it was fitted to");
  CHECK(flight("{ value = \"5 ns\", kind = \"assumed\", source = \"s\", points = [\"V1\"] }") ==
        "b.toml:3: pcie.slot0.flight has points, which only a fitted value has");
  CHECK(flight("{ value = \"5 ns\", kind = \"assumed\" }") ==
        "b.toml:3: pcie.slot0.flight needs a source beside its value");
  CHECK(flight("{ value = \"5 ns\", kind = \"guessed\", source = \"s\" }") ==
        "b.toml:3: pcie.slot0.flight.kind must be measured, stated, derived, fitted or assumed");
  CHECK(flight("{ value = \"5 ns\", kid = \"assumed\", source = \"s\" }") ==
        "b.toml:3: kid does not belong beside pcie.slot0.flight.value; did you mean kind?");
  CHECK(flight("{ kind = \"assumed\", source = \"s\" }") ==
        "b.toml:3: pcie.slot0.flight must be a time, 0 ns to 1 us, not a table without a value");
}

TEST_CASE("a board that is not there is answered with the nearest one that is", "[config]") {
  Bench bench;
  CHECK(bench.error("e801") == "e801: no such board; did you mean e810?");
  CHECK(bench.error("thunderx") == "thunderx: no such board; valid: e810");
  CHECK(bench.error(bench.root() / "mine/none.toml") == "none.toml: no such file");
  CHECK(bench.error(bench.root().string() + "/") == bench.root().string() + "/: is a directory, not a file");
  std::filesystem::create_symlink("loop.toml", bench.root() / "mine/loop.toml");
  CHECK(bench.error(bench.root() / "mine/loop.toml") == "loop.toml: cannot be read: Too many levels of symbolic links");
  CHECK(bench.error("/dev/zero") == "/dev/zero: is not a regular file");
  CHECK(bench.error(bench.mine("big.toml", std::string((1 << 20) + 1, '\n'))) == "big.toml: is larger than 1 MiB");
  CHECK(bench.error(bench.mine("p.toml", "extends = [\"hosts/pd\"]\n")) ==
        "p.toml:1: extends hosts/pd, which is no file beside it and no shipped part; did you mean hosts/pc?");
  CHECK(bench.error(bench.mine("p.toml", "extends = 3\n")) == "p.toml:1: extends must be a list of names");
}

TEST_CASE("a board that chooses another model keeps what both models have", "[config]") {
  Bench bench;
  const std::string path = bench.mine("b.toml", "extends = [\"e810\"]\n[nic.eth0]\nmodel = \"enso\"\npipes = 2\n");
  const BoardConfig board = bench.load(path);
  CHECK(board.parameters<Enso>("nic.eth0").pipes == 2);
  CHECK(board.parameters<Enso>("nic.eth0").slot == "pcie.slot0");
  CHECK(bench.load("e810", {"nic.eth0.model=enso"}).find("nic.eth0")->model() == "enso");
  // What a board says itself must be valid for the model that it chooses.
  CHECK_THAT(bench.error(bench.mine("c.toml", "extends = [\"e810\"]\n[nic.eth0]\nmodel = \"enso\"\nqueues = 2\n")),
             Contains("c.toml:4: nic.eth0.queues is not a parameter of the Enso NIC"));
  CHECK_THAT(bench.error(path, {"nic.eth0.queues=2"}), Contains("not a parameter of the Enso NIC"));
}

TEST_CASE("instances come in an order that no file's order influences", "[config]") {
  Bench bench;
  const std::string workload = "[workload]\nkind = \"open-loop\"\n";
  const auto paths = [&](const std::string& text) {
    std::vector<std::string> result;
    const BoardConfig board = bench.load(bench.mine("o.toml", text));
    for (const Instance& i : board.instances()) result.push_back(i.path());
    return result;
  };
  const auto expected = std::vector<std::string>{"pcie.a9", "pcie.a10", "pcie.b", "workload", "run"};
  CHECK(paths(workload + "[pcie.b]\n[pcie.a10]\n[pcie.a9]\n") == expected);
  CHECK(paths("[pcie.a9]\n[pcie.a10]\n[pcie.b]\n[run]\n" + workload) == expected);
}

TEST_CASE("the dump names every parameter and no absolute path, from any directory", "[config]") {
  Bench bench;
  bench.mine("sub/part.toml", "[nic.eth0]\nrx_fifo = \"8 KiB\"\n");
  const std::string path = bench.mine("b.toml", "extends = [\"e810\", \"sub/part\"]\n");
  const std::string dump = to_json(bench.load(path)).dump();
  CHECK_THAT(dump, !Contains(bench.root().string()));
  const fs::path before = fs::current_path();
  fs::current_path(bench.root() / "mine");
  const std::string again = to_json(bench.load("b.toml")).dump();
  fs::current_path(bench.root() / "mine/sub");
  const std::string and_again = to_json(bench.load("../b.toml")).dump();
  fs::current_path(before);
  CHECK(dump == again);
  CHECK(dump == and_again);

  const auto json = to_json(bench.load(path));
  CHECK(json["name"] == "b");
  CHECK(json["instances"]["nic.eth0"]["model"] == "descriptor");
  const auto& parameters = json["instances"]["nic.eth0"]["parameters"];
  CHECK(parameters.size() == 4);
  CHECK(parameters["rx_fifo"]["value"] == 8192);
  CHECK(parameters["rx_fifo"]["text"] == "8 KiB");
  CHECK(parameters["rx_fifo"]["unit"] == "B");
  CHECK(parameters["rx_fifo"]["set_by"] == "sub/part.toml:2");
  CHECK(parameters["moderation.time"]["value"] == 50'000);
  CHECK(parameters["moderation.time"]["kind"] == "fitted");
  CHECK(parameters["moderation.time"]["points"] == std::vector<std::string>{"V2", "V9"});
  CHECK(parameters["slot"]["value"] == "pcie.slot0");
  for (const auto& instance : json["instances"]) {
    for (const auto& p : instance["parameters"]) {
      CHECK(p.contains("value"));
      CHECK(p.contains("unit"));
      CHECK_FALSE(p["kind"].get<std::string>().empty());
      CHECK_FALSE(p["source"].get<std::string>().empty());
      CHECK_FALSE(p["set_by"].get<std::string>().empty());
    }
  }
}

TEST_CASE("the dump of a board is the same under its name and under its path", "[config]") {
  const Bench bench;
  CHECK(to_json(bench.load("e810")).dump() == to_json(bench.load(bench.root() / "boards/e810.toml")).dump());
}

TEST_CASE("the table has a line for every parameter", "[config]") {
  const Bench bench;
  // Columns are as wide as they must be: runs of spaces count as one.
  std::string table = to_table(bench.load("e810"));
  table.erase(std::unique(table.begin(), table.end(), [](char x, char y) { return x == ' ' && y == ' '; }),
              table.end());
  CHECK_THAT(table, Contains("nic.eth0 descriptor NIC\n"));
  CHECK_THAT(table, Contains("outstanding 1 call "));
  CHECK_THAT(table, Contains("fitted +-10 % default p50 [V2, V9]"));
  CHECK_THAT(table, Contains("7 ns measured +-5 % hosts/pc.toml:3 us\n"));
}

TEST_CASE("two boards' differences are listed", "[config]") {
  Bench bench;
  const BoardConfig a = bench.load("e810");
  CHECK(differences(a, a).empty());
  const BoardConfig b =
      bench.load(bench.mine("b.toml", "extends = [\"e810\"]\n[pcie.slot1]\n[nic.eth0]\nqueues = 5\n"));
  const auto d = differences(a, b);
  REQUIRE(d.size() == 2);
  CHECK(d[0].path == "nic.eth0.queues");
  CHECK(d[0].first == "4");
  CHECK(d[0].second == "5");
  CHECK(d[1].path == "pcie.slot1");
  CHECK(d[1].second == "slot");
}

TEST_CASE("overlapping regions are both named", "[config]") {
  const MemoryRegion plic{"plic", 0x0c00'0000, 64u << 20};
  const MemoryRegion uart{"uart", 0x1000'0000, 256};
  CHECK_NOTHROW(check_memory_map("my.toml", {uart, plic}));
  CHECK_THROWS_MATCHES(check_memory_map("my.toml", {{"uart", 0x0fff'ff01, 256}, plic}), UserError,
                       Message("my.toml: uart at 0x0fff_ff01 (256 B) overlaps plic at 0x0c00_0000 (64 MiB)"));
  // Of several overlapping regions, the error names the first in order of address.
  CHECK_THROWS_WITH(check_memory_map("m", {plic, {"a", 0x0c00'1000, 16}, {"b", 0x0d00'0000, 16}}),
                    Contains("a at 0x0c00_1000"));
  CHECK_NOTHROW(check_memory_map("m", {{"top", 0xff'ffff'ffff'f000, 0x1000}}));
  for (const MemoryRegion& beyond :
       {MemoryRegion{"top", 0xff'ffff'ffff'f000, 0x1001}, {"top", 1ull << 56, 1}, {"top", 0x1000, ~0ull}})
    CHECK_THROWS_WITH(check_memory_map("m", {beyond}), Contains("reaches beyond 56-bit physical addresses"));
  CHECK_THROWS_MATCHES(check_memory_map("m", {{"nothing", 0, 0}}), UserError, Message("m: nothing has no size"));
}

TEST_CASE("the nearest name is near", "[config]") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("quues", "queues") == 1);
  CHECK(edit_distance("e801", "e810") == 1);  // a swap
  CHECK(nearest_name("quues", {"slot", "queues"}) == "queues");
  CHECK(nearest_name("x", {"slot", "queues"}).empty());
  CHECK(nearest_name("harst", {"hart", "harts"}) == "hart");  // equally near: the first
  CHECK(nearest_name(std::string(100'000, 'a'), {"a"}).empty());
}

TEST_CASE("of more than a dozen names a message has those nearest to what was typed, or all", "[config]") {
  using config::shortened;
  CHECK(shortened("x", {"b", "a"}) == "b, a");
  std::vector<std::string> names;
  for (char c = 'a'; c < 'a' + 14; ++c) names.push_back(std::string("board-") + c);
  names[1] = "quite-another-name";
  names[4] = "and-one-that-is-longer-still";
  CHECK(shortened("board", names) ==
        "board-a, board-c, board-d, board-f, board-g, board-h, board-i, board-j, board-k, board-l, board-m, board-n "
        "and 2 "
        "more");
  CHECK(shortened("", names).find("quite-another-name") != std::string::npos);
  CHECK(shortened("", names).find("more") == std::string::npos);
}

TEST_CASE("resources are found by environment and in order", "[config]") {
  const Bench bench;
  const std::string value = (bench.root() / "none").string() + ":" + (bench.root() / "boards").string() + "::";
  setenv("SLUICE_TRIFLES", value.c_str(), 1);
  const auto found = resource_directories("trifles");
  unsetenv("SLUICE_TRIFLES");
  REQUIRE(found.size() == 1);
  CHECK(found[0] == bench.root() / "boards");
}

TEST_CASE("no text makes reading a board do worse than a UserError", "[config][fuzz]") {
  Bench bench;
  const std::string good =
      "summary = \"s\"\nextends = [\"e810\"]\n[pcie.slot0]\nlanes = 4\nflight = { value = \"5 ns\", kind = \"fitted\", "
      "source = \"x\", points = [\"V1\"] }\n[nic.eth0]\nmodel = \"descriptor\"\nqueues = 0x10\n[workload]\nkind = "
      "\"closed-loop\"\ncall = { program = 'echo', bytes = 1_000 }\n";
  const auto try_load = [&](const std::string& text) {
    try {
      bench.load(bench.mine("f.toml", text));
      return true;
    } catch (const UserError& e) {
      const std::string what = e.what();
      CHECK(what.find('\n') == std::string::npos);
      CHECK_THAT(what, Contains("f.toml"));
      return false;
    }
  };
  REQUIRE(try_load(good));
  for (std::size_t n = 0; n < good.size(); ++n) try_load(good.substr(0, n));

  std::mt19937_64 random(1);
  const std::string alphabet = "[]{}=.,\"'#\n -_+0123456789abcdefxnstrue\\\x80\xff\x00\r";
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      if (random() % 2)
        text[at] = c;
      else
        text.insert(at, 1, c);
    }
    try_load(text);
  }
  for (int i = 0; i < 1000; ++i) {
    std::string text(random() % 64, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    try_load(text);
  }
  try_load(std::string(100'000, '['));
  try_load("a = " + std::string(100'000, '['));
  std::string deep = "[pcie.slot0]\nlanes = ";
  for (int i = 0; i < 10'000; ++i) deep += "{a=";
  try_load(deep);
}
