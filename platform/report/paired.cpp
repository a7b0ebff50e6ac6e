// SPDX-License-Identifier: Apache-2.0
#include "platform/report/paired.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "platform/report/format.h"
#include "platform/report/merged_tails.h"
#include "platform/statistics/means.h"
#include "platform/statistics/simultaneous.h"

namespace sluice::report {
namespace {

using statistics::Basis;
using statistics::Estimate;
using statistics::Verdict;
using Runs = std::vector<Json>;

/// What is averaged over calls or time, so that its mean over replications is that of all of them.
std::vector<Quantity> means_of(const Json& r) {
  if (!r.contains("requests")) return {{"simulated time", "ns", r.at("simulated_ns").get<double>()}};
  return {{"latency mean", "ns", r.at("latency_ns").at("mean").get<double>()},
          {"throughput", "1/s", r.at("throughput_per_s").get<double>()}};
}

std::vector<double> values_of(const Runs& runs, std::size_t quantity) {
  std::vector<double> values;
  for (const Json& r : runs) values.push_back(means_of(r)[quantity].value);
  return values;
}

/// Nothing where a run has none.
std::optional<Latencies> latencies_of(const Runs& runs) {
  Latencies all;
  for (const Json& r : runs)
    if (r.contains("latency_ns")) all.push_back(r.at("latency_ns"));
  return all.size() == runs.size() && has_histograms(all) ? std::optional(std::move(all)) : std::nullopt;
}

/// Adds the rows of one board.
void add_rows(PairedTable& table, const Runs& reference, const Runs& runs, bool tails) {
  const std::string board = name_of(runs.front());
  const std::vector<Quantity> means = means_of(reference.front());
  for (std::size_t q = 0; q < means.size(); ++q) {
    const auto first = values_of(reference, q), other = values_of(runs, q);
    table.rows.push_back({board, means[q].name, means[q].unit, statistics::mean_of(first).value,
                          statistics::mean_difference(first, other, table.level)});
    if (q > 0 || !tails) continue;
    const Latencies a = *latencies_of(reference), b = *latencies_of(runs);
    for (const Tail& tail : kTails)
      table.rows.push_back({board, std::string("latency ") + tail.name, "ns", merged_tail(a, tail).value,
                            tail_difference(a, b, tail, table.level)});
  }
}

std::string amount(const PairedRow& row, double v) {
  return row.unit == "ns" ? time_text(std::abs(v)) : rate_text(std::abs(v));
}

std::string signed_amount(const PairedRow& row, double v) { return (v < 0 ? "-" : "+") + amount(row, v); }

/// " +- 12.0 ns  (+66.10 % +- 0.50 %)": behind a difference, how sure it is.
std::string interval_text(const PairedRow& row) {
  const Estimate& d = row.difference;
  if (!d.interval) return d.basis == Basis::constant ? " in every replication" : "; too few calls for an interval";
  const auto [lower, upper] = *d.interval;
  const auto percent = [&](double v) { return v / row.reference * 100; };
  // An interval that is no longer to one side than to the other, but for rounding.
  const bool even = std::abs(upper - d.value - (d.value - lower)) <= 1e-3 * (upper - lower);
  if (!even)
    return fmt::format(" ({} to {}){}", signed_amount(row, lower), signed_amount(row, upper),
                       row.reference > 0 ? fmt::format("  ({:+.2f} %)", percent(d.value)) : "");
  std::string text = " +- " + amount(row, (upper - lower) / 2);
  if (row.reference > 0)
    text += fmt::format("  ({:+.2f} % +- {:.2f} %)", percent(d.value), percent((upper - lower) / 2));
  return text;
}

}  // namespace

std::vector<Quantity> quantities_of(const Json& r) {
  std::vector<Quantity> all = means_of(r);
  if (r.contains("requests"))
    all.insert(all.begin() + 1, {"latency p99", "ns", r.at("latency_ns").at("p99").get<double>()});
  return all;
}

PairedTable paired(const std::vector<Runs>& by_board) {
  const bool tails =
      std::all_of(by_board.begin(), by_board.end(), [](const Runs& r) { return latencies_of(r).has_value(); });
  const std::size_t rows =
      (by_board.size() - 1) * (means_of(by_board.front().front()).size() + (tails ? std::size(kTails) : 0));
  PairedTable table{{}, statistics::simultaneous_level(static_cast<unsigned>(rows))};
  for (std::size_t b = 1; b < by_board.size(); ++b) add_rows(table, by_board.front(), by_board[b], tails);
  return table;
}

std::string paired_text(const PairedTable& table) {
  std::string text;
  for (const PairedRow& row : table.rows) {
    const bool none = statistics::verdict_of(row.difference) == Verdict::none;
    text += fmt::format("    {:<20} {:<14} ", row.board, row.quantity);
    if (none && !row.difference.interval)
      text += "no difference in any replication\n";
    else
      text += signed_amount(row, row.difference.value) + interval_text(row) + (none ? ": no difference\n" : "\n");
  }
  return text;
}

Json to_json(const PairedTable& table) {
  Json list = Json::array();
  for (const PairedRow& row : table.rows) {
    const Estimate& d = row.difference;
    list.push_back({{"board", row.board},
                    {"quantity", row.quantity},
                    {"unit", row.unit},
                    {"reference", row.reference},
                    {"difference", d.value},
                    {"interval", d.interval ? Json{d.interval->lower, d.interval->upper} : Json()},
                    {"level", d.interval ? Json(table.level) : Json()},
                    {"verdict", statistics::to_text(statistics::verdict_of(d))}});
  }
  return list;
}

}  // namespace sluice::report
