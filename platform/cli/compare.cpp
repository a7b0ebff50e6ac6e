/// sluice compare BOARD BOARD...: one workload on several boards, side by side.

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/cli/child.h"
#include "platform/cli/command.h"
#include "platform/report/text.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> boards;
  std::vector<std::string> overrides;
  WorkloadOptions workload;
  std::string output;
  bool json = false;
};

std::vector<std::string> run_arguments(const Options& o, const std::string& board) {
  std::vector<std::string> arguments = {"run", board, "--json"};
  for (const std::string& s : o.overrides) arguments.push_back("--set=" + s);
  for (const std::string& a : o.workload.arguments()) arguments.push_back(a);
  if (!o.output.empty()) arguments.push_back("--out=" + o.output + "/" + std::filesystem::path(board).stem().string());
  return arguments;
}

/// What the boards differ in beyond the first's, as lines: all of it when it is little, else how much.
std::vector<std::string> differences_of(const std::vector<config::BoardConfig>& boards) {
  std::vector<std::string> lines;
  for (std::size_t i = 1; i < boards.size(); ++i)
    for (const config::Difference& d : config::differences(boards[0], boards[i]))
      lines.push_back(fmt::format("{}: {} on {}, {} on {}", d.path, d.first.empty() ? "-" : d.first, boards[0].name(),
                                  d.second.empty() ? "-" : d.second, boards[i].name()));
  return lines;
}

int execute(const Environment& environment, const Options& o) {
  std::vector<std::string> overrides = o.overrides;
  o.workload.apply_to(overrides);
  // Mistakes are found here, before anything runs.
  std::vector<config::BoardConfig> boards;
  for (const std::string& b : o.boards)
    boards.push_back(config::load_board(b, overrides, environment.registry, environment.boards));
  std::vector<Child> children;
  for (const std::string& b : o.boards) children.emplace_back(run_arguments(o, b));
  run_all(children);

  std::vector<Json> results;
  int status = 0;
  for (const Child& c : children) {
    status = std::max(status, c.status());
    if (c.output().empty()) return status == 0 ? 1 : status;  // it has said why
    results.push_back(Json::parse(c.output()));
  }
  const std::vector<std::string> differences = differences_of(boards);
  if (o.json)
    fmt::print("{}\n", Json{{"results", results}, {"differences", differences}}.dump(2));
  else
    fmt::print("{}", report::compare_report(results, differences));
  return status;
}

}  // namespace

void add_compare(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand("compare", "Run one workload on several boards and show them side by side");
  auto options = std::make_shared<Options>();
  command->add_option("BOARD", options->boards, "Names of shipped boards, or paths of TOML files")
      ->required()
      ->expected(2, 8);
  add_overrides(*command, options->overrides);
  options->workload.add_to(*command);
  command->add_option("--out", options->output, "Directory for the boards' result files")->type_name("DIR");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&environment, &action, options] {
    action = [&environment, options] { return execute(environment, *options); };
  });
}

}  // namespace sluice::cli
