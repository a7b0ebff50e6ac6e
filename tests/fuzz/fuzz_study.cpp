// SPDX-License-Identifier: Apache-2.0
/// Study files: grids, ranges, conditions, settings, seeds.

#include <algorithm>
#include <cstdio>

#include "platform/study/points.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/shipped_models.h"

namespace sluice::fuzz {
namespace {

constexpr const char* kFile = "file";

std::vector<Bytes> corpus() {
  std::vector<Bytes> all;
  for (const char* text :
       {R"(boards = ["e810-poll", "e810-irq"]
replications = 2
measure = ["latency_ns.p99"]
[settings]
workload.requests = 10
[grid]
workload.outstanding = { from = 1, to = 8, factor = 2 }
nic.eth0.queues = [1, 2]
where = "workload.outstanding >= nic.eth0.queues && board != \"e810-irq\""
)",
        R"(boards = ["e810-poll"]
seeds = { from = 1, to = 3, step = 1 }
[[grid]]
pcie.slot0.lanes = [4, 8]
[grid.settings]
nic.eth0.queues = 1
[[grid]]
boards = ["e810-irq"]
[[grid.together]]
workload.think = ["1 us", "2 us"]
workload.outstanding = [3, 4]
[[grid]]
workload.think = { from = "1 us", to = "2 us", step = "0.25 us" }
caches.timing = ["functional", "cached"]
where = '(workload.think / 250 == 5 || caches.timing == "cached") && 1 < 2'
)",
        R"(boards = ["e810-poll"]
replications = { quantity = "latency_ns.p99", within = "2 %", least = 3, most = 9 }
[[grid]]
workload.rate = { from = 1000, to = 9000, factor = 1.5, while = "latency_ns.p99 <= 2 * x.y" }
nic.eth0.queues = [1, 2]
[[grid]]
workload.outstanding = { values = [3, 1, 2], while = "a > 0 && b < 1" }
)",
        "boards = [\"e810-poll\"]\n[grid]\nworkload.sizes = [[64], [64, 128]]\nworkload.model = [\"packets\"]\n"})
    all.push_back(to_bytes(text));
  return all;
}

std::uint64_t studies = 0, points = 0;

void finish() {
  std::printf("%llu studies with %llu points\n", static_cast<unsigned long long>(studies),
              static_cast<unsigned long long>(points));
  require(studies > 0, "no input became a study");
}

/// Points are numbered through, each is told apart by its description, and the first and last can be built or refused.
void check(const study::Points& all) {
  ++studies;
  points += all.size();
  require(all.size() > 0 && all.size() == all.cases() * all.per_case(), "the number of points");
  const study::Point first = all.at(0), last = all.at(all.size() - 1);
  require(first.case_number == 0 && last.case_number == all.cases() - 1, "the first and the last case");
  for (const study::Search& s : all.searches())
    require(!s.cases.empty() && std::is_sorted(s.cases.begin(), s.cases.end()) && s.cases.back() < all.cases(),
            "the cases of a search");
  if (all.size() > 1) require(all.describe(first) != all.describe(last), "two points are described alike");
  for (const study::Point& p : {first, last}) {
    try {
      require(!all.board_of(p).instances().empty(), "a board without parts");
    } catch (const config::UserError&) {
      require(all.cases() > 20'000, "a point that was checked is refused");
    }
  }
}

}  // namespace

const Target target{.name = "study",
                    .corpus = corpus,
                    .words = {"[grid]",    "[[grid]]", "[[grid.together]]",
                              "from",      "to",       "step",
                              "factor",    "where",    "while",
                              "values",    "quantity", "within",
                              "\"2 %\"",   "board",    "1e9",
                              "-1",        "0.1",      "9223372036854775807",
                              "\"1 us\"",  "[]",       "[[1], [2]]",
                              "&&",        "||",       "==",
                              "(",         ")",        "?",
                              ":",         "nan",      "inf",
                              "true",      "run.seed", "nic.eth0.model",
                              "[settings]"},
                    .runs = 2'000,
                    .full_runs = 50'000,
                    .longest = 1 << 12,
                    .finish = finish};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const config::BoardDirectories directories({SLUICE_BOARDS});
    fuzz::check(study::Points(study::parse_study(text, fuzz::kFile), fuzz::shipped_models(), directories));
  } catch (const config::UserError& e) {
    fuzz::require(std::string(e.what()).starts_with(fuzz::kFile), e.what());
  }
  return 0;
}
