/// sluice describe BOARD: the effective board, every parameter with where it comes from.

#include <fmt/format.h>

#include "platform/cli/command.h"
#include "platform/config/dump.h"

namespace sluice::cli {
namespace {

void print(const config::BoardConfig& board) {
  fmt::print("{}   {}\n", board.name(), board.summary());
  fmt::print("from {}\n\n", fmt::join(board.files(), ", "));
  fmt::print("{}", config::to_table(board));
}

}  // namespace

void add_describe(CLI::App& app, const Environment& environment, Action& action) {
  CLI::App* command = app.add_subcommand("describe", "Show a board: every parameter and where it comes from");
  struct Options : BoardOptions {
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  options->add_to(*command);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&environment, &action, options] {
    action = [&environment, options] {
      const config::BoardConfig board = options->load(environment);
      if (options->json) {
        fmt::print("{}\n", config::to_json(board).dump(2));
      } else {
        print(board);
      }
      return 0;
    };
  });
}

}  // namespace sluice::cli
