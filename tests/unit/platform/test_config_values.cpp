// SPDX-License-Identifier: Apache-2.0
// How values and keys are written in board files and after --set, and what a message says of them.

#include <random>

#include <catch2/catch.hpp>

#include "tests/unit/platform/config_bench.h"

using namespace sluice;
using namespace sluice::config;

TEST_CASE("an override takes a value in the quotes that a file has", "[config]") {
  const Bench bench;
  CHECK(bench.load("e810", {"pcie.slot0.flight=\"9 ns\""}).parameters<Slot>("pcie.slot0").flight == 9_ns);
  CHECK(bench.load("e810", {"pcie.slot0.max_payload='1 KiB'"}).parameters<Slot>("pcie.slot0").max_payload == 1_KiB);
  CHECK(bench.load("e810", {"nic.eth0.slot=\"pcie.slot0\""}).parameters<Nic>("nic.eth0").slot == "pcie.slot0");
  CHECK(bench.load("e810", {"run.script=\"\""}).parameters<Run>("run").script.empty());

  const auto open_loop = [&](const std::string& o) {
    return bench.load("e810", {"workload.kind=\"open-loop\"", o}).parameters<OpenLoop>("workload");
  };
  CHECK(open_loop("workload.pace=\"poisson\"").pace == OpenLoop::Pace::poisson);
  CHECK(open_loop("workload.pace=poisson").pace == OpenLoop::Pace::poisson);
  const std::vector<base::Time> pauses{2_us, 5_ns};
  for (const char* list : {"[\"2 us\", \"5 ns\"]", "\"2 us\",\"5 ns\"", "[2 us, 5ns]", "2us,5ns", "2 us, \"5 ns\""})
    CHECK(open_loop("workload.pauses=" + std::string(list)).pauses == pauses);
  CHECK(open_loop("workload.pauses=\"2 us\"").pauses == std::vector<base::Time>{2_us});
  CHECK(open_loop("workload.pauses=[]").pauses.empty());
  CHECK(open_loop(R"(workload.names=["a, b", "c \"d\""])").names == std::vector<std::string>{"a, b", "c \"d\""});
  CHECK(open_loop("workload.names=a b,c").names == std::vector<std::string>{"a b", "c"});

  for (const char* list : {"\"2 us\", 5 ns", "2 us, '5 ns'", "['2 us', 5 ns]", " [ '2 us' , \"5 ns\" ] "})
    CHECK(open_loop("workload.pauses=" + std::string(list)).pauses == pauses);
  CHECK(open_loop("workload.names=[a, 'b, c', 5]").names == std::vector<std::string>{"a", "b, c", "5"});
  CHECK(open_loop("workload.names=[1, 2]").names == std::vector<std::string>{"1", "2"});
  CHECK(bench.load("e810", {"nic.eth0.queues=\"4\""}).parameters<Nic>("nic.eth0").queues == 4);
  CHECK(bench.load("e810", {"workload.outstanding='2 k calls'"}).parameters<ClosedLoop>("workload").outstanding ==
        2000);
  CHECK(bench.load("e810", {"pcie.slot0.flight= \"9 ns\" "}).parameters<Slot>("pcie.slot0").flight == 9_ns);
  CHECK(bench.load("e810", {"run.script=[a].txt"}).parameters<Run>("run").script == "[a].txt");
  CHECK(bench.load("e810", {"run.script=it's"}).parameters<Run>("run").script == "it's");
  CHECK(bench.load("e810", {"run.script=a=\"b\""}).parameters<Run>("run").script == "a=\"b\"");

  // A wrong value is wrong with quotes too.
  CHECK(bench.error("e810", {"workload.kind=\"open\""})
            .starts_with("--set workload.kind=\"open\": open is not a kind of workload"));
  CHECK(bench.error("e810", {"workload.kind=open-loop", "workload.pace=\"fast\""}) ==
        "--set workload.pace=\"fast\": must be steady or poisson");
  CHECK(bench.error("e810", {"pcie.slot0.flight=\"9\""}) ==
        "--set pcie.slot0.flight=\"9\": must be a time with a unit (fs, ps, ns, us, ms or s)");
  CHECK(bench.error("e810", {"pcie.slot0.flight=\"9 ns"}) ==
        "--set pcie.slot0.flight=\"9 ns: has a quote (\") without an end");
  CHECK(bench.error("e810", {"pcie.slot0.flight='9 ns"}) ==
        "--set pcie.slot0.flight='9 ns: has a quote (') without an end");
  CHECK(bench.error("e810", {"pcie.slot0.flight=9 ns\""}) ==
        "--set pcie.slot0.flight=9 ns\": has a quote (\") without a beginning");
  CHECK(bench.error("e810", {"run.script='x'y'"}) ==
        "--set run.script='x'y': must have a comma behind a value in quotes");
  CHECK_THAT(bench.error("e810", {R"(run.script="\q")"}),
             Catch::StartsWith(R"(--set run.script="\q": is not valid TOML: )"));
  for (const char* list : {"[\"2 us\", \"5 ns\"", "[2 us", "[\"2 us]\""})
    CHECK(bench.error("e810", {"workload.kind=open-loop", "workload.pauses=" + std::string(list)}) ==
          "--set workload.pauses=" + std::string(list) + ": has a bracket ([) without an end");
  CHECK(bench.error("e810", {"workload.kind=open-loop", "workload.pauses=2 us, \"5 ns"}) ==
        "--set workload.pauses=2 us, \"5 ns: has a quote (\") without an end");
  CHECK(bench.error("e810", {"workload.kind=open-loop", "workload.pauses=[[\"1 ns\"]]"}) ==
        "--set workload.pauses=[[\"1 ns\"]]: must be a list of plain values, not of lists");
  CHECK(bench.error("e810", {"pcie.slot0.flight=\"9 ns\"\nlanes = 4"}).find("must be a time") != std::string::npos);
}

TEST_CASE("every string and list that a board has can be given to --set as it is shown", "[config]") {
  const Bench bench;
  std::mt19937_64 random(1);
  const std::string alphabet = "ab \"'\\,[]0#=";
  const auto any = [&] {
    std::string s(1 + random() % 6, ' ');
    for (char& c : s) c = alphabet[random() % alphabet.size()];
    return s;
  };
  for (int i = 0; i < 2'000; ++i) {
    const std::string word = any();
    const base::SchemaBase& schema = base::schema_of<OpenLoop>();
    OpenLoop loop;
    for (std::size_t n = random() % 4; n > 0; --n) loop.names.push_back(any());
    const std::string names = schema.find("names")->text(&loop), script = base::Codec<std::string>::text(word);
    CAPTURE(word, script, names);
    const BoardConfig board =
        bench.load("e810", {"workload.kind=open-loop", "workload.names=" + names, "run.other=" + script});
    REQUIRE(board.parameters<OpenLoop>("workload").names == loop.names);
    REQUIRE(board.parameters<Run>("run").other == word);
  }
}

TEST_CASE("a whole number in a file may be a float, or a string with a factor and a unit", "[config]") {
  Bench bench;
  const auto outstanding = [&](const std::string& value) {
    const std::string file = bench.mine("b.toml", "extends = [\"e810\"]\n[workload]\noutstanding = " + value + "\n");
    return bench.load(file).parameters<ClosedLoop>("workload").outstanding;
  };
  for (const char* value : {"2e3", "2_000", "2000.0", "'2 k'", "'2k calls'", "'2e3 calls'", "\"2000\""}) {
    CAPTURE(value);
    CHECK(outstanding(value) == 2000);
  }
  CHECK(outstanding("'1 call'") == 1);
  CHECK(bench.error_of("[workload]\noutstanding = 1.5\n") ==
        "b.toml:3: workload.outstanding must be a whole number, not 1.5");
  CHECK(bench.error_of("[workload]\noutstanding = '2 K'\n") ==
        "b.toml:3: workload.outstanding must be a whole number; only k, M or G and its unit, calls, may follow it, not "
        "\"2 K\"");
}

TEST_CASE("an unknown key is answered with keys of the table that it is in", "[config]") {
  Bench bench;
  CHECK(bench.error("e810", {"workload.call.byte=1"}) ==
        "--set workload.call.byte=1: workload.call.byte is not a parameter of the closed loop; did you mean "
        "workload.call.bytes?");
  // `outstanding` is near, but in another table.
  CHECK(bench.error("e810", {"workload.call.outstanding=1"}) ==
        "--set workload.call.outstanding=1: workload.call.outstanding is not a parameter of the closed loop; valid: "
        "call.program, call.bytes");
  CHECK(bench.error("e810", {"workload.cal.bytes=1"}) ==
        "--set workload.cal.bytes=1: workload.cal.bytes is not a parameter of the closed loop; did you mean "
        "workload.call.bytes?");
}

TEST_CASE("what is too long to read is shortened in a message", "[config]") {
  Bench bench;
  const std::string a(100'000, 'a'), shown = std::string(60, 'a') + "... (100000 characters)";
  CHECK(bench.error_of("[nic.eth0]\n" + a + " = 1\n") ==
        "b.toml:3: nic.eth0." + std::string(51, 'a') +
            "... (100009 characters) is not a parameter of the descriptor NIC; "
            "valid: queues, slot, moderation.time, rx_fifo, model");
  CHECK(bench.error_of("[" + a + "]\n") ==
        "b.toml:2: " + shown + " is not a kind of component; valid: pcie, nic, workload, run, walk");
  CHECK(bench.error("e810", {"nic.eth0.queues=" + a}) ==
        "--set nic.eth0.queues=" + std::string(44, 'a') + "... (100016 characters): must be a whole number");
  CHECK(bench.error_of("[nic.eth0]\nqueues = '" + a + "'\n").size() < 300);
  std::string words;
  for (int i = 0; i < 30'000; ++i) words += "ab ";
  const std::string long_sentence = bench.error("e810", {"nic.eth0.queues=" + words});
  CHECK(long_sentence.size() < 2'100);
  CHECK(long_sentence.find("... (90") != std::string::npos);
  CHECK(long_sentence.ends_with(": must be a whole number"));
  // What a person can read stays as it is, and no character is cut.
  const std::string path(300, 'p');
  CHECK(std::string(UserError(path + ": no such file").what()) == path + ": no such file");
  std::string umlauts;
  for (int i = 0; i < 1'000; ++i) umlauts += "\u00e4";
  CHECK(std::string(UserError("x" + umlauts).what()) == "x" + umlauts.substr(0, 58) + "... (2001 characters)");
}
