// SPDX-License-Identifier: Apache-2.0
/// multihart [--programs N] [--seed S] [--first K]: runs random programs of several harts. Each must obey the rules of
/// memory order and of time between harts, and give the same result to the byte with every disturbance. SLUICE_FULL=1:
/// 20,000 programs instead of 1,000.

#include <functional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/full.h"
#include "tests/multihart/disturbances.h"
#include "tests/multihart/memory_order.h"

namespace {

using namespace sluice;
using namespace sluice::multihart;

/// Programs of one process: memory of earlier simulation kernels is never freed.
constexpr std::uint64_t kBatch = 100;

struct Totals {
  std::uint64_t programs = 0, runs = 0, failed = 0;
  OrderStatistics order;
};

void run_program(std::uint64_t seed, std::uint64_t index, Totals& totals) {
  const RandomProgram program = RandomProgram::draw(seed, index);
  ++totals.programs;
  std::string wrong;
  std::string result;
  {
    Run run(program, Disturbance::recorded);
    result = run.result();
    wrong = run.recorder()->surprise();
    const Time skew = program.machine.quantum + run.recorder()->longest_batch();
    if (wrong.empty()) wrong = violation(run.recorder()->accesses(), skew, totals.order);
    if (wrong.empty()) wrong = run.trouble();
    ++totals.runs;
  }
  for (const Disturbance d : kDisturbances) {
    if (!wrong.empty()) break;
    Run run(program, d);
    ++totals.runs;
    if (wrong = run.trouble(); wrong.empty()) wrong = first_difference(result, run.result());
    if (!wrong.empty()) wrong = fmt::format("{}: {}", name_of(d), wrong);
  }
  if (wrong.empty()) return;
  ++totals.failed;
  fmt::print("program {} of seed {} ({} harts, quantum {} ns, {}{}): {}\n", index, seed, program.machine.harts,
             program.machine.quantum.nanoseconds(), name_of(program.machine.timing),
             program.machine.mixed ? ", mixed clocks" : "", wrong);
}

/// Runs a batch in a process of its own; its totals come through a pipe.
Totals run_batch(std::uint64_t seed, std::uint64_t first, std::uint64_t end) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Totals t;
    for (std::uint64_t i = first; i < end; ++i) run_program(seed, i, t);
    std::fflush(stdout);
    _exit(write(ends[1], &t, sizeof t) == static_cast<ssize_t>(sizeof t) ? 0 : 1);
  }
  close(ends[1]);
  Totals t;
  const bool told = read(ends[0], &t, sizeof t) == static_cast<ssize_t>(sizeof t);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!told || status != 0) {
    fmt::print("a program among {} to {} of seed {} has ended its process, status {:#x}\n", first, end - 1, seed,
               status);
    t.failed = 1;
  }
  return t;
}

}  // namespace

int sc_main(int argc, char** argv) {
  CLI::App app("random programs of several harts");
  std::uint64_t programs = tests::is_full() ? 20'000 : 1'000, seed = 1, first = 0;
  app.add_option("--programs", programs, "how many");
  app.add_option("--seed", seed, "what they are drawn from");
  app.add_option("--first", first, "index of the first one");
  CLI11_PARSE(app, argc, argv);
  Totals all;
  for (std::uint64_t i = first; i < first + programs; i += kBatch) {
    const Totals t = run_batch(seed, i, std::min(i + kBatch, first + programs));
    all.programs += t.programs;
    all.runs += t.runs;
    all.failed += t.failed;
    all.order.accesses += t.order.accesses;
    all.order.meetings += t.order.meetings;
    all.order.inverted += t.order.inverted;
    all.order.most_inverted = std::max(all.order.most_inverted, t.order.most_inverted);
  }
  fmt::print("{} programs in {} runs: {} shared accesses, {} meetings, {} against time by {} ns at most\n",
             all.programs, all.runs, all.order.accesses, all.order.meetings, all.order.inverted,
             all.order.most_inverted.nanoseconds());
  fmt::print("{} passed, {} failed\n", all.programs - all.failed, all.failed);
  return all.failed == 0 && all.programs == programs ? 0 : 1;
}
