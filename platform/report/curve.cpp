// SPDX-License-Identifier: Apache-2.0
#include "platform/report/curve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "platform/report/format.h"
#include "platform/report/merged_tails.h"
#include "platform/statistics/means.h"

namespace sluice::report {
namespace {

using statistics::Estimate;

/// "2.213 +- 0.004 us", or "2.741 (2.720 to 2.801) us": means have intervals that are even, tails have not.
enum class Form { kHalfWidth, kEnds };
std::string estimate_text(const Estimate& e, Form form) {
  static constexpr std::pair<double, const char*> units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  auto unit = units[0];
  for (const auto& u : units)
    if (e.value >= u.first) unit = u;
  if (!e.interval) return fmt::format("{:.3f} {}", e.value / unit.first, unit.second);
  const auto [lower, upper] = *e.interval;
  if (form == Form::kEnds)
    return fmt::format("{:.3f} ({:.3f} to {:.3f}) {}", e.value / unit.first, lower / unit.first, upper / unit.first,
                       unit.second);
  return fmt::format("{:.3f} +- {:.3f} {}", e.value / unit.first, (upper - lower) / 2 / unit.first, unit.second);
}

std::string point_text(const CurvePoint& p, double capacity) {
  if (p.is_size) return fmt::format("{} B", grouped(static_cast<std::uint64_t>(p.at)));
  std::string text = rate_text(p.at);
  if (capacity > 0) text += fmt::format(" {:>4.0f} %", p.at / capacity * 100);
  return text;
}

/// One row for each point and board.
std::string table(const std::vector<std::string>& names, const std::vector<CurvePoint>& points, double capacity) {
  std::string text =
      fmt::format("  {:>18}  {:<14} {:>22} {:>28} {:>12} {:>11}  {}\n", points.front().is_size ? "size" : "offered",
                  "board", "mean", "p99", "achieved", "unanswered", "busiest");
  for (const CurvePoint& p : points) {
    for (std::size_t b = 0; b < names.size(); ++b) {
      const CurveCell& c = p.boards[b];
      text +=
          fmt::format("  {:>18}  {:<14} {:>22} {:>28} {:>12} {:>9.1f} %  {}\n", b == 0 ? point_text(p, capacity) : "",
                      names[b], estimate_text(c.mean_ns, Form::kHalfWidth), estimate_text(c.p99_ns, Form::kEnds),
                      rate_text(c.achieved_per_s.value), c.unanswered * 100, c.busiest);
    }
  }
  return text;
}

/// Mean latency by rate or size, on a logarithmic axis: each board is a letter, and a star where several meet.
std::string drawing(const std::vector<std::string>& names, const std::vector<CurvePoint>& points) {
  constexpr int kRows = 14, kWidth = 9;
  const double greatest = points.back().at;
  const auto [unit, unit_text] = points.front().is_size ? std::pair(1.0, "B")
                                 : greatest >= 1e6      ? std::pair(1e6, "M/s")
                                 : greatest >= 1e3      ? std::pair(1e3, "k/s")
                                                        : std::pair(1.0, "/s");
  double least = INFINITY, most = 0;
  for (const CurvePoint& p : points)
    for (const CurveCell& c : p.boards) {
      if (c.mean_ns.value <= 0) continue;
      least = std::min(least, c.mean_ns.value);
      most = std::max(most, c.mean_ns.value);
    }
  if (most <= 0) return {};
  const double height = std::max(std::log(most / least), 1e-9);
  std::vector<std::string> rows(kRows, std::string(points.size() * kWidth, ' '));
  for (std::size_t x = 0; x < points.size(); ++x)
    for (std::size_t b = 0; b < names.size(); ++b) {
      const double mean = points[x].boards[b].mean_ns.value;
      if (mean <= 0) continue;
      char& place = rows[static_cast<std::size_t>(std::lround((kRows - 1) * std::log(most / mean) / height))]
                        [x * kWidth + kWidth / 2];
      place = place == ' ' ? static_cast<char>('a' + b) : '*';
    }
  std::string text = "\n  mean latency, logarithmic\n";
  for (int y = 0; y < kRows; ++y) {
    const double value = most * std::exp(-height * y / (kRows - 1));
    std::string line = fmt::format("  {:>10} |{}", y % 3 == 0 || y == kRows - 1 ? time_text(value) : "",
                                   rows[static_cast<std::size_t>(y)]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  text += fmt::format("  {:>10} +{}\n  {:>10}  ", "", std::string(points.size() * kWidth, '-'), unit_text);
  for (const CurvePoint& p : points)
    text += p.is_size ? fmt::format("{:^9.0f}", p.at) : fmt::format("{:^9.3g}", p.at / unit);
  text.erase(text.find_last_not_of(' ') + 1);
  text += "\n ";
  for (std::size_t b = 0; b < names.size(); ++b) text += fmt::format(" {}: {}", static_cast<char>('a' + b), names[b]);
  return text + "\n";
}

Json mean_json(const Estimate& e) {
  const auto half = statistics::half_width(e);
  return {{"mean", e.value}, {"half_width_95", half ? Json(*half) : Json()}};
}
Json tail_json(const Estimate& e) {
  return {{"value", e.value}, {"interval_95", e.interval ? Json{e.interval->lower, e.interval->upper} : Json()}};
}

}  // namespace

CurvePoint point_of(const Json& phase) {
  const bool is_size = phase.contains("call_bytes");
  return {phase.at(is_size ? "call_bytes" : "rate_per_s").get<double>(), is_size, {}};
}

bool has_curve(const Json& result) { return result.contains("phases") && !result.contains("zero_loss_rate_per_s"); }

std::size_t common_phases(const std::vector<std::vector<Json>>& by_board) {
  std::size_t least = SIZE_MAX;
  for (const auto& replications : by_board)
    for (const Json& r : replications) least = std::min(least, has_curve(r) ? r.at("phases").size() : 0);
  return least;
}

std::vector<CurvePoint> curve_of(const std::vector<std::vector<Json>>& by_board) {
  std::vector<CurvePoint> points;
  for (std::size_t i = 0; i < common_phases(by_board); ++i) {
    CurvePoint point = point_of(by_board.front().front().at("phases").at(i));
    for (const std::vector<Json>& replications : by_board) {
      const auto over_replications = [&](const auto& value) {
        std::vector<double> values;
        values.reserve(replications.size());
        for (const Json& r : replications) values.push_back(value(r.at("phases").at(i)));
        return values;
      };
      Latencies latencies;
      for (const Json& r : replications) latencies.push_back(r.at("phases").at(i).at("latency_ns"));
      CurveCell cell{statistics::mean_of(
                         over_replications([](const Json& p) { return p.at("latency_ns").at("mean").get<double>(); })),
                     merged_tail(latencies, kTails[0]), statistics::mean_of(over_replications([](const Json& p) {
                       return p.at("load").at("achieved_per_s").get<double>();
                     })),
                     0, ""};
      double sent = 0, completed = 0;
      for (const Json& r : replications) {
        sent += r.at("phases").at(i).at("sent").get<double>();
        completed += r.at("phases").at(i).at("completed").get<double>();
      }
      cell.unanswered = sent > 0 ? 1 - completed / sent : 0;
      cell.busiest = workload::busiest_text(replications.front().at("phases").at(i));
      point.boards.push_back(std::move(cell));
    }
    points.push_back(std::move(point));
  }
  return points;
}

std::string curve_text(const std::vector<std::string>& names, const std::vector<CurvePoint>& points,
                       unsigned replications, double capacity) {
  std::string text;
  if (replications > 1)
    text += fmt::format(
        "  Over {} replications, with 95 % confidence: means, and p99 of all calls together, which has no interval "
        "where\n"
        "  too few calls, or bursts of calls, are beyond it\n\n",
        replications);
  return text + table(names, points, capacity) + drawing(names, points);
}

Json to_json(const std::vector<CurvePoint>& points) {
  Json list = Json::array();
  for (const CurvePoint& p : points) {
    Json boards = Json::array();
    for (const CurveCell& c : p.boards)
      boards.push_back({{"mean_ns", mean_json(c.mean_ns)},
                        {"p99_ns", tail_json(c.p99_ns)},
                        {"achieved_per_s", mean_json(c.achieved_per_s)},
                        {"unanswered", c.unanswered},
                        {"busiest", c.busiest}});
    list.push_back({{p.is_size ? "call_bytes" : "rate_per_s", p.at}, {"boards", std::move(boards)}});
  }
  return list;
}

}  // namespace sluice::report
