// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "platform/config/user_error.h"
#include "platform/page/boards.h"
#include "platform/page/document.h"
#include "platform/page/study/study_plots.h"
#include "platform/page/table.h"

using namespace sluice::page;
using Catch::Matchers::Equals;
using sluice::config::UserError;

TEST_CASE("text stays text in HTML and in scripts") {
  CHECK(escaped("a<b>&\"c'\n") == "a&lt;b&gt;&amp;&quot;c&#39;\n");
  CHECK(escaped(std::string_view("\0\x1b\x7f", 3)) == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(escaped("\xc3\xa9") == "\xc3\xa9");
  const Json json = {{"</script>", "<!--"}};
  CHECK(script_json(json) == R"({"\u003c/script>":"\u003c!--"})");
  CHECK(Json::parse(script_json(json)) == json);
}

TEST_CASE("numbers are exact in data and short for people") {
  CHECK(exact_text(8.0) == "8");
  CHECK(exact_text(2504.707099333333) == "2504.707099333333");
  CHECK(exact_text(1e-7) == "1e-07");
  CHECK(exact_text(std::numeric_limits<double>::quiet_NaN()).empty());
  CHECK(exact_text(std::optional<double>()).empty());
  CHECK(short_text(2333.66997) == "2,333.7");
  CHECK(short_text(-2393839.8141) == "-2,393,840");
  CHECK(short_text(999) == "999");
  CHECK(short_text(0.0457) == "0.0457");
  CHECK(short_text(1234567) == "1,234,567");
  CHECK(short_text(2e-5) == "2.0000e-05");
  CHECK(short_text(33213.4, 3) == "33,213");
  CHECK(short_text(0.77273, 3) == "0.773");
  CHECK(short_text(1e300) == "1.0000e+300");
}

TEST_CASE("CSV files quote what they must") {
  const Data data{{{"a", "x, y"}, {"b", "z", true}}, {{"say \"no\"", "1"}, {"two\nlines", ""}}};
  CHECK(csv_text(data) == "\"x, y\",z\n\"say \"\"no\"\"\",1\n\"two\nlines\",\n");
}

TEST_CASE("an axis is logarithmic beyond two decades") {
  CHECK(spans_decades({1, 100.1}));
  CHECK_FALSE(spans_decades({1, 100}));
  CHECK_FALSE(spans_decades({0, 1e6}));
  CHECK_FALSE(spans_decades({-1, 1e6}));
  CHECK_FALSE(spans_decades({}));
  CHECK(grows_by_factors({1, 2, 4, 8}));
  CHECK_FALSE(grows_by_factors({1, 2, 4}));
  CHECK_FALSE(grows_by_factors({1, 2, 3, 4}));
  CHECK_FALSE(grows_by_factors({0, 2, 4, 8}));
}

TEST_CASE("every axis has a quantity and a unit") {
  CHECK(axis_title("latency_ns.p99", "ns") == "latency p99 (ns)");
  CHECK(axis_title("latency_ns.p999", "ns") == "latency p99.9 (ns)");
  CHECK(axis_title("load.achieved_per_s", "1/s") == "load achieved (1/s)");
  CHECK(axis_title("links.up.utilisation", "") == "links up utilisation (share)");
  CHECK(axis_title("requests.lost", "") == "requests lost (count)");
}

TEST_CASE("plots have names that are files, each once") {
  Document page("title");
  for (const char* name : {"../../etc", "a/b c", "a/b c", "A-b-c", "", "\xc3\xa9"}) {
    Plot plot{name, "a plot", "", {{{"x", "x (count)", true}}, {{"1"}}}, Json::object()};
    page.plot(std::move(plot));
  }
  page.plot({"left out", "a plot without numbers", "", {}, Json::object()});
  std::vector<std::string> names;
  for (const auto& [name, data] : page.plot_data()) names.push_back(name);
  CHECK_THAT(names, Equals(std::vector<std::string>{"etc", "a-b-c", "a-b-c-2", "A-b-c-3", "plot", "plot-2"}));
}

namespace {

std::string mistake_in(const char* text, void (*read)(const Node&)) {
  const Json json = Json::parse(text);
  try {
    read(Node(json, "f.json"));
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("what is wrong in a file has its place") {
  CHECK(mistake_in("[]", [](const Node& n) { n.at("a"); }) == "f.json: its content must be an object");
  CHECK(mistake_in("{}", [](const Node& n) { n.at("a"); }) == "f.json: a is missing");
  CHECK(mistake_in(R"({"a": {"b": [1, {}]}})", [](const Node& n) { n.at("a").list("b")[1].number(); }) ==
        "f.json: a.b[1] must be a number");
  CHECK(mistake_in(R"({"a": 1})", [](const Node& n) { n.list("a"); }) == "f.json: a must be a list");
  CHECK(mistake_in(R"({"a": -1})", [](const Node& n) { n.at("a").whole(); }) ==
        "f.json: a must be a whole number, 0 or more");
  CHECK(mistake_in(R"({"a": null})", [](const Node& n) {
          if (n.number("a")) throw UserError("null is a number");
        }).empty());
}

namespace {

constexpr const char* kStudy = R"({
  "name": "s", "measure": [{"quantity": "latency_ns.p99", "unit": "ns"}],
  "axes": [{"path": "w.size", "unit": "B", "values": ["64", "8", "64 KiB"]}, {"path": "w.only", "values": ["1"]},
           {"path": "v.size", "values": ["a", "b"]}],
  "cases": [
    {"case": 0, "board": "a", "settings": {"w.size": "64", "w.only": "1", "v.size": "b"}, "numbers": {"w.size": 64},
     "quantities": {"latency_ns.p99": {"value": 2, "interval_95": [1.5, 2.5], "runs": 3}}},
    {"case": 7, "board": "b", "settings": {"w.size": "8", "w.only": "1", "v.size": "a"}, "numbers": {"w.size": 8}},
    {"case": 2, "board": "a", "settings": {"w.size": "64 KiB", "w.only": "1"}, "numbers": {"w.size": 65536}}],
  "points": [{"point": 0, "id": "00112233445566778899", "case": 7, "seed": 1, "replication": 0, "state": "done",
              "quantities": {"latency_ns.p99": 2}}]})";

Study study_of(const Json& json) { return study_data(Node(json, "study.json")); }

}  // namespace

TEST_CASE("a study's cases know their points, and its axes their settings") {
  const Json json = Json::parse(kStudy);
  const Study study = study_of(json);
  CHECK_THAT(study.boards(), Equals(std::vector<std::string>{"a", "b"}));
  CHECK_THAT(study.cases[1].points, Equals(std::vector<std::size_t>{0}));
  CHECK(study.points[0].of_case == 1);
  CHECK(study.points[0].result_file() == "points/00/00112233445566778899/result.json");
  const auto axes = varied_axes(study, [](const std::string& path) { return path == "v.size" ? "colour" : "B"; });
  REQUIRE(axes.size() == 2);
  CHECK(axes[0].number);
  CHECK(axes[0].title == "w.size (B)");
  CHECK(axes[0].name == "w.size");
  CHECK_THAT(axes[0].order, Equals(std::vector<std::string>{"8", "64", "64 KiB"}));
  CHECK_FALSE(axes[1].number);
  CHECK(axes[1].title == "v.size (colour)");
  CHECK(setting_text(study.cases[2], axes) == "w.size 64 KiB, v.size not set");
  CHECK(setting_text(study.cases[0], axes, {axes[1].axis}) == "w.size 64");
}

TEST_CASE("a study that no sweep writes is refused") {
  for (const auto& [place, value, why] :
       {std::tuple("/points/0/id", Json("../../../../etc/passwd"),
                   "points[0].id must be at least 16 hexadecimal digits"),
        std::tuple("/points/0/case", Json(5u), "points must name cases of the file, and one names case 5"),
        std::tuple("/points/0/state", Json("lost"), "points[0].state must be done, failed or missing"),
        std::tuple("/cases/0/numbers/w.size", Json("64"), "cases[0].numbers.w.size must be a number")}) {
    Json json = Json::parse(kStudy);
    json[Json::json_pointer(place)] = value;
    CHECK_THROWS_WITH(study_of(json), std::string("study.json: ") + why);
  }
}

TEST_CASE("whether more of a quantity is better") {
  CHECK(better({"latency_ns.p99", "ns"}) == -1);
  CHECK(better({"throughput_per_s", "1/s"}) == 1);
  CHECK(better({"load.offered_per_s", "1/s"}) == 0);
  CHECK(better({"counters.x", ""}) == 0);
}

TEST_CASE("boards differ in what is not swept") {
  const Parameter lanes{"lanes", "16", "", "", "", "", "", ""};
  Parameter fewer = lanes;
  fewer.text = "4";
  const BoardData a{"a", "", {}, {}, {{"pcie.slot0", "pcie", "link", {lanes}}}};
  const BoardData b{"b", "", {}, {}, {{"pcie.slot0", "pcie", "link", {fewer}}, {"iommu", "iommu", "iommu", {lanes}}}};
  const auto found = differences({&a, &b}, {});
  REQUIRE(found.size() == 2);
  CHECK(found[0].path == "pcie.slot0.lanes");
  CHECK_THAT(found[0].values, Equals(std::vector<std::string>{"16", "4"}));
  CHECK_THAT(found[1].values, Equals(std::vector<std::string>{"", "16"}));
  CHECK(differences({&a, &b}, {"pcie.slot0.lanes"}).size() == 1);
}

namespace {

Instance part(const char* path, const char* kind, std::vector<std::pair<const char*, const char*>> values) {
  Instance instance{path, kind, "model", {}};
  for (const auto& [key, text] : values) instance.parameters.push_back({key, text, "", "", "", "", "", ""});
  return instance;
}

}  // namespace

TEST_CASE("a board's tree has what is behind each port") {
  const BoardData board{
      "b",
      "",
      {},
      {},
      {part("root", "root", {}),
       part("pcie.far", "pcie", {{"attach", "switch.s"}, {"port", "1"}, {"generation", "3"}, {"lanes", "4"}}),
       part("pcie.near", "pcie", {{"attach", ""}, {"port", "0"}, {"generation", "5"}, {"lanes", "16"}}),
       part("switch.s", "switch", {{"slot", "pcie.near"}}),
       part("nic.n", "nic", {{"slot", "pcie.far"}, {"wire", "net.w"}}), part("net.w", "net", {{"rate", "100 Gb/s"}}),
       part("peer.p", "peer", {{"wire", "net.w"}}), part("workload", "workload", {{"wire", ""}})}};
  const std::string tree = board_tree(board);
  std::size_t last = 0;
  for (const char* name :
       {"root", "root port 0: pcie.near", "switch.s", "port 1: pcie.far", "nic.n", "net.w", "peer.p"}) {
    const std::size_t place = tree.find(std::string("<b>") + name + "</b>");
    CHECK(place != std::string::npos);
    CHECK(place > last);
    last = place;
  }
  CHECK(tree.find("PCIe 3.0 x4") != std::string::npos);
  CHECK(tree.find("workload") == std::string::npos);  // the wire has its peer
}

TEST_CASE("a tree that hangs on itself ends") {
  const BoardData board{"b",
                        "",
                        {},
                        {},
                        {part("root", "root", {}), part("pcie.a", "pcie", {{"attach", "switch.s"}}),
                         part("pcie.b", "pcie", {{"attach", ""}}), part("switch.s", "switch", {{"slot", "pcie.a"}}),
                         part("switch.t", "switch", {{"slot", "pcie.b"}})}};
  CHECK(board_tree(board).size() < 10000);
}

TEST_CASE("tables sort by exact numbers") {
  Table table({{"a<._"}, {"b", true}}, true);
  table.row({text_cell("<x>"), number_cell(2333.66997, std::pair(2323.16, 2344.18))});
  CHECK(table.html() ==
        "<div class=\"table\"><table>\n<thead><tr><th scope=\"col\"><button "
        "type=\"button\">a&lt;.<wbr>_<wbr></button></th>"
        "<th scope=\"col\" class=\"number\"><button type=\"button\">b</button></th></tr></thead>\n<tbody>\n"
        "<tr><td>&lt;x&gt;</td><td class=\"number\" data-v=\"2333.66997\">2,333.7 "
        "<span class=\"interval\">(2,323.2 to 2,344.2)</span></td></tr>\n</tbody>\n</table></div>\n");
}
