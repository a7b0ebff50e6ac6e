// SPDX-License-Identifier: Apache-2.0
#include "platform/report/measured.h"

#include <fmt/format.h>

#include "models/base/measure/statistics_paths.h"
#include "models/workload/stages.h"
#include "platform/config/user_error.h"
#include "platform/report/format.h"

namespace sluice::report {
namespace {

using workload::latency;
using workload::nanoseconds;
using workload::share;

/// Counters since the measurement began, as the statistics tree tells them.
class CounterReader : public base::StatisticsPaths {
 public:
  explicit CounterReader(Json& out) : out_(out) {}
  void integer(const base::StatisticsLabel& l, std::uint64_t v) override { here()[l.name] = v; }
  void real(const base::StatisticsLabel& l, double v) override { here()[l.name] = v; }
  void histogram(const base::StatisticsLabel& l, const base::Histogram& h) override { here()[l.name] = latency(h); }
  void broken(const base::StatisticsLabel& l, const std::string& why) override {
    here()[l.name] = nullptr;
    if (failure_.empty()) failure_ = fmt::format("{}: statistic {} {}", path(), l.name, why);
  }

  /// The first statistic that could not be read, and why. Empty: there is none.
  const std::string& failure() const { return failure_; }

 private:
  Json& here() { return out_[path()]; }

  Json& out_;
  std::string failure_;
};

std::uint64_t counter(const Json& counters, const std::string& group, const char* name) {
  const auto g = counters.find(group);
  return g != counters.end() && g->contains(name) && (*g)[name].is_number() ? (*g)[name].get<std::uint64_t>() : 0;
}

constexpr const char* kAccounts[] = {
#define SLUICE_ACCOUNT(name, title, meaning) #name,
    SLUICE_ACCOUNTS(SLUICE_ACCOUNT)
#undef SLUICE_ACCOUNT
};

Json idle(const riscv::IdleUse& use, const riscv::Core& core, const riscv::IdleStates& states) {
  const auto time = [&core](std::uint64_t slots) { return nanoseconds(core.slot_clock().time_of(slots)); };
  Json list = Json::array();
  for (std::size_t i = 0; i < use.states.size(); ++i)
    list.push_back({{"exit_latency_ns", nanoseconds(states.exit_latency[i])},
                    {"entered", use.states[i].entered},
                    {"time_ns", time(use.states[i].slots)}});
  return {{"before_ns", time(use.before)}, {"states", list}, {"leaving_ns", time(use.leaving)}};
}

}  // namespace

Json counters_in(const platform::Window& w, std::string* broken) {
  Json counters = Json::object();
  CounterReader reader(counters);
  base::statistics().show_between(w.from.statistics, w.to.statistics);
  base::statistics().walk(reader, w.to.at());
  if (broken && !reader.failure().empty()) *broken = reader.failure();
  return counters;
}

Json links(platform::Board& board, const platform::Window& w, const Json& counters) {
  Json list = Json::array();
  const double elapsed = static_cast<double>(w.length().femtoseconds());
  std::vector<std::string> paths;
  for (const platform::SlotInstance& slot : board.slots()) paths.push_back(slot.path);
  for (const platform::CoherentInstance& link : board.coherent_links()) paths.push_back(link.path);
  for (const std::string& path : paths) {
    for (const char* direction : {"up", "down"}) {
      const auto value = [&](const char* name) {
        return counter(counters, path, (std::string(direction) + "_" + name).c_str());
      };
      list.push_back({{"name", path},
                      {"direction", direction},
                      {"bytes", value("bytes")},
                      {"payload_bytes", value("payload_bytes")},
                      {"metadata_bytes", value("metadata_bytes")},
                      {"utilisation", share(static_cast<double>(value("busy")), elapsed)}});
    }
  }
  return list;
}

Json cores(platform::Board& board, const platform::Window& w, const Json& counters) {
  Json list = Json::array();
  for (const platform::Cluster& c : board.clusters()) {
    for (const auto& core : c.cores) {
      const std::string& path = core->path();
      const auto value = [&](const char* name) { return counter(counters, path, name); };
      const auto ratio = [&](const char* a, const char* b) {
        return share(static_cast<double>(value(a)), static_cast<double>(value(b)));
      };
      const std::size_t n = list.size();
      riscv::Core::Accounts spent = w.to.accounts[n];
      for (unsigned a = 0; a < SLUICE_ACCOUNT_COUNT; ++a) spent[a] -= w.from.accounts[n][a];
      std::uint64_t all = 0, busy = 0;
      for (unsigned a = 0; a < SLUICE_ACCOUNT_COUNT; ++a) {
        all += spent[a];
        if (riscv::Core::is_busy(a)) busy += spent[a];
      }
      Json time = Json::object();
      for (unsigned a = 0; a < SLUICE_ACCOUNT_COUNT; ++a)
        time[kAccounts[a]] = share(static_cast<double>(spent[a]), static_cast<double>(all));
      list.push_back({{"name", path},
                      {"instructions", value("instructions")},
                      {"cycles", all / c.parameters->issue_width},
                      {"busy_cycles", busy / c.parameters->issue_width},
                      {"busy_instructions", value("busy_instructions")},
                      {"stall_cycles", value("stall_slots") / c.parameters->issue_width},
                      {"l1d_miss_ratio", ratio("l1d_misses", "l1d_accesses")},
                      {"l2_miss_ratio", ratio("l2_misses", "l2_accesses")},
                      {"measured_ns", nanoseconds(w.length())},
                      {"time", time},
                      {"wfi", idle(w.to.idle[n] - w.from.idle[n], *core, c.parameters->idle)}});
    }
  }
  return list;
}

Json resources(const std::vector<platform::Use>& uses) {
  Json list = Json::array();
  for (const platform::Use& u : uses) {
    list.push_back({{"name", u.title.empty() ? u.group : u.group + " " + u.title}, {"busy", u.busy}});
    if (u.busy >= platform::Measurement::kBusy) list.back()["since_ns"] = nanoseconds(u.since);
  }
  return list;
}

std::string limit_sentence(const Json& measured) {
  const Json& list = measured.at("resources");
  if (list.empty()) return {};
  const Json& first = list.front();
  const auto percent = [](const Json& r) { return fmt::format("{:.1f} %", r.at("busy").get<double>() * 100); };
  const std::string name = first.at("name").get<std::string>();
  if (!first.contains("since_ns"))
    return fmt::format("no resource was busy all the time, {}; the busiest, {}, was for {}",
                       measured.contains("requests") && workload::dropped_requests(measured.at("requests")) != 0
                           ? "although requests were dropped"
                           : "so latencies limit, or the clients",
                       name, percent(first));
  std::string text = fmt::format("limited by {}, {} busy, since {}", name, percent(first),
                                 time_text(first.at("since_ns").get<double>()));
  for (const Json& r : list)
    if (&r != &first && r.contains("since_ns"))
      text += fmt::format("; {} was {} busy", r.at("name").get<std::string>(), percent(r));
  return text;
}

}  // namespace sluice::report
