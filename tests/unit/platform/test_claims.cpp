// SPDX-License-Identifier: Apache-2.0
/// Files of claims, and what each mistake in one is called.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "platform/claims/claims_file.h"

using namespace sluice::claims;
using Catch::Matchers::Equals;

namespace {

const std::string kValue = R"(
[[claim]]
name = "a.b"
role = "fitted"
source = "paper"
study = "s"
board = "x"
value = "latency_ns.mean / 2"
unit = "ns"
published = 600
within = "5 %"
)";

std::vector<Claim> parse(const std::string& text) { return parse_claims(text, "c.toml"); }

/// The sentence that refuses a text.
std::string mistake(const std::string& text) {
  try {
    parse(text);
  } catch (const sluice::config::UserError& e) {
    return e.what();
  }
  return "none";
}

/// The claim with one of its lines replaced; empty: left out.
std::string with(const std::string& key, const std::string& line) {
  const std::size_t at = kValue.find("\n" + key + " =");
  REQUIRE(at != std::string::npos);
  const std::size_t end = kValue.find('\n', at + 1);
  return kValue.substr(0, at) + (line.empty() ? "" : "\n" + line) + kValue.substr(end);
}

const std::string kOrdering = R"(
[[claim]]
name = "o"
role = "tested"
source = "paper"
study = "s"
ordering = "a < b < c"
[claim.terms]
a = { board = "x", value = "q" }
b = { board = "y", at = { nic.eth0.queues = 4 }, value = "q" }
c = { board = "z", study = "t", value = "2 * q" }
)";

}  // namespace

TEST_CASE("a claim of a value has what its file says", "[claims]") {
  const std::vector<Claim> all = parse(kValue);
  REQUIRE(all.size() == 1);
  const Claim& c = all[0];
  CHECK(c.name == "a.b");
  CHECK(c.role == Role::fitted);
  CHECK(c.published->least == 600);
  CHECK(c.published->most == 600);
  CHECK(c.within == 0.05);
  REQUIRE(c.terms.size() == 1);
  CHECK(c.terms[0].study == "s");
  CHECK(c.terms[0].value == "latency_ns.mean / 2");
  CHECK(c.where.line == 2);
}

TEST_CASE("a table of published values makes a claim for each, in the order of the file", "[claims]") {
  std::string text = with("published", "published = { 64 = 1, 8 = [2, 3] }");
  text.replace(text.find("a.b"), 3, "a.{}");
  text.replace(text.find("latency_ns.mean"), 15, "dma.{}.warm.x");
  text += "at = { workload.offset = \"{} B\", workload.window = 5 }\n";
  const std::vector<Claim> all = parse(text);
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "a.64");
  CHECK(all[1].name == "a.8");
  CHECK(all[0].terms[0].value == "dma.64.warm.x / 2");
  CHECK(all[1].published->least == 2);
  CHECK(all[1].published->most == 3);
  REQUIRE(all[1].terms[0].settings.size() == 2);
  for (const auto& s : all[1].terms[0].settings)
    if (s.path == "workload.offset") CHECK(std::get<std::string>(s.value.data) == "8 B");
}

TEST_CASE("an ordering has terms, which take over what the claim says", "[claims]") {
  const std::vector<Claim> all = parse(kOrdering);
  REQUIRE(all.size() == 1);
  CHECK_THAT(all[0].ordering, Equals(std::vector<std::string>{"a", "b", "c"}));
  REQUIRE(all[0].terms.size() == 3);
  CHECK(all[0].terms[1].study == "s");
  CHECK(all[0].terms[2].study == "t");
  CHECK(all[0].terms[1].settings[0].path == "nic.eth0.queues");
}

TEST_CASE("each mistake in a claim is named with its line", "[claims]") {
  CHECK(mistake("x = 1") == "c.toml:1: a file of claims has [[claim]] tables, and nothing else");
  CHECK(mistake("") == "c.toml: has no [[claim]]");
  CHECK(mistake(with("name", "")) == "c.toml:2: a claim must have a name");
  CHECK(mistake(with("source", "")) == "c.toml:2: a.b must have a source");
  CHECK(mistake(with("role", "")) ==
        "c.toml:2: a.b must have a role; valid: fitted, input, arithmetic, tested, reported");
  CHECK(mistake(with("role", "role = \"testd\"")) == "c.toml:4: role must not be testd; did you mean tested?");
  CHECK(mistake(with("unit", "")) == "c.toml:2: a.b must have a unit; 1 for a share or a ratio");
  CHECK(mistake(with("unit", "units = \"ns\"")) == "c.toml:9: units is not a key of a claim; did you mean unit?");
  CHECK(mistake(with("published", "")) == "c.toml:2: a.b must have a published value, unless its role is reported");
  CHECK(mistake(with("published", "published = \"600\"")) ==
        "c.toml:10: published must be a number, a range [LEAST, MOST], or a table of such by KEY");
  CHECK(mistake(with("published", "published = [2, 1]")) ==
        "c.toml:10: a published range must have its least value first");
  CHECK(mistake(with("published", "published = [1, 2, 3]")) == "c.toml:10: a published range must be [LEAST, MOST]");
  CHECK(mistake(with("published", "published = {}")) == "c.toml:10: published is empty");
  CHECK(mistake(with("published", "published = { 8 = 1 }")) ==
        "c.toml:2: a.b has several published values, so its name must have {} where their keys go");
  CHECK(mistake(with("within", "")) == "c.toml:2: a.b must say within how much of the published value it holds");
  CHECK(mistake(with("role", "role = \"tested\"")) ==
        "c.toml:2: a.b must not have a tolerance: its error is shown, whatever it is");
  CHECK(mistake(with("study", "")) == "c.toml:2: a.b must have a study, a board and a value");
  CHECK(mistake(with("value", "")) ==
        "c.toml:2: a.b must have a study, a board and a value; or say what the models lack");
  CHECK(mistake(with("value", "value = \"586\"")) ==
        "c.toml:2: a.b has the value '586', in which no result has a part");
  CHECK(mistake(with("value", "value = \"host.wall_s\"")) ==
        "c.toml:2: host.wall_s depends on the machine, and is no quantity of a claim");
  CHECK(mistake(with("within", "within = 5")) == "c.toml:11: within must be a share in quotes, such as \"5 %\"");
  CHECK(mistake(with("name", "name = \"a\\nb\"")) == "c.toml:3: name must be one line of text");
  CHECK(mistake(with("name", "name = \"" + std::string(101, 'a') + "\"")) ==
        "c.toml:3: name must have at most 100 characters");
  CHECK(mistake(with("unit", "unit = \"ns\"\nparameters = [\"x\"]")) ==
        "c.toml:2: a.b has parameters, which only an input has; those of a fitted claim name it themselves");
  CHECK(mistake(with("role", "role = \"reported\"")) == "c.toml:2: a.b is reported, so it has no published value");
  CHECK(mistake("[[claim]]\nname = \"a\"\nsource = \"s\"\nlacks = \"it\"\nstatement = \"x\"\nwithin = \"5 %\"") ==
        "c.toml:1: a has within, which has no use where the models lack something");
  CHECK(mistake(with("unit", "unit = \"ns\"\nlacks = \"it\"")) ==
        "c.toml:2: a.b has a value, so the models do not lack it");
  CHECK(mistake("[[claim]]\nname = \"a\"\nsource = \"s\"\nlacks = \"it\"") ==
        "c.toml:1: a must have a statement, because no model holds it");
}

TEST_CASE("an expression over terms has their names, and those of no function", "[claims]") {
  const auto terms = [](const std::string& name) {
    return mistake(
        "[[claim]]\nname = \"r\"\nrole = \"tested\"\nsource = \"s\"\nstudy = \"t\"\nboard = \"x\"\nunit = \"1\"\n"
        "published = 2\nvalue = \"b / " +
        name + "\"\nterms.b.value = \"q\"\nterms." + name + ".value = \"q\"\n");
  };
  CHECK(terms("a") == "none");
  for (const char* name : {"min", "e", "true"})
    CHECK(terms(name) == fmt::format("c.toml:11: r: {} cannot be in an expression; give the term another name", name));
}

TEST_CASE("each mistake in an ordering is named", "[claims]") {
  const auto ordering = [](const std::string& text) {
    std::string all = kOrdering;
    const std::string old = "a < b < c";
    return mistake(all.replace(all.find(old), old.size(), text));
  };
  CHECK(ordering("a") == "c.toml:7: ordering must have two terms or more, with < between them");
  CHECK(ordering("a < ") == "c.toml:7: ordering must be names of terms with < between them");
  CHECK(ordering("a < b < a") == "c.toml:7: ordering has a twice");
  CHECK(ordering("a < b") == "c.toml:2: o has no use for its term c");
  CHECK(ordering("a < b < d") == "c.toml:2: o names d, which is none of its terms; did you mean a?");
}
