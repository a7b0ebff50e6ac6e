// SPDX-License-Identifier: Apache-2.0
#include "models/workload/idle/idle_workload.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/measure/statistics_paths.h"
#include "models/base/time/calendar.h"
#include "models/base/time/key.h"
#include "models/workload/figures.h"

namespace sluice::workload {

using namespace base::literals;

void IdleParameters::describe(base::Schema<IdleParameters>& s) {
  using P = IdleParameters;
  s.summary("nothing to do (settle, length)");
  s.add("settle", &P::settle, "from reset until it is measured: time for the firmware to start and go to rest")
      .range(1_us, 1000_s)
      .setting();
  s.add("length", &P::length, "how long it is measured").range(1_us, 1000_s).setting();
}

namespace {

/// What has been counted since the measurement began, by component. Times are left out: the report has what was busy.
class Counts final : public base::StatisticsPaths {
 public:
  Json take() { return std::move(counts_); }

 private:
  void integer(const base::StatisticsLabel& label, std::uint64_t value) override {
    if (label.unit != "fs" && label.unit != "slots" && value > 0) counts_[path()][label.name] = value;
  }
  void real(const base::StatisticsLabel&, double) override {}
  void histogram(const base::StatisticsLabel&, const base::Histogram&) override {}
  /// The result's counters say what is wrong.
  void broken(const base::StatisticsLabel&, const std::string&) override {}

  Json counts_ = Json::object();
};

/// Words behind each other, in lines of at most so many characters, each behind `start`.
std::string wrapped(const std::vector<std::string>& words, const std::string& first, std::size_t columns) {
  const std::string start(first.size(), ' ');
  std::string text, line = first;
  for (const std::string& w : words) {
    if (line.size() > start.size() && line.size() + w.size() > columns) {
      text += line + "\n";
      line = start;
    }
    line += (line.size() > start.size() ? ", " : "") + w;
  }
  return text + line + "\n";
}

}  // namespace

void IdleWorkload::start(Run& run) {
  base::calendar().at(parameters_.settle, base::path_key("workload"), [this, &run] {
    has_begun_ = true;
    run.begin_measuring();
    base::calendar().at(base::now() + parameters_.length, base::path_key("workload"), [&run] { run.finish(); });
  });
}

std::optional<double> IdleWorkload::progress() const {
  const base::Time all = parameters_.settle + parameters_.length;
  return std::min(1.0, static_cast<double>(base::now().femtoseconds()) / static_cast<double>(all.femtoseconds()));
}

std::string IdleWorkload::failure(bool) const {
  if (has_begun_) return {};
  return fmt::format("the run ended before workload.settle, {}, so nothing was measured",
                     base::to_text(parameters_.settle));
}

void IdleWorkload::add_result(Json& result) const {
  Counts counts;
  base::statistics().walk(counts, base::now());
  const base::Time measured = has_begun_ ? base::now() - parameters_.settle : base::Time{};
  result["idle"] = {{"measured_ns", nanoseconds(measured)}, {"counted", counts.take()}};
}

std::string IdleWorkload::report(const Json& result) const {
  const Json& idle = result.at("idle");
  const double ns = idle.at("measured_ns");
  std::string text = fmt::format("   nothing to do for {}\n\n", time_text(ns));
  if (ns == 0) return text;
  const auto& groups = idle.at("counted");
  text += groups.empty() ? "  nothing was counted\n" : "  counted in each second\n";
  std::size_t width = 0;
  for (const auto& [group, counters] : groups.items()) width = std::max(width, group.size());
  for (const auto& [group, counters] : groups.items()) {
    std::vector<std::string> words;
    for (const auto& [name, value] : counters.items())
      words.push_back(fmt::format("{} {:.6g}", name, value.template get<double>() / ns * 1e9));
    text += wrapped(words, fmt::format("    {:<{}}  ", group, width), 110);
  }
  return text + "\n";
}

}  // namespace sluice::workload

namespace sluice::part {

void add_workload_idle(Catalogue& catalogue) {
  workload::add_workload<workload::IdleWorkload>(catalogue, "idle", "idle workload");
}

}  // namespace sluice::part
