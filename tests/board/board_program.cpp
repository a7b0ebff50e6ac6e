// SPDX-License-Identifier: Apache-2.0
#include "tests/board/board_program.h"

#include <filesystem>

#include <fmt/format.h>

#include <systemc>

#include "platform/board/models.h"
#include "platform/report/result.h"

namespace sluice::tests {
namespace {

/// Takes the options from the front of the words; false when there is one that the program does not have.
bool take_options(Addition& addition, std::span<const std::string>& words) {
  while (!words.empty() && words.front().starts_with("--")) {
    const std::size_t taken = addition.option(words);
    if (taken == 0 || taken > words.size()) return false;
    words = words.subspan(taken);
  }
  return true;
}

int run(Addition& addition, const std::string& name, const std::vector<std::string>& overrides) {
  config::Registry registry;
  platform::register_models(registry);
  const config::BoardConfig config = config::load_board(name, overrides, registry, config::BoardDirectories{});
  platform::Board board(config);
  platform::SimulationOptions options;
  addition.prepare(board, options);
  platform::Simulation simulation(board, options);
  addition.ready(simulation);
  const platform::Outcome outcome = simulation.run();
  Json result = report::make_result(simulation, outcome);
  addition.report(simulation, result);
  fmt::print("{}\n", result.dump());
  return report::failure_of(result).empty() ? 0 : 1;
}

}  // namespace
}  // namespace sluice::tests

int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  using namespace sluice;
  const std::string program = std::filesystem::path(argv[0]).filename();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  std::span<const std::string> words = arguments;
  const auto addition = tests::make_addition();
  if (!tests::take_options(*addition, words) || words.empty()) {
    fmt::print(stderr, "usage: {} [OPTION...] BOARD [PATH=VALUE...]\n", program);
    return 2;
  }
  try {
    return tests::run(*addition, words.front(), {words.begin() + 1, words.end()});
  } catch (const config::UserError& e) {
    fmt::print(stderr, "{}: {}\n", program, e.what());
    return 2;
  }
}
