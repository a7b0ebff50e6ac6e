// SPDX-License-Identifier: Apache-2.0
#include "platform/report/result.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <sys/resource.h>

#include "models/base/measure/ledger.h"
#include "models/workload/stages.h"
#include "platform/config/dump.h"
#include "platform/config/files/schemas.h"
#include "platform/diagnosis/diagnosis.h"
#include "platform/firmware/firmware_counters.h"
#include "platform/report/format.h"
#include "platform/report/list_plots.h"
#include "platform/report/measured.h"
#include "platform/report/program.h"
#include "platform/run/without_effect.h"

namespace sluice::report {
namespace {

using Json = nlohmann::ordered_json;
using base::Time;
using workload::nanoseconds;
using workload::share;

const char* outcome_name(platform::Outcome o) {
  switch (o) {
    case platform::Outcome::finished:
      return "finished";
    case platform::Outcome::limit:
      return "limit";
    case platform::Outcome::interrupted:
      return "interrupted";
    case platform::Outcome::stalled:
      return "stalled";
    case platform::Outcome::deadlocked:
      return "deadlocked";
    case platform::Outcome::failed:
      return "failed";
  }
  return "";
}

/// Files that a cluster starts with besides its firmware.
Json images(const platform::Cluster& c) {
  Json list = Json::array();
  const auto add = [&list](const platform::Image& image) {
    list.push_back({{"what", image.what()}, {"name", image.name()}, {"sha256", image.sha256()}});
    if (image.placed()) list.back()["address"] = base::hexadecimal(image.segments().front().address);
  };
  for (std::size_t i = 1; i < c.firmware.images().size(); ++i) add(c.firmware.images()[i]);
  if (c.initrd) add(*c.initrd);
  if (c.device_tree) add(*c.device_tree);
  return list;
}

Json firmware(platform::Board& board) {
  Json list = Json::array();
  for (const platform::Cluster& c : board.clusters()) {
    Json counters = Json::object();
    for (const auto& [name, value] : platform::read_counters(c.firmware, c.system->guest_rams()))
      counters[name] = value;
    list.push_back({{"cluster", c.name},
                    {"name", c.firmware.name()},
                    {"sha256", c.firmware.sha256()},
                    {"images", images(c)},
                    {"counters", std::move(counters)}});
  }
  return list;
}

Json mistakes(platform::Board& board) {
  Json list = Json::array();
  std::vector<base::Mistake> all(base::mistakes().list().begin(), base::mistakes().list().end());
  // Systems run ahead of each other, so the order in which they came to their mistakes is not that of time.
  if (board.systems().size() > 1)
    std::stable_sort(all.begin(), all.end(), [](const base::Mistake& a, const base::Mistake& b) {
      return a.at != b.at ? a.at < b.at : a.hart < b.hart;
    });
  for (const base::Mistake& m : all) {
    Json entry = {
        {"what", m.what}, {"at_ns", nanoseconds(static_cast<double>(m.at.femtoseconds()))}, {"times", m.times}};
    if (m.others > 0) entry["others"] = m.others;
    if (!m.hart.empty()) {
      entry["hart"] = m.hart;
      entry["pc"] = fmt::format("{:#x}", m.pc);
      entry["symbol"] = m.function;
      if (m.user_space != 0) {
        entry["process"] = m.process;
        entry["asid"] = platform::asid_of(m.user_space);
      }
    }
    list.push_back(std::move(entry));
  }
  return {{"list", std::move(list)}, {"unlisted", base::mistakes().unlisted()}};
}

/// The longest quantum of the systems with several harts, which may run ahead of each other; 0: no system has several.
Time longest_quantum(platform::Board& board) {
  Time longest;
  for (const auto& system : board.systems())
    if (system->harts() > 1) longest = std::max(longest, system->group().quantum());
  return longest;
}

Json host(platform::Simulation& s) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::uint64_t instructions = 0;
  for (const platform::Cluster& c : s.board().clusters())
    for (const auto& core : c.cores) instructions += core->hart().state().instret;
  std::uint64_t guest_ram = 0;
  for (const auto& system : s.board().systems())
    for (const base::GuestRam* ram : system->guest_rams()) guest_ram += ram->resident_bytes();
  const double wall = s.wall_seconds();
  const std::uint64_t ended = s.board().workload() ? s.board().workload()->ended() : 0;
  Json figures = {{"wall_s", wall},
                  {"mips", share(static_cast<double>(instructions) / 1e6, wall)},
                  {"requests_per_wall_s", share(static_cast<double>(ended), wall)},
                  {"startup_cpu_s", s.startup_seconds()},
                  {"cpu_s", s.cpu_seconds()},
                  {"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024},
                  {"guest_ram_bytes", guest_ram},
                  {"calendar_entries", base::calendar().dispatched()},
                  {"build", build_type()}};
  if (s.outside() && s.outside()->has_tap()) figures["refused_frames"] = s.outside()->refused_frames();
  return figures;
}

std::string describe_late() {
  const base::Calendar::Late& first = base::calendar().first_late();
  const std::string path = base::path_of_key(first.key);
  return fmt::format("{} made for the past, the first by {} at {}, for {} or a time beyond what 64 bits can hold",
                     counted(base::calendar().late(), "entry was", "entries were"), path.empty() ? "a component" : path,
                     base::to_text(first.made), base::to_text(first.when));
}

/// The first thing that went wrong; conservation and the ledger are checked here, for every run.
std::string failure(platform::Simulation& s, platform::Outcome outcome) {
  std::string first_line = s.diagnosis().substr(0, s.diagnosis().find('\n'));
  if (outcome >= platform::Outcome::stalled || !first_line.empty()) return first_line;
  if (!base::ledger().error().empty()) return "the ledger is wrong: " + base::ledger().error();
  if (base::calendar().late() != 0) return describe_late();
  const workload::Workload* workload = s.board().workload();
  return workload ? workload->failure(outcome == platform::Outcome::finished) : std::string();
}

/// The faults that the board file asked for, in order of time.
Json faults(platform::Simulation& s) {
  Json list = Json::array();
  if (!s.board().faults()) return list;
  for (const platform::FaultRecord& f : s.board().faults()->records(s.ended_at())) {
    const bool over = f.recovered != Time::max();
    Json cost = Json::object();
    for (const auto& [name, t] : f.times) cost[name] = nanoseconds(t);
    for (const auto& [name, n] : f.counts) cost[name] = n;
    list.push_back({{"name", f.name},
                    {"kind", f.kind},
                    {"target", f.target},
                    {"at_ns", nanoseconds(f.at)},
                    {"recovered_ns", over ? Json(nanoseconds(f.recovered)) : Json(nullptr)},
                    {"cost", cost}});
  }
  return list;
}

}  // namespace

namespace {

/// What was set and did nothing.
Json what_had_no_effect(const platform::Simulation& s, platform::Outcome outcome) {
  Json list = Json::array();
  for (const platform::WithoutEffect& w : platform::without_effect(s, outcome)) list.push_back(platform::to_json(w));
  return list;
}

/// Whether a result file can hold a text, or all texts of a value: they are UTF-8.
bool is_utf8(const Json& value) {
  try {
    return !value.dump().empty();
  } catch (const Json::type_error&) {
    return false;
  }
}

/// Refuses what JSON has no form for, and would write as null or with other characters.
void check_value(const std::string& name, const Json& value) {
  const auto refuse = [&name](const char* why) {
    throw base::ComponentError("workload", fmt::format("{} of its result {}", name, why));
  };
  if (value.is_number_float() && !std::isfinite(value.get<double>())) refuse("is not a finite number");
  if (value.is_string() && !is_utf8(value)) refuse("is not UTF-8");
  if (!value.is_structured()) return;
  for (const auto& [key, below] : value.items()) {
    if (!is_utf8(key)) refuse("has a member whose name is not UTF-8");
    check_value(fmt::format("{}.{}", name, key), below);
  }
}

void add_workload(const workload::Workload& workload, Json& result) {
  Json own = Json::object();
  workload.add_result(own);
  if (!own.is_object())
    throw base::ComponentError("workload", "its result must be members of the object that it is given");
  for (const auto& [name, value] : own.items()) {
    if (!is_utf8(name)) throw base::ComponentError("workload", "its result has a member whose name is not UTF-8");
    check_value(name, value);
  }
  for (auto& [name, value] : own.items()) {
    if (result.contains(name) || name == "plots")
      throw base::ComponentError("workload", "its result has a member " + name + ", which every result has");
    result[name] = std::move(value);
  }
}

bool has_list(const Json& result, const std::string& place) {
  try {
    const Json::json_pointer at(place);
    return result.contains(at) && result.at(at).is_array();
  } catch (const Json::exception&) {
    return false;
  }
}

/// What reports draw of the lists of a workload, which may be a plug-in's. The result has the lists.
Json plots(const workload::Workload& workload, const Json& result) {
  Json list = Json::array();
  for (const workload::ListPlot& p : workload.plots()) {
    const auto refuse = [&p](const char* what) {
      throw base::ComponentError("workload", fmt::format("its plot {} {}", is_utf8(p.name) ? p.name : "", what));
    };
    if (!workload::ListPlot::is_name(p.name)) refuse("must have a name of small letters, digits and hyphens");
    if (!has_list(result, p.list)) refuse("must be of a list in the result");
    list.push_back(to_json(p));
    if (!is_utf8(list.back())) refuse("has a text that is not UTF-8");
  }
  return list;
}

}  // namespace

/// What was measured in each phase of the workload, beside what the workload says of it.
void add_phases(platform::Simulation& s, Json& result) {
  const workload::Workload* workload = s.board().workload();
  const std::string place = workload ? workload->phases() : std::string();
  if (place.empty()) return;
  Json& list = result[Json::json_pointer(place)];
  const auto& windows = s.measurement().phases();
  for (std::size_t i = 0; i < std::min(list.size(), windows.size()); ++i) {
    const platform::Window& w = windows[i];
    const Json counters = counters_in(w, nullptr);
    list[i]["measured_ns"] = nanoseconds(w.length());
    list[i]["stages"] = workload::stages_between(w.from.stages, w.to.stages);
    list[i]["links"] = links(s.board(), w, counters);
    list[i]["cores"] = cores(s.board(), w, counters);
    list[i]["resources"] = resources(s.measurement().uses(w));
  }
}

Json make_result(platform::Simulation& s, platform::Outcome outcome) {
  platform::Board& board = s.board();
  const std::string why = failure(s, outcome);
  Json result = {{"schema", config::kResultSchema},
                 {"program", program()},
                 {"board", config::to_json(board.config())},
                 {"seed", board.run_parameters().seed},
                 {"replication", board.run_parameters().replication},
                 {"firmware", firmware(board)},
                 {"outcome", outcome_name(outcome)},
                 {"failure", why},
                 {"diagnosis",
                  why.empty() || !s.diagnosis().empty() ? s.diagnosis() : why + "\n" + platform::describe_state(board)},
                 {"simulated_ns", nanoseconds(s.ended_at())},
                 {"measured_ns", nanoseconds(s.measurement().whole().length())}};
  if (const auto& found = board.warm_up())
    result["warm_up"] = {{"calls", found->calls}, {"batch", found->batch}, {"too_short", found->too_short}};
  if (const workload::Workload* workload = board.workload()) {
    add_workload(*workload, result);
    if (Json shown = plots(*workload, result); !shown.empty()) result["plots"] = std::move(shown);
  }
  const platform::Measurement& m = s.measurement();
  add_phases(s, result);
  std::string broken_statistic;
  Json counters = counters_in(m.whole(), &broken_statistic);
  if (!broken_statistic.empty() && failure_of(result).empty()) {
    result["outcome"] = outcome_name(platform::Outcome::failed);
    const std::string broken = config::UserError(broken_statistic).what();
    result["failure"] = broken;
    result["diagnosis"] = broken + "\n" + platform::describe_state(board);
  }
  result["links"] = links(s.board(), m.whole(), counters);
  result["cores"] = cores(s.board(), m.whole(), counters);
  if (result.contains("requests"))
    for (std::size_t n = 0; n < result["cores"].size(); ++n)
      result["cores"][n]["requests"] = {{"completed", s.served().by(n).count()},
                                        {"latency_ns", workload::latency(s.served().by(n))}};
  result["resources"] = resources(m.uses(m.whole()));
  result["counters"] = std::move(counters);
  result["faults"] = faults(s);
  result["without_effect"] = what_had_no_effect(s, outcome);
  result["mistakes"] = mistakes(board);
  if (const Time quantum = longest_quantum(board); quantum != Time{}) result["quantum_ns"] = nanoseconds(quantum);
  result["host"] = host(s);
  return result;
}

std::string to_text(const Json& result) { return config::json_text(result); }

std::string failure_of(const Json& result) { return result.at("failure").get<std::string>(); }

std::string diagnosis_of(const Json& result) { return result.at("diagnosis").get<std::string>(); }

}  // namespace sluice::report
