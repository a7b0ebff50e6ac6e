// SPDX-License-Identifier: Apache-2.0
#include "platform/report/merged_tails.h"

#include <optional>
#include <utility>

#include "models/workload/figures.h"
#include "platform/statistics/means.h"

namespace sluice::report {
namespace {

using statistics::Estimate;

std::optional<std::vector<base::Histogram>> histograms_of(const Latencies& latencies) {
  std::vector<base::Histogram> all;
  for (const auto& l : latencies) {
    auto h = workload::histogram_in(l);
    if (!h) return {};
    all.push_back(std::move(*h));
  }
  return all;
}

Estimate in_nanoseconds(Estimate e) {
  e.value = workload::nanoseconds(e.value);
  if (e.interval) e.interval = {workload::nanoseconds(e.interval->lower), workload::nanoseconds(e.interval->upper)};
  return e;
}

}  // namespace

bool has_histograms(const Latencies& latencies) { return histograms_of(latencies).has_value(); }

Estimate merged_tail(const Latencies& latencies, const Tail& tail) {
  std::vector<double> values;
  for (const auto& l : latencies) values.push_back(l.at(tail.key).get<double>());
  if (values.size() == 1) return {values.front(), {}, statistics::Basis::one_replication};
  const auto histograms = histograms_of(latencies);
  if (!histograms) return {statistics::mean_of(values).value, {}, statistics::Basis::too_few_samples};
  return in_nanoseconds(statistics::quantile_of(*histograms, tail.share));
}

Estimate tail_difference(const Latencies& a, const Latencies& b, const Tail& tail, double level) {
  return in_nanoseconds(
      statistics::quantile_difference(histograms_of(a).value(), histograms_of(b).value(), tail.share, level));
}

}  // namespace sluice::report
