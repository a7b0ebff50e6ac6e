// SPDX-License-Identifier: Apache-2.0
/// sluice sensitivity BOARD: which parameters a result hangs on, within their uncertainties.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/board/pcie_tree.h"
#include "platform/cli/child.h"
#include "platform/cli/command.h"
#include "platform/cli/say.h"
#include "platform/config/dump.h"
#include "platform/report/sensitivity/sensitivity_text.h"
#include "platform/report/sensitivity/variations.h"
#include "platform/report/workloads.h"
#include "platform/workload/traffic_figures.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Without --requests, a run has at most so many calls. A fixed number, and not as many as fit a time, so that the same
/// board gives the same report on every machine.
constexpr std::uint64_t kMostRequests = 5'000;

/// The exit status of a run that has not begun because a value is refused.
constexpr int kRefused = 2;

struct Options : BoardOptions {
  WorkloadOptions workload;
  std::string asked;
  unsigned replications = 5;
  bool all = false;
  bool json = false;
};

/// What the board is put to, where that is calls or packets.
std::optional<std::string> title_of(const config::BoardConfig& board, const Json& result) {
  if (platform::makes_calls(board)) return platform::traffic_text(result);
  const auto shown = report::shown_as(board.the("workload"));
  return shown ? std::optional(shown->title) : std::nullopt;
}

bool has_latencies(const config::BoardConfig& board) {
  const auto shown = report::shown_as(board.the("workload"));
  return platform::makes_calls(board) || (shown && !shown->requests.empty());
}

report::AskedResult asked_of(const Options& o, const config::BoardConfig& board) {
  const auto& known = report::kAskedResults;
  if (o.asked.empty()) return has_latencies(board) ? known.front() : known.back();
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& r) { return o.asked == r.name; });
  if (found == known.end()) {
    std::vector<std::string> names;
    names.reserve(known.size());
    for (const auto& r : known) names.emplace_back(r.name);
    throw config::UserError(fmt::format("--of {}: must be one of {}", o.asked, fmt::join(names, ", ")));
  }
  if (found != known.end() - 1 && !has_latencies(board))
    throw config::UserError(fmt::format("--of {}: the runs of {} have neither calls nor packets, so it must be {}",
                                        o.asked, board.file(), known.back().name));
  return *found;
}

/// The requests of each run, where the workload has such a number.
std::optional<std::uint64_t> requests_of(const config::BoardConfig& board) {
  const config::Instance& workload = board.the("workload");
  const base::Parameter* requests = has_latencies(board) ? workload.schema().find("requests") : nullptr;
  if (!requests) return {};
  const auto value = requests->value(workload.values());
  const auto* n = std::get_if<std::uint64_t>(&value.data);
  return n ? std::optional(*n) : std::nullopt;
}

/// The runs of one analysis.
class Analysis {
 public:
  Analysis(const Environment& environment, const Options& o) : options_(o), workload_(o.workload) {
    Overrides overrides(o.overrides);
    o.workload.apply_to(environment.registry, overrides);
    board_ = o.load(environment, overrides);
    o.workload.check(board_);
    check_replications(board_, o.replications);
    report_.board = board_.name();
    report_.asked = asked_of(o, board_);
    report_.replications = o.replications;
    report_.requests = requests_of(board_);
    reduce_requests();
    report::Variations all = report::variations(board_);
    report_.fixed = std::move(all.fixed);
    for (const report::VariedParameter& p : all.varied)
      report_.ranked.push_back({p, {{}, p.less.why_none}, {{}, p.more.why_none}});
    if (report_.ranked.empty())
      throw config::UserError(board_.file() +
                              ": no parameter of the board has an uncertainty, so there is nothing to vary");
  }

  /// The exit status.
  int run() {
    if (const int failed = run_reference()) return failed;
    if (!run_ends(report_.ranked.size(), 0, 1, "runs with one parameter varied")) return 1;
    report::rank(report_.ranked, report_.reference);
    const std::size_t most = report::carriers(report_.ranked, report::kReplicatedShare);
    if (report_.random && !run_ends(most, 1, options_.replications, "replications")) return 1;
    report::rank(report_.ranked, report_.reference);
    if (options_.json)
      fmt::print("{}", config::json_text(report::to_json(report_)));
    else
      fmt::print("{}", report::sensitivity_text(report_, options_.all));
    return 0;
  }

 private:
  static constexpr base::Side kSides[] = {base::Side::kLess, base::Side::kMore};

  /// Of calls, fewer give the same means. Packets at line rate are left as many as they are: they must fill the NIC's
  /// buffers before anything is lost.
  void reduce_requests() {
    if (!platform::makes_calls(board_) || !report_.requests) return;
    if (board_.is_override(board_.the("workload"), "requests")) return;
    report_.requests = std::min(*report_.requests, kMostRequests);
    workload_.requests = std::to_string(*report_.requests);
  }

  static report::End& end(report::Sensitivity& s, base::Side side) {
    return side == base::Side::kLess ? s.less : s.more;
  }

  std::vector<std::string> arguments(unsigned replication, const std::string& setting) const {
    std::vector<std::string> list = {"run", options_.board, "--json"};
    for (const std::string& s : options_.overrides) list.push_back("--set=" + s);
    for (const std::string& a : workload_.arguments()) list.push_back(a);
    if (options_.replications > 1) list.push_back(fmt::format("--set=run.replication={}", replication));
    if (!setting.empty()) list.push_back("--set=" + setting);
    return list;
  }

  static bool has_ended(const Child& c) {
    if (c.output().empty()) return c.status() == kRefused;
    return Json::parse(c.output()).at("outcome") != "interrupted";
  }

  /// False when the runs were interrupted; the user has been told.
  bool run_shown(std::vector<Child>& children, const char* what) {
    report_.runs += children.size();
    const char* signal = run_all(children, "sensitivity", what);
    if (!signal) return true;
    const auto ended = std::count_if(children.begin(), children.end(), has_ended);
    say("sluice: sensitivity: interrupted by {} when {} of {} {} had ended\n", signal, ended, children.size(), what);
    return false;
  }

  /// The exit status of the reference's replications; all must succeed.
  int run_reference() {
    std::vector<Child> children;
    for (unsigned r = 0; r < options_.replications; ++r) children.emplace_back(arguments(r, ""));
    if (!run_shown(children, "runs of the board as it is")) return 1;
    bool said = false;  // one message stands for all: they may differ in times
    std::set<double> lengths;
    for (const Child& c : children) {
      if (c.status() != 0 && !std::exchange(said, true)) say("{}", c.errors());
      if (c.status() != 0) continue;
      const Json result = Json::parse(c.output());
      report_.reference.push_back(report_.asked.value_in(result));
      lengths.insert(result.at("simulated_ns").get<double>());
      if (report_.reference.size() == 1) report_.workload = title_of(board_, result).value_or("");
    }
    report_.random = lengths.size() > 1 || options_.replications == 1;
    if (!report_.random) report_.reference.resize(std::min<std::size_t>(report_.reference.size(), 1));
    const auto worst = std::max_element(children.begin(), children.end(),
                                        [](const Child& a, const Child& b) { return a.status() < b.status(); });
    return worst->status();
  }

  /// Runs both ends of the first `parameters` parameters, in replications first to last - 1. False as run_shown().
  bool run_ends(std::size_t parameters, unsigned first, unsigned last, const char* what) {
    struct Place {
      report::Sensitivity* parameter;
      base::Side side;
    };
    std::vector<Place> places;
    std::vector<Child> children;
    for (unsigned r = first; r < last; ++r)
      for (std::size_t i = 0; i < parameters; ++i)
        for (const base::Side side : kSides) {
          report::Sensitivity& s = report_.ranked[i];
          if (!end(s, side).why_none.empty()) continue;
          places.push_back({&s, side});
          children.emplace_back(arguments(r, setting(s, side)));
        }
    if (!run_shown(children, what)) return false;
    for (std::size_t i = 0; i < children.size(); ++i) take(children[i], *places[i].parameter, places[i].side);
    return true;
  }

  static std::string setting(const report::Sensitivity& s, base::Side side) {
    return s.parameter.path + "=" + s.parameter.at(side).text;
  }

  /// An end at which a run fails in any replication has no results.
  void take(const Child& child, report::Sensitivity& s, base::Side side) const {
    report::End& e = end(s, side);
    if (!e.why_none.empty()) return;
    if (child.status() == 0) {
      e.results.push_back(report_.asked.value_in(Json::parse(child.output())));
      return;
    }
    e.results.clear();
    e.why_none = why(child, setting(s, side));
  }

  /// The first sentence of what a run said, without what it begins with.
  std::string why(const Child& child, const std::string& setting) const {
    std::string_view said = child.errors();
    said = said.substr(0, said.find('\n'));
    for (const std::string& start : {std::string("sluice: "), "--set " + setting + ": ", board_.name() + ": "})
      if (said.starts_with(start)) said.remove_prefix(start.size());
    return said.empty() ? "its run ended without a result" : std::string(said);
  }

  const Options& options_;
  WorkloadOptions workload_;
  config::BoardConfig board_;
  report::SensitivityReport report_;
};

}  // namespace

void add_sensitivity(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand(
      "sensitivity", "Vary each parameter of a board by its uncertainty, and say which ones the result hangs on");
  auto options = std::make_shared<Options>();
  options->add_to(*command);
  options->workload.add_to(*command);
  command->add_option("--of", options->asked, "The result: mean (latency), p50, p90, p99, throughput or time")
      ->type_name("RESULT");
  auto replications = std::make_shared<std::string>();
  command
      ->add_option(
          "--replications", *replications,
          "Repeat what matters N times with other random numbers, for 95 % confidence intervals; 5 if not given")
      ->type_name("N");
  command->add_flag("--all", options->all, "List parameters without an effect, and those that are not varied, too");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&environment, &action, options, replications] {
    action = [&environment, options, replications] {
      if (!replications->empty()) options->replications = whole_number("--replications", *replications, 1, 1000);
      return Analysis(environment, *options).run();
    };
  });
}

}  // namespace sluice::cli
