// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the commands of `sluice` share. Each command has a file of its own and one function that adds it.

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "platform/config/board_config.h"

namespace sluice::cli {

/// Data that all commands of one call share.
struct Environment {
  config::Registry registry;
  config::BoardDirectories boards;
};

/// Runs a command once its options have been read; returns the exit status: 0, or 1 when the simulated system failed.
/// Throws config::UserError for a mistake of the user (exit status 2).
using Action = std::function<int()>;

/// Each adds one command to the application. Choosing the command sets the action. The environment and the action must
/// outlive the application, and the environment must outlive the action.
void add_boards(CLI::App&, const Environment&, Action&);
void add_describe(CLI::App&, const Environment&, Action&);
void add_run(CLI::App&, const Environment&, Action&);
void add_compare(CLI::App&, const Environment&, Action&);
void add_report(CLI::App&, const Environment&, Action&);
void add_reproduce(CLI::App&, const Environment&, Action&);
void add_sensitivity(CLI::App&, const Environment&, Action&);
void add_sweep(CLI::App&, const Environment&, Action&);

/// Settings of parameters from the command line, and the options that gave them, for messages.
struct Overrides {
  std::vector<std::string> settings;  ///< "workload.requests=5"
  std::vector<std::string> options;   ///< "--requests 5"; empty: --set

  Overrides() = default;
  explicit Overrides(const std::vector<std::string>& set) : settings(set), options(set.size()) {}
  /// Throws config::UserError when --set or another option sets the same parameter to another value: one of both would
  /// have no effect.
  void add(const std::string& setting, const std::string& option);
};

/// Throws config::UserError for a board whose run.replication the command line sets beside --replications.
void check_replications(const config::BoardConfig&, unsigned replications);
/// The value of an option. Throws config::UserError, which names the option and its range.
unsigned whole_number(const char* option, const std::string& text, unsigned least, unsigned most);

/// BOARD and --set, for the commands that take one board.
struct BoardOptions {
  std::string board;
  std::vector<std::string> overrides;

  void add_to(CLI::App& command);
  config::BoardConfig load(const Environment& environment, const Overrides& all) const {
    return config::load_board(board, all.settings, environment.registry, environment.boards, all.options);
  }
};
/// Options for the parameters that are changed most often.
struct WorkloadOptions {
  std::string requests, warmup, seed, quantum, firmware, workload, sizes;

  void add_to(CLI::App& command);
  void apply_to(const config::Registry&, Overrides&) const;
  void choose_workload(const config::Registry&, Overrides&) const;
  /// Throws config::UserError for options about calls on a board without an Ethernet link, and for --warmup when
  /// --requests leaves no calls.
  void check(const config::BoardConfig&) const;
  /// These settings as options of `sluice run`.
  std::vector<std::string> arguments() const;
};
/// Adds --report, of commands that have --out.
void add_page(CLI::App& command, bool& page);
/// Throws config::UserError for --report without --out.
void check_page(bool page, const std::string& output);
/// Writes the page of the directory that --out names, and says where it is if `said`.
void write_page(const std::string& output, bool said);
/// Only --set, for the commands that take several boards.
void add_overrides(CLI::App& command, std::vector<std::string>& overrides);

using AddCommand = void (*)(CLI::App&, const Environment&, Action&);
/// Runs the command line. Mistakes are printed to standard error as one sentence.
int run(int argc, const char* const* argv, const std::vector<AddCommand>& commands);

}  // namespace sluice::cli
