// SPDX-License-Identifier: Apache-2.0
/// sluice compare BOARD BOARD...: one workload on several boards, side by side.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/workload/workload.h"
#include "platform/board/pcie_tree.h"
#include "platform/cli/child.h"
#include "platform/cli/command.h"
#include "platform/cli/loads.h"
#include "platform/cli/result_file.h"
#include "platform/cli/say.h"
#include "platform/config/board_differences.h"
#include "platform/config/dump.h"
#include "platform/config/files/schemas.h"
#include "platform/report/compare_text.h"
#include "platform/report/paired.h"
#include "platform/report/result.h"
#include "platform/report/workloads.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBoards = 8;
constexpr const char* kFile = "compare.json";

struct Options {
  std::vector<std::string> boards;
  std::vector<std::string> overrides;
  WorkloadOptions workload;
  std::string output;
  std::vector<unsigned> loads;        ///< in percent; empty: the boards' own loads
  std::vector<std::string> of_sweep;  ///< settings that the loads have become
  double capacity = 0;                ///< calls per second that are 100 %; 0: none is
  unsigned replications = 1;
  bool json = false;
  bool page = false;
};

/// Makes the command lines of the comparison's runs. The runs go in this order: the first replication of each board,
/// then the second of each, and so on.
struct Plan {
  const Options& options;
  const std::vector<config::BoardConfig>& boards;

  std::vector<std::string> arguments(std::size_t board, unsigned replication, const std::string& quantum) const {
    std::vector<std::string> list = {"run", options.boards[board], "--json"};
    for (const std::string& s : options.overrides) list.push_back("--set=" + s);
    for (const std::string& s : options.of_sweep) list.push_back("--set=" + s);
    WorkloadOptions workload = options.workload;
    if (!quantum.empty()) {
      workload.quantum.clear();
      list.push_back("--set=cluster.host.quantum=" + quantum);
    }
    for (const std::string& a : workload.arguments()) list.push_back(a);
    if (options.replications > 1) list.push_back(fmt::format("--set=run.replication={}", replication));
    if (!options.output.empty() && replication == 0 && quantum.empty())
      list.push_back("--out=" + options.output + "/" + boards[board].name());
    return list;
  }
};

/// A parameter in which a board differs from the first board.
struct DifferenceFrom {
  std::string board;
  config::Difference difference;
};
std::vector<DifferenceFrom> differences_of(const std::vector<config::BoardConfig>& boards) {
  std::vector<DifferenceFrom> list;
  for (std::size_t i = 1; i < boards.size(); ++i)
    for (config::Difference& d : config::differences(boards[0], boards[i])) list.push_back({boards[i].name(), d});
  return list;
}

std::string shown(const std::string& value) { return value.empty() ? "-" : value; }

/// Why a board with an Ethernet link makes no calls, as the end of a sentence about it.
std::string why_no_calls(const config::BoardConfig& board) {
  const std::string& model = board.the("workload").model();
  return "makes no calls, by workload." + (model == "traffic" ? "requests, 0" : "model, " + model);
}

/// Checks that the boards can be compared: all of them answer calls, none does, or all have the same other workload.
void check_workloads(const Options& o, const std::vector<config::BoardConfig>& boards) {
  const config::Instance& reference = boards.front().the("workload");
  for (const config::BoardConfig& b : boards) {
    o.workload.check(b);
    check_replications(b, o.replications);
    const config::Instance& workload = b.the("workload");
    if (workload.factory() && !report::shown_as(workload))
      throw config::UserError(
          fmt::format("compare: {} has the {}, which compare does not show; use sluice run for each board", b.file(),
                      workload.title()));
    if ((workload.factory() || reference.factory()) && workload.model() != reference.model())
      throw config::UserError(fmt::format("compare: {} has the {}, and {} has the {}: there is nothing to compare",
                                          boards.front().file(), reference.title(), b.file(), workload.title()));
    if (platform::makes_calls(b) == platform::makes_calls(boards.front())) continue;
    const auto& [with, without] = platform::makes_calls(b) ? std::tie(b, boards.front()) : std::tie(boards.front(), b);
    throw config::UserError(
        fmt::format("compare: {} has an Ethernet link and is put to calls, and {} {}: there is nothing to compare",
                    with.file(), without.file(), without.of_kind("net").empty() ? "has none" : why_no_calls(without)));
  }
}

/// Loads the boards and checks that they can be compared, before anything runs.
std::vector<config::BoardConfig> load(const Environment& environment, const Options& o) {
  if (o.boards.size() < 2 || o.boards.size() > kMostBoards)
    throw config::UserError(fmt::format("compare needs 2 to {} boards, not {}", kMostBoards, o.boards.size()));
  if (!o.output.empty()) ResultFile::set_old_aside(o.output, kFile);
  if (!o.output.empty())
    for (const std::string& b : o.boards)
      ResultFile::set_old_aside(o.output + "/" + std::filesystem::path(b).filename().replace_extension().string());
  Overrides overrides(o.overrides);
  o.workload.apply_to(environment.registry, overrides);
  std::vector<config::BoardConfig> boards;
  for (const std::string& b : o.boards) {
    boards.push_back(
        config::load_board(b, overrides.settings, environment.registry, environment.boards, overrides.options));
    for (std::size_t i = 0; i + 1 < boards.size(); ++i) {
      if (o.boards[i] == b)
        throw config::UserError(fmt::format("compare: {} is named twice; name different boards", b));
      if (boards[i].name() == boards.back().name())
        throw config::UserError(fmt::format("compare: {} and {} are both called {}; give one file another name",
                                            o.boards[i], b, boards[i].name()));
    }
  }
  check_workloads(o, boards);
  for (const auto& b : boards)
    if (!o.output.empty()) ResultFile(o.output + "/" + b.name(), "--out " + o.output);
  return boards;
}

/// How a list of runs went.
struct Ran {
  bool complete;       ///< each has a result; else some failed, with a message, or were interrupted
  const char* signal;  ///< what interrupted them; null: nothing
};

/// Runs the children, and shows their progress in a line on the terminal if they take long.
Ran run_shown(std::vector<Child>& children, const char* what) {
  const char* signal = run_all(children, "compare", what);
  const bool complete =
      std::none_of(children.begin(), children.end(), [](const Child& c) { return c.output().empty(); });
  return {complete, signal};
}

bool has_ended(const Child& c) { return !c.output().empty() && Json::parse(c.output()).at("outcome") != "interrupted"; }

/// Number of replications that an interrupted comparison can show: those that every board has ended; else 1, if each
/// board has at least a partial first result; else 0.
std::size_t shown_replications(const std::vector<Child>& children, std::size_t boards) {
  std::size_t ended = 0;
  while (ended < children.size() && has_ended(children[ended])) ++ended;
  if (ended >= boards) return ended / boards;
  return std::any_of(children.begin(), children.begin() + static_cast<std::ptrdiff_t>(boards),
                     [](const Child& c) { return c.output().empty(); })
             ? 0
             : 1;
}

void print_interruption(const char* signal, const std::vector<Child>& children, const char* what) {
  const auto ended = std::count_if(children.begin(), children.end(), has_ended);
  std::fflush(stdout);
  say("sluice: compare: interrupted by {} when {} of {} {} had ended\n", signal, ended, children.size(), what);
}

/// Prints each message of the children once, even if several children have it (such as one about firmware that is not
/// found). With several replications, the message of a failed run begins with the board and the replications that
/// printed it.
void print_errors(const std::vector<Child>& children, const std::vector<config::BoardConfig>& boards,
                  unsigned replications) {
  std::vector<std::string> said;
  std::map<std::string, std::vector<std::size_t>> by_words;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const std::string& words = children[i].errors();
    if (words.empty()) continue;
    if (!by_words.contains(words)) said.push_back(words);
    by_words[words].push_back(i / boards.size());
  }
  for (const std::string& words : said) {
    std::string shown = words;
    for (const config::BoardConfig& b : boards) {
      const std::string start = "sluice: " + b.name() + ": ";
      if (replications == 1 || !words.starts_with(start)) continue;
      const auto& which = by_words[words];
      shown = fmt::format("sluice: {}, {} {}: {}", b.name(), which.size() == 1 ? "replication" : "replications",
                          fmt::join(which, ", "), words.substr(start.size()));
    }
    say("{}", shown);
  }
}

int worst(const std::vector<Child>& children) {
  int status = 0;
  for (const Child& c : children) status = std::max(status, c.status());
  return status;
}

/// The boards that differ from the first one, and did the same in all replications.
std::vector<std::string> same_as_first(const std::vector<std::vector<Json>>& by_board,
                                       const std::vector<config::BoardConfig>& boards,
                                       const std::vector<DifferenceFrom>& differences) {
  std::vector<std::string> same;
  for (std::size_t b = 1; b < boards.size(); ++b) {
    const auto of_board = [&](const DifferenceFrom& d) { return d.board == boards[b].name(); };
    const auto failed = [](const Json& result) { return !report::failure_of(result).empty(); };
    if (std::any_of(differences.begin(), differences.end(), of_board) &&
        std::none_of(by_board[0].begin(), by_board[0].end(), failed) &&
        std::equal(by_board[b].begin(), by_board[b].end(), by_board[0].begin(), report::did_the_same))
      same.push_back(boards[b].name());
  }
  return same;
}

/// Runs boards with several harts again at half the quantum, because run-ahead between harts is bounded, not exact.
/// half: the results, null for the other boards. False when a run has no result or was interrupted; the user has been
/// told.
bool at_half_quantum(const Plan& plan, const std::vector<Json>& results, std::vector<Json>& half) {
  half.assign(results.size(), Json());
  std::vector<Child> children;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].contains("quantum_ns")) continue;
    const auto fs = static_cast<std::uint64_t>(std::llround(results[i].at("quantum_ns").get<double>() * 1e6));
    if (fs < 2) continue;
    children.emplace_back(plan.arguments(i, 0, fmt::format("{} fs", fs / 2)));
    of.push_back(i);
  }
  const Ran ran = run_shown(children, "runs at half the quantum");
  if (ran.signal) print_interruption(ran.signal, children, "runs at half the quantum");
  if (!ran.complete) print_errors(children, plan.boards, 1);
  if (!ran.complete || ran.signal) return false;
  for (std::size_t i = 0; i < children.size(); ++i) half[of[i]] = Json::parse(children[i].output());
  return true;
}

/// Offers each board more calls than it can answer, and makes the loads a sweep of rates: 100 % is what the slowest
/// board achieves. False when a run failed or was interrupted; the user has been told.
bool choose_rates(Options& o, const std::vector<config::BoardConfig>& boards) {
  Options overload = o;
  overload.workload.requests.clear();
  overload.output.clear();
  overload.of_sweep = overload_settings();
  const Plan plan{overload, boards};
  std::vector<Child> children;
  for (std::size_t b = 0; b < boards.size(); ++b) children.emplace_back(plan.arguments(b, 0, ""));
  const Ran ran = run_shown(children, "overloads");
  if (ran.signal) print_interruption(ran.signal, children, "overloads");
  // What has no effect, the runs of the sweep say.
  if (!ran.complete || worst(children) != 0) print_errors(children, boards, 1);
  if (ran.signal || !ran.complete || worst(children) != 0) return false;
  for (std::size_t b = 0; b < boards.size(); ++b) {
    const double achieved = Json::parse(children[b].output()).at("load").at("achieved_per_s").get<double>();
    if (achieved <= 0)
      throw config::UserError(fmt::format(
          "compare: {} answers no call when it is offered more than it can take, so no load is a share of what it can",
          boards[b].file()));
    if (b == 0 || achieved < o.capacity) o.capacity = achieved;
  }
  o.of_sweep = sweep_settings(o.loads, o.capacity);
  return true;
}

Json to_json(const report::Comparison& c, const std::vector<DifferenceFrom>& differences) {
  Json all = {{"schema", config::kComparisonSchema},
              {"results", c.results},
              {"differences", Json::array()},
              {"half_quantum", c.half_quantum}};
  for (const DifferenceFrom& d : differences)
    all["differences"].push_back({{"path", d.difference.path},
                                  {"reference_value", d.difference.first},
                                  {"board", d.board},
                                  {"value", d.difference.second}});
  all["same_as_reference"] = c.same;
  all["replications"] = c.replications;
  if (!c.curves.empty()) all["curve"] = report::to_json(c.curves);
  if (c.capacity_per_s > 0) all["capacity_per_s"] = c.capacity_per_s;
  all["paired"] = report::to_json(c.paired);
  return all;
}

/// A sweep is of one source of calls: the phases of several would lie beside each other.
void check_clients(const Options& o, const std::vector<config::BoardConfig>& boards) {
  for (const char* key : {"kind", "arrivals", "rate", "rates", "sizes"})
    if (!o.loads.empty() && boards.front().is_override(boards.front().the("workload"), key))
      throw boards.front().without_effect(boards.front().the("workload"), key, "--loads says how calls are offered");
  for (const config::BoardConfig& b : boards)
    for (const config::Instance* peer : b.of_kind("peer"))
      if (!o.loads.empty() && peer->model() == "traffic")
        throw config::UserError(fmt::format(
            "compare: --loads is for boards whose calls have one source, and {} has {}, too", b.file(), peer->path()));
}

/// The curves of sweeps; empty where the boards have none. Throws config::UserError where their rates or sizes differ.
std::vector<report::CurvePoint> curves_of(const std::vector<std::vector<Json>>& by_board,
                                          const std::vector<config::BoardConfig>& boards) {
  if (!report::has_curve(by_board.front().front())) return {};
  // A run that has failed or was interrupted may have fewer.
  const std::size_t common = report::common_phases(by_board);
  const auto points = [common](const Json& result) {
    std::vector<std::pair<bool, double>> list;
    for (std::size_t i = 0; i < common; ++i) {
      const report::CurvePoint p = report::point_of(result.at("phases").at(i));
      list.emplace_back(p.is_size, p.at);
    }
    return list;
  };
  for (std::size_t b = 1; b < boards.size(); ++b)
    if (!report::has_curve(by_board[b].front()) || points(by_board[b].front()) != points(by_board[0].front()))
      throw config::UserError(
          fmt::format("compare: {} and {} do not sweep over the same rates or sizes; set workload.rates or "
                      "workload.sizes of both",
                      boards[0].file(), boards[b].file()));
  return report::curve_of(by_board);
}

/// Writes the comparison's file and page, and prints it.
void give(const Options& o, std::optional<ResultFile>& file, const report::Comparison& comparison,
          const std::vector<DifferenceFrom>& differences) {
  const std::string json = config::json_text(to_json(comparison, differences));
  if (file) file->commit(json);
  fmt::print("{}", o.json ? json : report::compare_report(comparison));
  if (o.page) write_page(o.output, !o.json);
}

int execute(const Environment& environment, Options o) {
  check_page(o.page, o.output);
  const std::vector<config::BoardConfig> boards = load(environment, o);
  if (!o.loads.empty() && !platform::makes_calls(boards.front()))
    throw config::UserError(fmt::format("compare: --loads is for boards that are put to calls, and {} {}",
                                        boards.front().file(), why_no_calls(boards.front())));
  check_clients(o, boards);
  std::optional<ResultFile> file;
  if (!o.output.empty()) file.emplace(o.output, "--out " + o.output, kFile);
  if (!o.loads.empty() && !choose_rates(o, boards)) return 1;
  const Plan plan{o, boards};
  std::vector<Child> children;
  for (unsigned r = 0; r < o.replications; ++r)
    for (std::size_t b = 0; b < boards.size(); ++b) children.emplace_back(plan.arguments(b, r, ""));
  const Ran ran = run_shown(children, "runs");
  const std::size_t replications = ran.signal ? shown_replications(children, boards.size()) : o.replications;
  if (ran.signal) print_interruption(ran.signal, children, "runs");
  print_errors(children, boards, o.replications);
  if (ran.signal ? replications == 0 : !ran.complete) return std::max(1, worst(children));

  report::Comparison comparison;
  for (const config::BoardConfig& b : boards)
    if (const auto shown = report::shown_as(b.the("workload"))) comparison.shown.push_back(*shown);
  std::vector<std::vector<Json>> by_board(boards.size());
  for (std::size_t i = 0; i < replications * boards.size(); ++i)
    by_board[i % boards.size()].push_back(Json::parse(children[i].output()));
  for (const auto& runs : by_board) comparison.results.push_back(runs.front());
  comparison.replications = static_cast<unsigned>(replications);
  if (replications > 1) comparison.paired = report::paired(by_board);
  comparison.curves = curves_of(by_board, boards);
  comparison.capacity_per_s = o.capacity;
  bool halved = true;
  if (comparison.curves.empty() && worst(children) == 0 && !ran.signal)
    halved = at_half_quantum(plan, comparison.results, comparison.half_quantum);
  const std::vector<DifferenceFrom> differences = differences_of(boards);
  comparison.same = same_as_first(by_board, boards, differences);
  for (const auto& [board, d] : differences)
    comparison.differences.push_back(
        fmt::format("{}: {} on {}, {} on {}", d.path, shown(d.first), boards[0].name(), shown(d.second), board));
  give(o, file, comparison, differences);
  return halved && !ran.signal ? worst(children) : 1;
}

}  // namespace

void add_compare(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand("compare", "Run one workload on several boards and show them side by side");
  auto options = std::make_shared<Options>();
  command
      ->add_option("BOARD", options->boards,
                   "Names of 2 to 8 shipped boards, or paths of TOML files; the first is the reference")
      ->required()
      ->expected(-1);
  add_overrides(*command, options->overrides);
  options->workload.add_to(*command);
  auto replications = std::make_shared<std::string>();
  command
      ->add_option("--replications", *replications,
                   "Repeat each board N times with other random numbers, and give 95 % confidence intervals")
      ->type_name("N");
  auto loads = std::make_shared<std::string>();
  command
      ->add_option("--loads", *loads,
                   "Latency against load: open loops at these percentages of the rate that the slowest board achieves, "
                   "as 20,50,90 or 10..90")
      ->type_name("LIST");
  command->add_option("--out", options->output, "Directory for compare.json and the boards' result files")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "Print JSON");
  add_page(*command, options->page);
  command->callback([&environment, &action, options, replications, loads] {
    action = [&environment, options, replications, loads] {
      if (!loads->empty()) options->loads = parse_loads(*loads);
      if (!replications->empty()) options->replications = whole_number("--replications", *replications, 1, 1000);
      return execute(environment, *options);
    };
  });
}

}  // namespace sluice::cli
