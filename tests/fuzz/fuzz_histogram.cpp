// SPDX-License-Identifier: Apache-2.0
/// Histograms of latencies in result files, which whoever merges runs reads.

#include <nlohmann/json.hpp>

#include "models/workload/figures.h"
#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {
namespace {

std::vector<Bytes> corpus() {
  base::Histogram h;
  for (std::uint64_t v = 1; v < 1ull << 40; v *= 3) h.add(v, 1 + v % 3);
  return {to_bytes(workload::latency_with_histogram(h).dump()), to_bytes(workload::latency_with_histogram({}).dump())};
}

}  // namespace

const Target target{
    .name = "histogram",
    .corpus = corpus,
    .words = {"\"histogram\":", "\"count\":", "\"sum_fs\":", "\"min_fs\":", "\"max_fs\":", "\"first_fs\":",
              "\"counts\":", "[", "]", "{", "}", ",", "-1", "0.5", "512", "null", "18446744073709551615"},
    .runs = 100'000,
    .full_runs = 2'000'000,
    .longest = 4096};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const auto json = nlohmann::ordered_json::parse(data, data + size, nullptr, false);
  const auto read = workload::histogram_in(json);
  if (!read) return 0;
  fuzz::require(workload::histogram_in(workload::latency_with_histogram(*read)) == read,
                "a histogram that was read is another when it is written and read again");
  fuzz::require(read->min() <= read->p50() && read->p50() <= read->p999() && read->p999() <= read->max(),
                "quantiles are not in order");
  return 0;
}
