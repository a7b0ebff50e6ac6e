// SPDX-License-Identifier: Apache-2.0
/// Studies: which points a file means, in which order, and what is refused with which sentence.

#include <catch2/catch.hpp>

#include "platform/study/points.h"
#include "platform/study/range.h"
#include "tests/unit/platform/config_bench.h"

using namespace sluice;
using namespace sluice::study;

namespace {

class StudyBench : public config::Bench {
 public:
  Points points(const std::string& text) {
    const std::string file = mine("s.toml", text);
    return {parse_study(text, file), registry_, config::BoardDirectories({root() / "boards"})};
  }
  std::vector<std::string> listed(const std::string& text) {
    const Points all = points(text);
    std::vector<std::string> list;
    for (std::uint64_t n = 0; n < all.size(); ++n) list.push_back(all.describe(all.at(n)));
    return list;
  }
  /// The sentence with which a study is refused, without its directory.
  std::string refused(const std::string& text) {
    try {
      points(text);
    } catch (const config::UserError& e) {
      std::string sentence = e.what();
      const std::string prefix = (root() / "mine/").string();
      for (std::size_t at; (at = sentence.find(prefix)) != std::string::npos;) sentence.erase(at, prefix.size());
      return sentence;
    }
    return "nothing";
  }

 private:
  config::Registry registry_ = config::registry();
};

using List = std::vector<std::string>;

/// The values of a range as a board file would write them.
std::string range(base::Value from, base::Value to, base::Value by, bool is_factor) {
  try {
    std::string text;
    for (const base::Value& v : values_of({from, to, by, is_factor})) text += config::toml_text(v) + " ";
    return text;
  } catch (const base::ValueError& e) {
    return e.what();
  }
}

base::Value whole(std::int64_t v) { return {v}; }
base::Value text(const char* v) { return {std::string(v)}; }

}  // namespace

TEST_CASE("a range rises by steps or factors up to its end, in its unit", "[study]") {
  CHECK(range(whole(1), whole(8), whole(2), true) == "1 2 4 8 ");
  CHECK(range(whole(1), whole(9), whole(2), true) == "1 2 4 8 ");
  CHECK(range(whole(0), whole(7), whole(3), false) == "0 3 6 ");
  CHECK(range(whole(5), whole(5), whole(1), false) == "5 ");
  CHECK(range(base::Value{0.1}, base::Value{0.5}, base::Value{0.1}, false) == "0.1 0.2 0.3 0.4 0.5 ");
  CHECK(range({1.0}, whole(100), base::Value{2.5}, true) == "1 2.5 6.25 15.625 39.0625 97.65625 ");
  CHECK(range(whole(1), whole(100), base::Value{2.5}, true) == "1 3 6 16 39 98 ");
  CHECK(range(whole(1), whole(5), base::Value{1.1}, true) == "1 2 3 4 5 ");
  CHECK(range(whole(1), whole(2), base::Value{2.4}, true) == "1 ");
  CHECK(range(whole(1), whole(5), base::Value{1.0000000001}, true) == "has a factor too small to change its values");
  CHECK(range(text("1 us"), text("2 us"), text("0.5 us"), false) == "\"1 us\" \"1.5 us\" \"2 us\" ");
  CHECK(range(text("1 us"), text("4 us"), whole(2), true) == "\"1 us\" \"2 us\" \"4 us\" ");
  // The way from one end to the other is no number.
  const auto count = [](const std::string& values) { return std::count(values.begin(), values.end(), ' '); };
  const std::string powers = range(base::Value{1e-200}, base::Value{1e200}, base::Value{10.0}, true);
  CHECK(count(powers) == 401);
  CHECK(powers.ends_with(" 1e+199 1e+200 "));
  const std::string both_signs = range(base::Value{-1e308}, base::Value{1e308}, base::Value{1e307}, false);
  CHECK(count(both_signs) == 21);
  CHECK(both_signs.ends_with(" 9e+307 1e+308 "));
  // The next value would not fit in 64 bits.
  CHECK(range(whole(1), whole(INT64_MAX), whole(INT64_MAX / 2), true) == "1 4611686018427387903 ");
}

TEST_CASE("a range that does not rise, has no unit in common or no end is refused", "[study]") {
  CHECK(range(whole(2), whole(1), whole(1), false) == "must end at or above its beginning: it rises");
  CHECK(range(whole(1), whole(2), whole(0), false) == "must have a step of more than 0");
  CHECK(range(whole(1), whole(2), whole(1), true) == "must have a factor of more than 1");
  CHECK(range(whole(0), whole(2), whole(2), true) == "with a factor must begin above 0");
  CHECK(range(text("1 us"), text("2 ms"), text("1 us"), false) == "must have one unit for from and to");
  CHECK(range(text("1 us"), text("2 us"), text("1 ns"), false) == "must have one unit for from, to and step");
  CHECK(range(text("1 us"), text("2 us"), text("2 us"), true) == "must have a plain number as its factor");
  CHECK(range(text("us"), text("2 us"), text("2 us"), false) == "has the value \"us\", which is no number with a unit");
  CHECK(range(base::Value{true}, whole(2), whole(1), false) == "must have numbers, or texts with a number and a unit");
  CHECK(range(whole(0), whole(INT64_MAX), whole(1), false) == "has more than 10000000 values");
  CHECK(range(text("1 us"), text("18446744073709551608 us"), text("0.25 us"), false) ==
        "has more than 10000000 values");
  CHECK(range(base::Value{1e-300}, base::Value{1e300}, base::Value{1.000001}, true) == "has more than 10000000 values");
  CHECK(range(base::Value{1.0}, base::Value{2.0}, base::Value{1.00000001}, true) == "has more than 10000000 values");
  CHECK(range(base::Value{1.0}, base::Value{1.0 + 1e-15}, base::Value{1e-17}, false) ==
        "has a step too small to change its values");
}

TEST_CASE("a grid is the product of its boards and dimensions, the last one fastest", "[study]") {
  StudyBench bench;
  bench.ship("other.toml", "extends = [\"e810\"]\n");
  CHECK(
      bench.listed("boards = [\"e810\", \"other\"]\n[grid]\nnic.eth0.queues = [1, 2]\n"
                   "workload.outstanding = { from = 4, to = 8, factor = 2 }\n") ==
      List{"e810, nic.eth0.queues = 1, workload.outstanding = 4", "e810, nic.eth0.queues = 1, workload.outstanding = 8",
           "e810, nic.eth0.queues = 2, workload.outstanding = 4", "e810, nic.eth0.queues = 2, workload.outstanding = 8",
           "other, nic.eth0.queues = 1, workload.outstanding = 4",
           "other, nic.eth0.queues = 1, workload.outstanding = 8",
           "other, nic.eth0.queues = 2, workload.outstanding = 4",
           "other, nic.eth0.queues = 2, workload.outstanding = 8"});
  // The order is that of the file, not of the names.
  CHECK(bench.listed("boards = [\"e810\"]\n[grid]\nworkload.outstanding = [1, 2]\nnic.eth0.queues = [3, 4]\n") ==
        List{"e810, workload.outstanding = 1, nic.eth0.queues = 3",
             "e810, workload.outstanding = 1, nic.eth0.queues = 4",
             "e810, workload.outstanding = 2, nic.eth0.queues = 3",
             "e810, workload.outstanding = 2, nic.eth0.queues = 4"});
  CHECK(bench.listed("boards = [\"e810\"]\n") == List{"e810"});
}

TEST_CASE("lists advance together", "[study]") {
  StudyBench bench;
  const std::string head = "boards = [\"e810\"]\n[grid]\npcie.slot0.lanes = [4, 8]\n[[grid.together]]\n";
  CHECK(bench.listed(head + "nic.eth0.queues = [1, 2]\nworkload.outstanding = [10, 20]\n") ==
        List{"e810, pcie.slot0.lanes = 4, nic.eth0.queues = 1, workload.outstanding = 10",
             "e810, pcie.slot0.lanes = 4, nic.eth0.queues = 2, workload.outstanding = 20",
             "e810, pcie.slot0.lanes = 8, nic.eth0.queues = 1, workload.outstanding = 10",
             "e810, pcie.slot0.lanes = 8, nic.eth0.queues = 2, workload.outstanding = 20"});
  CHECK(bench.refused(head + "nic.eth0.queues = [1, 2]\nworkload.outstanding = [10]\n") ==
        "s.toml:6: workload.outstanding has 1 values and nic.eth0.queues has 2, which must be as many to advance "
        "together");
}

TEST_CASE("a condition leaves points out by numbers in the parameters' units, names and the board", "[study]") {
  StudyBench bench;
  bench.ship("other.toml", "extends = [\"e810\"]\n");
  const auto left = [&](const std::string& where) {
    return bench
        .listed("boards = [\"e810\", \"other\"]\n[grid]\nwhere = '" + where +
                "'\nnic.eth0.queues = [1, 2]\npcie.slot0.flight = [\"1 us\", \"500 ns\"]\n")
        .size();
  };
  CHECK(left("true") == 8);
  CHECK(left("nic.eth0.queues == 2") == 4);
  CHECK(left("pcie.slot0.flight > 999") == 4);
  CHECK(left("nic.eth0.queues * 500 == pcie.slot0.flight") == 4);
  CHECK(left("board == \"other\" && nic.eth0.queues > 1") == 2);
  CHECK(left("board != \"other\" || nic.eth0.queues > 1") == 6);
  // A text that is never there would make a condition false without a word.
  const auto refused = [&](const std::string& where) {
    return bench.refused("boards = [\"e810\", \"other\"]\n[grid]\nwhere = '" + where +
                         "'\nnic.eth0.queues = [1, 2]\npcie.slot0.flight = [\"1 us\", \"500 ns\"]\n");
  };
  CHECK(refused("board == \"othr\"") ==
        "s.toml:3: where names \"othr\", which is no board of the study and no text that the grid sweeps; did you mean "
        "other?");
  CHECK(refused("nic.eth0.queues == \"2\"").starts_with("s.toml:3: where names \"2\", which is no board"));
  CHECK(refused("pcie.slot0.flight == \"1 us\"").starts_with("s.toml:3: where names \"1 us\", which is no board"));
}

TEST_CASE("a condition that cannot be decided is refused with what is wrong in it", "[study]") {
  StudyBench bench;
  const auto refused = [&](const std::string& where) {
    return bench.refused("boards = [\"e810\"]\n[grid]\nwhere = '" + where + "'\nnic.eth0.queues = [1, 2]\n");
  };
  CHECK(refused("false") == "s.toml:3: where leaves no point of the grid");
  CHECK(refused("nic.eth0.speed > 1") ==
        "s.toml:3: where = 'nic.eth0.speed > 1' has nic.eth0.speed, which the grid does not sweep; it has "
        "nic.eth0.queues, board");
  CHECK(refused("nic.eth0.queues % 2 == 0") ==
        "s.toml:3: where = 'nic.eth0.queues % 2 == 0' cannot be read from % 2 == 0 on; operators are + - * / ^ == != < "
        "<= > "
        ">= && ||");
  CHECK(refused("nic.eth0.queues = 1") == "s.toml:3: where = 'nic.eth0.queues = 1' assigns with =; == compares");
  CHECK(refused("nic.eth0.queues += 1") == "s.toml:3: where = 'nic.eth0.queues += 1' assigns with =; == compares");
  CHECK(refused("nic.eth0.queues") == "s.toml:3: where = 'nic.eth0.queues' is neither true nor false");
  CHECK_THAT(refused("board > 1"), Catch::StartsWith("s.toml:3: where = 'board > 1' cannot be decided: "));
  CHECK_THAT(refused("nic.eth0.queues >"),
             Catch::StartsWith("s.toml:3: where = 'nic.eth0.queues >' cannot be decided: "));
  CHECK_THAT(refused(std::string(5000, '(')), Catch::Contains("has more than 4096 characters"));
  CHECK_THAT(refused(std::string(200, '(')), Catch::Contains("has more than 100 parentheses"));
}

TEST_CASE("a parameter that does not exist is named even where a condition uses it", "[study]") {
  StudyBench bench;
  CHECK(bench.refused("boards = [\"e810\"]\n[grid]\nwhere = 'nic.eth0.queus > 1'\nnic.eth0.queus = [1, 2]\n") ==
        "s.toml:4: nic.eth0.queus is not a parameter of the descriptor NIC; did you mean nic.eth0.queues?");
  CHECK(bench.refused("boards = [\"e810\"]\n[grid]\nwhere = 'nic.eth0.queues > 1'\nnic.eth0.queues = [1, 99]\n") ==
        "s.toml:4: nic.eth0.queues must be 1 to 64, not 99");
}

TEST_CASE("several grids follow each other, each with settings and boards of its own", "[study]") {
  StudyBench bench;
  bench.ship("other.toml", "extends = [\"e810\"]\n");
  const Points all = bench.points(
      "boards = [\"e810\"]\n[settings]\nworkload.outstanding = 7\n[[grid]]\nnic.eth0.queues = [1]\n"
      "[[grid]]\nboards = [\"other\"]\npcie.slot0.lanes = [1, 2]\n[grid.settings]\nworkload.outstanding = 9\n");
  REQUIRE(all.size() == 3);
  CHECK(all.describe(all.at(0)) == "e810, nic.eth0.queues = 1");
  CHECK(all.describe(all.at(2)) == "other, pcie.slot0.lanes = 2");
  CHECK(all.board_of(all.at(0)).parameters<config::ClosedLoop>("workload").outstanding == 7);
  CHECK(all.board_of(all.at(2)).parameters<config::ClosedLoop>("workload").outstanding == 9);
  CHECK(all.board_of(all.at(2)).parameters<config::Slot>("pcie.slot0").lanes == 2);
  CHECK(all.board_of(all.at(2)).find("workload")->origin("outstanding").set_by == "s.toml:10");
  REQUIRE(all.swept().size() == 2);
  CHECK(all.swept()[1].path == "pcie.slot0.lanes");
}

TEST_CASE("points that are the same are found, however they are written", "[study]") {
  StudyBench bench;
  const std::string head = "boards = [\"e810\"]\n";
  CHECK(bench.refused(head + "[grid]\npcie.slot0.flight = [\"1 us\", \"2 ns\", \"1000 ns\"]\n") ==
        "s.toml:2: point 2 is the same as point 0: e810, pcie.slot0.flight = 1 us");
  // What the board has is what another grid sweeps.
  CHECK(bench.refused(head + "[[grid]]\nnic.eth0.queues = [1]\n[[grid]]\nnic.eth0.queues = [2]\n"
                             "pcie.slot0.lanes = [4, 8]\n[[grid]]\npcie.slot0.lanes = [8]\nnic.eth0.queues = [1]\n") ==
        "s.toml:7: point 3 is the same as point 0: e810, pcie.slot0.lanes = 8, nic.eth0.queues = 1");
  CHECK(bench.refused(head + "[[grid]]\nnic.eth0.queues = [1]\n[[grid]]\npcie.slot0.lanes = [4]\n"
                             "[grid.settings]\nnic.eth0.queues = 1\n") == "nothing");
  CHECK(bench.refused(head + "[[grid]]\nnic.eth0.queues = [1]\n[[grid]]\npcie.slot0.lanes = [8]\n"
                             "[grid.settings]\nnic.eth0.queues = 1\n") ==
        "s.toml:4: point 1 is the same as point 0: e810, pcie.slot0.lanes = 8");
  CHECK(bench.refused(head + "[[grid]]\nnic.eth0.queues = [1]\n[[grid]]\npcie.slot0.lanes = [8]\n") == "nothing");
}

TEST_CASE("seeds and replications number the runs of each case", "[study]") {
  StudyBench bench;
  const auto parsed = [&](const std::string& text) { return parse_study(text, "s.toml"); };
  CHECK(parsed("boards = [\"e810\"]\nseeds = { from = 3, to = 5, step = 1 }\n").seeds ==
        std::vector<std::uint64_t>{3, 4, 5});
  CHECK(bench.refused("boards = [\"e810\"]\nseeds = [1, 2, 1]\n") == "s.toml:2: seeds has 1 twice");
  CHECK(bench.refused("boards = [\"e810\"]\nseeds = [-1]\n") ==
        "s.toml:2: seeds must be whole numbers that are not negative");
  CHECK(bench.refused("boards = [\"e810\"]\nreplications = 0\n") ==
        "s.toml:2: replications must be a whole number, 1 to 100000");
  CHECK(bench.refused("boards = [\"e810\"]\nseeds = [1]\n[settings]\nrun.seed = 4\n") ==
        "s.toml:4: run.seed is set by seeds; leave one of them out");
  CHECK(bench.refused("boards = [\"e810\"]\nreplications = 2\n[grid]\nrun.replication = [4]\n") ==
        "s.toml:4: run.replication is numbered by replications; leave one of them out");
}

TEST_CASE("mistakes in a study name the line and what would be valid", "[study]") {
  StudyBench bench;
  const std::string head = "boards = [\"e810\"]\n[grid]\n";
  CHECK(bench.refused("") == "s.toml: the study names no boards; boards = [\"e810-poll\"] would");
  CHECK(bench.refused("boards = []\n") == "s.toml:1: boards must be a list of names that is not empty");
  CHECK(bench.refused("boards = [\"e810\", \"e810\"]\n") == "s.toml:1: boards has e810 twice");
  CHECK(bench.refused("boards = [\"e811\"]\n") == "s.toml:1: e811: no such board; did you mean e810?");
  CHECK(bench.refused("bords = [\"e810\"]\n") == "s.toml:1: bords is not a key of a study; did you mean boards?");
  CHECK(bench.refused(head + "nic.eth0.queus = [1]\n") ==
        "s.toml:3: nic.eth0.queus is not a parameter of the descriptor NIC; did you mean nic.eth0.queues?");
  CHECK(bench.refused(head + "nic.eth1.queues = [1]\n") ==
        "s.toml:3: the board has no nic.eth1; did you mean nic.eth0?");
  CHECK(bench.refused(head + "nick.eth0.queues = [1]\n") ==
        "s.toml:3: nick is not a kind of component; did you mean nic?");
  CHECK(bench.refused(head + "nic.eth0.queues = []\n") ==
        "s.toml:3: nic.eth0.queues has no values, so the grid is empty");
  CHECK(bench.refused(head + "nic.eth0.queues = 4\n") ==
        "s.toml:3: nic.eth0.queues must be a list of values, or { from = ..., to = ..., step or factor = ... }");
  CHECK(bench.refused(head + "nic.eth0.queues = [1, 65]\n") ==
        "s.toml:3: nic.eth0.queues must be 1 to 64, not 65 (point 1: e810, nic.eth0.queues = 65)");
  CHECK(bench.refused(head + "nic.eth0.queues = { from = 1, to = 4 }\n") ==
        "s.toml:3: nic.eth0.queues must have from, to, and step or factor");
  CHECK(bench.refused(head + "nic.eth0.queues = { from = 1, to = 4, step = 1, factor = 2 }\n") ==
        "s.toml:3: nic.eth0.queues has a step and a factor; leave one of them out");
  CHECK(bench.refused(head + "nic.eth0.queues = { from = 1, to = 4, by = 1 }\n") ==
        "s.toml:3: nic.eth0.queues.by: a range has from, to, and step or factor");
  CHECK(bench.refused(head + "queues = [1]\n") ==
        "s.toml:3: queues is not a key of a grid, which has boards, where, settings, together and the parameters that "
        "it sweeps");
  CHECK(bench.refused(head + "nic.eth0.queues = [1]\n[[grid.together]]\nnic.eth0.queues = [2]\n") ==
        "s.toml:5: nic.eth0.queues is swept twice in one grid");
  CHECK(bench.refused(head + "nic.eth0.queues = [1]\n[grid.settings]\nnic.eth0.queues = 2\n") ==
        "s.toml:5: nic.eth0.queues is swept by this grid; leave the setting out");
  CHECK(bench.refused("boards = [\"e810\"]\n[settings]\nnic.eth0.queues = 65\n") ==
        "s.toml:3: nic.eth0.queues must be 1 to 64, not 65");
  CHECK(bench.refused("boards = [\"e810\"]\ngrid = 3\n") ==
        "s.toml:2: grid must be a table [grid], or several [[grid]]");
  // A rule between parameters: of these two only the second point breaks it.
  CHECK(bench.refused(head + "nic.eth0.rx_fifo = [\"8 KiB\", \"4 KiB\"]\n[grid.settings]\nnic.eth0.queues = 64\n") ==
        "s.toml:3: nic.eth0.rx_fifo must be at least 8 KiB for more than 32 queues (point 1: e810, nic.eth0.rx_fifo = "
        "4 KiB)");
}

TEST_CASE("a study of too many points is refused with their number, at once", "[study]") {
  StudyBench bench;
  const std::string thousand = "{ from = 1, to = 1000, step = 1 }\n";
  CHECK(bench.refused("boards = [\"e810\"]\nreplications = 100\n[grid]\nworkload.outstanding = " + thousand +
                      "workload.call.bytes = " + thousand) ==
        "s.toml: the study has 100000000 points, conditions aside; 10000000 is the most");
}

TEST_CASE("a path in a study is relative to the study", "[study]") {
  StudyBench bench;
  bench.mine("a/own.toml", "extends = [\"e810\"]\n");
  bench.mine("a/said.txt", "x");
  const std::string text = "boards = [\"a/own.toml\"]\n[settings]\nrun.script = \"a/said.txt\"\n";
  const Points all = bench.points(text);
  CHECK(all.board_of(all.at(0)).parameters<config::Run>("run").script == (bench.root() / "mine/a/said.txt").string());
  CHECK(bench.refused("boards = [\"a/own.toml\", \"e810\"]\n") == "nothing");
  bench.mine("b/own.toml", "extends = [\"e810\"]\n");
  CHECK(bench.refused("boards = [\"a/own.toml\", \"b/own.toml\"]\n") ==
        "s.toml:1: another board of the study is called own, too; give one file another name");
}

TEST_CASE("a search is over the values of one parameter, for each choice of the others", "[study]") {
  StudyBench bench;
  const Points all = bench.points(
      "boards = [\"e810\"]\n[grid]\nnic.eth0.queues = [1, 2]\n"
      "workload.outstanding = { values = [3, 5, 9], while = \"latency_ns.p99 < 7 && x.y > 0\" }\n"
      "pcie.slot0.lanes = [4, 8]\nwhere = \"workload.outstanding < 9 || nic.eth0.queues == 1\"\n");
  CHECK(all.is_adaptive());
  const std::vector<Search> searches = all.searches();
  REQUIRE(searches.size() == 4);
  for (const Search& s : searches) {
    CHECK(s.axis->path == "workload.outstanding");
    const Case first = all.case_at(s.cases.front());
    CHECK(s.cases.size() == (first.values[0].text == "1" ? 3 : 2));
    for (std::size_t i = 0; i < s.cases.size(); ++i) {
      const Case c = all.case_at(s.cases[i]);
      CHECK(c.values[1].text == (i == 0 ? "3" : i == 1 ? "5" : "9"));
      CHECK(c.values[0].text == first.values[0].text);
      CHECK(c.values[2].text == first.values[2].text);
    }
  }
}

TEST_CASE("a precision says how many replications there are at most", "[study]") {
  const auto study = [](const std::string& table) {
    return parse_study("boards = [\"e810\"]\nreplications = " + table + "\n", "s.toml");
  };
  const Study precise = study("{ quantity = \"latency_ns.p99\", within = \"2.5 %\", least = 4, most = 7 }");
  CHECK(precise.replications == 7);
  CHECK(precise.precision->within == 0.025);
  CHECK(precise.precision->least == 4);
  CHECK(study("{ quantity = \"q\", within = \"2 %\" }").replications == 100);
  CHECK_FALSE(study("3").precision);
}

TEST_CASE("mistakes in a search or a precision are named", "[study]") {
  StudyBench bench;
  const auto search = [&bench](const std::string& line) {
    return bench.refused("boards = [\"e810\"]\n[grid]\n" + line + "\n");
  };
  CHECK(search("workload.outstanding = { values = [1, 2], from = 1, while = \"x > 1\" }") ==
        "s.toml:3: workload.outstanding must have values and while, or a range and while");
  CHECK(search("workload.outstanding = { while = \"x > 1\" }") ==
        "s.toml:3: workload.outstanding must have from, to, and step or factor");
  CHECK(search("workload.outstanding = { values = [1, 2], while = \"\" }") ==
        "s.toml:3: workload.outstanding.while must be a condition on quantities");
  CHECK(search("workload.outstanding = { values = [1, 2], while = 5 }") ==
        "s.toml:3: workload.outstanding.while must be a string");
  CHECK(search("workload.outstanding = { values = [1, 2] }") ==
        "s.toml:3: workload.outstanding has values = [...], which belongs to a search: while = \"...\"; else give the "
        "list "
        "alone");
  CHECK(
      search("workload.outstanding = { values = { from = 1, to = 2, step = 1, while = \"x\" }, while = \"x > 1\" }") ==
      "s.toml:3: workload.outstanding.while: a range has from, to, and step or factor");
  CHECK(bench.refused("boards = [\"e810\"]\nseeds = { from = 1, to = 2, step = 1, while = \"x\" }\n") ==
        "s.toml:2: seeds.while: a range has from, to, and step or factor");
  CHECK(search("workload.outstanding = { values = [1, 2], while = \"host.wall_s > 1\" }") ==
        "s.toml:3: host.wall_s depends on the machine, and is no quantity of a study; host.csv has it");
  CHECK(search("workload.outstanding = { values = [1, 2], while = \"true\" }") ==
        "s.toml:3: workload.outstanding.while must be a condition on quantities");
  CHECK(search("workload.outstanding = { values = [1, 2], while = \"x + 1\" }") ==
        "s.toml:3: while = 'x + 1' is neither true nor false");
  CHECK(
      search("workload.outstanding = { values = [1, 2], while = \"nic.eth0.queues < 3\" }\nnic.eth0.queues = [1, 2]") ==
      "s.toml:3: nic.eth0.queues is no quantity of a result, which a search is about");
  CHECK(search("workload.outstanding = { values = [1, 2], while = \"x > (\" }")
            .starts_with("s.toml:3: while = 'x > (' "));
  CHECK(search("workload.outstanding = { values = [1, 2], while = \"x > 1\" }\n"
               "nic.eth0.queues = { values = [1, 2], while = \"x > 1\" }") ==
        "s.toml:4: a grid may have one search, and workload.outstanding is another");
  CHECK(search("[[grid.together]]\nworkload.outstanding = { values = [1, 2], while = \"x > 1\" }\nnic.eth0.queues = "
               "[1, 2]") == "s.toml:4: workload.outstanding advances together with another, and cannot be searched");
  const auto precision = [&bench](const std::string& table) {
    return bench.refused("boards = [\"e810\"]\nreplications = " + table + "\n");
  };
  CHECK(precision("{ quantity = \"q\" }") ==
        "s.toml:2: replications must be a number, or a table with quantity and within");
  CHECK(precision("{ quantity = \"q\", within = \"0 %\" }") ==
        "s.toml:2: replications.within must be more than 0 % and less than 100 %");
  CHECK(precision("{ quantity = \"host.wall_s\", within = \"1 %\" }") ==
        "s.toml:2: host.wall_s depends on the machine, and is no quantity of a study; host.csv has it");
  CHECK(precision("{ quantity = \"q\", within = \"1 %\", least = 1 }") ==
        "s.toml:2: replications.least must be a whole number, 2 to 100000");
  CHECK(precision("{ quantity = \"q\", within = \"1 %\", most = 4 }") ==
        "s.toml:2: replications.least is 5, more than replications.most, 4");
  CHECK(precision("{ quantity = \"q\", within = \"1 %\", mots = 4 }") ==
        "s.toml:2: replications.mots is not a key of a precision; did you mean most?");
  CHECK(precision("{ quantity = \"q\", within = \"1 %\" }\nseeds = [1]") ==
        "s.toml:3: seeds has no use beside a precision, which numbers replications");
}
