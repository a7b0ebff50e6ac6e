// SPDX-License-Identifier: Apache-2.0
/// sluice boards: lists boards and workloads.

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "platform/cli/command.h"
#include "platform/config/dump.h"
#include "platform/report/workloads.h"

namespace sluice::cli {
namespace {

struct Entry {
  std::string name;
  std::string summary;
};

std::vector<Entry> shipped_boards(const Environment& environment) {
  std::vector<Entry> entries;
  for (const std::string& name : environment.boards.board_names()) {
    const auto found = environment.boards.find_board(name);
    Entry entry{name, {}};
    try {
      entry.summary = config::parse_board_file(config::read_text_file(found.path, found.shown), found.shown).summary;
    } catch (const config::UserError& e) {  // one broken file must not hide the others
      entry.summary = std::string("not usable: ") + e.what();
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<Entry> workloads(const Environment& environment) {
  std::vector<Entry> entries;
  for (const auto& kind : report::workload_kinds(environment.registry)) entries.push_back({kind.name, kind.summary});
  return entries;
}

nlohmann::ordered_json to_json(const std::vector<Entry>& entries) {
  auto json = nlohmann::ordered_json::array();
  for (const Entry& e : entries) json.push_back({{"name", e.name}, {"summary", e.summary}});
  return json;
}

void print(const char* title, const std::vector<Entry>& entries) {
  std::size_t width = 0;
  for (const Entry& e : entries) width = std::max(width, e.name.size());
  fmt::print("{}\n", title);
  for (const Entry& e : entries) fmt::print("  {:<{}}  {}\n", e.name, width, e.summary);
}

}  // namespace

void add_boards(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand("boards", "List boards and workloads");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print JSON");
  command->callback([&environment, &action, json] {
    action = [&environment, json] {
      const auto boards = shipped_boards(environment);
      const auto kinds = workloads(environment);
      if (*json) {
        const nlohmann::ordered_json all = {{"boards", to_json(boards)}, {"workloads", to_json(kinds)}};
        fmt::print("{}", config::json_text(all));
      } else {
        print("boards", boards);
        print("\nworkloads (--workload)", kinds);
      }
      return 0;
    };
  });
}

}  // namespace sluice::cli
