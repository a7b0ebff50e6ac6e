// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "models/base/parameters/number.h"
#include "models/base/systemc/model.h"
#include "platform/board/models.h"
#include "platform/cli/command.h"
#include "platform/cli/say.h"
#include "platform/config/files/board_file.h"
#include "platform/config/nearest_name.h"

namespace sluice::cli {
namespace {

constexpr int kFailed = 1;
constexpr int kMistake = 2;

const CLI::App& chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : *chosen.front();
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* o : command.get_options()) {
    for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(c->get_name());
  return names;
}

/// A sentence for a message of CLI11 about arguments, such as "--requests: 1 required N missing".
std::string argument_sentence(const CLI::App& command, const std::string& what) {
  if (const auto flag = what.find(" was given a disallowed flag override"); flag != std::string::npos)
    return fmt::format("--{} takes no value", what.substr(0, flag));
  const std::string option = what.substr(0, what.find(':'));
  const CLI::Option* known = command.get_option_no_throw(option);
  if (!known) return what;
  const bool missing = what.find("missing") != std::string::npos;
  if (missing) return fmt::format("{} needs a value, {}", option, known->get_type_name());
  return fmt::format("{} may be given once", option);
}

constexpr const char* kEmpty = "must not be empty";

/// One sentence for what CLI11 did not accept.
std::string sentence(const CLI::App& app, const Environment& environment, const CLI::ParseError& error) {
  const CLI::App& command = chosen_command(app);
  const std::string name = &command == &app ? "sluice" : "sluice " + command.get_name();
  const auto rest = app.remaining(true);
  if (!rest.empty()) {
    const std::string& word = rest.front();
    if (word.starts_with("-")) {
      const std::string option = word.substr(0, word.find('='));
      return option + " is not an option of " + name + config::suggestion(option, option_names(command));
    }
    if (&command == &app) return word + " is not a command" + config::suggestion(word, command_names(app));
    return name + " does not take another argument: " + word;
  }
  const bool required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (required && &command == &app) return "a command must be given" + config::suggestion("", command_names(app));
  std::string what = error.what();
  for (char& c : what) {
    if (c == '\n') c = ' ';
  }
  if (required && what == "BOARD is required")
    return fmt::format("{} needs a BOARD: a TOML file, or one of {}", command.get_name(),
                       config::shortened("", environment.boards.board_names()));
  if (required && what == "STUDY is required") return command.get_name() + " needs a STUDY: a TOML file";
  if (what.ends_with(kEmpty)) what.erase(what.find(':'), 1);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) what = argument_sentence(command, what);
  return command.get_name() + ": " + what;
}

/// Refuses options with an empty value: it is a mistake, such as an empty shell variable, and does not mean the
/// default. Flags have no value.
void refuse_empty_values(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (const CLI::Option* found : command->get_options()) {
      auto* option = const_cast<CLI::Option*>(found);
      if (found->get_items_expected_max() == 0) {
        option->disable_flag_override();
        continue;
      }
      option->check(
          CLI::Validator([](const std::string& value) { return std::string(value.empty() ? kEmpty : ""); }, ""));
    }
  }
}

int mistake(const std::string& sentence) {
  say("sluice: {}\n", sentence);
  return kMistake;
}

/// Throws config::UserError when standard output could not be written, for example because the disk is full.
void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw config::UserError("standard output cannot be written");
}

}  // namespace

void add_overrides(CLI::App& command, std::vector<std::string>& overrides) {
  command.add_option("--set", overrides, "Override a parameter, such as nic.eth0.queues=4; may be repeated")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
}

unsigned whole_number(const char* option, const std::string& text, unsigned least, unsigned most) {
  const config::Location where{fmt::format("{} {}", option, text), 0};
  std::uint64_t value = 0;
  try {
    constexpr const char* kWhole = "a whole number";
    value = base::parse_unsigned(base::without_unit(config::unquoted(text, where), "", kWhole));
  } catch (const base::ValueError&) {
    value = std::uint64_t{most} + 1;
  }
  if (value < least || value > most)
    throw config::UserError(where, fmt::format("must be a whole number, {} to {}", least, most));
  return static_cast<unsigned>(value);
}

void check_replications(const config::BoardConfig& board, unsigned replications) {
  const config::Instance& run = board.the("run");
  if (replications > 1 && board.is_override(run, "replication"))
    throw board.without_effect(run, "replication", fmt::format("--replications {} numbers them", replications));
}

void Overrides::add(const std::string& setting, const std::string& option) {
  const auto path_of = [](const std::string& s) { return s.substr(0, s.find('=')); };
  for (std::size_t i = 0; i < settings.size(); ++i)
    if (path_of(settings[i]) == path_of(setting) && settings[i] != setting)
      throw config::UserError(fmt::format("{}: {} sets {}, too; give one of them", option,
                                          options[i].empty() ? "--set " + settings[i] : options[i], path_of(setting)));
  settings.push_back(setting);
  options.push_back(option);
}

void BoardOptions::add_to(CLI::App& command) {
  command.add_option("BOARD", board, "Name of a shipped board, or path of a TOML file")->required();
  add_overrides(command, overrides);
}

int run(int argc, const char* const* argv, const std::vector<AddCommand>& commands) {
  // If standard error is closed, the first file that is opened would take its descriptor and receive its messages.
  if (::fcntl(STDERR_FILENO, F_GETFD) < 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    if (nowhere >= 0 && nowhere != STDERR_FILENO) {
      ::dup2(nowhere, STDERR_FILENO);
      ::close(nowhere);
    }
  }
  Environment environment;
  Action action;
  CLI::App app("Sluice: a virtual board on which network interfaces are attached to a CPU and compared.", "sluice");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("--version", "sluice " SLUICE_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Exit status: 0 success, 1 the simulated system failed (also: a hart only traps, the guest hangs, calls were "
      "lost,\n"
      "the run has no end), 2 your mistake, and nothing has been simulated.");
  try {
    platform::register_models(environment.registry);
    for (const AddCommand add : commands) add(app, environment, action);
    refuse_empty_values(app);
    app.parse(argc, argv);
    const int status = action();
    flush_output();
    return status;
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
    return 0;
  } catch (const CLI::ParseError& error) {
    return mistake(config::UserError(sentence(app, environment, error)).what());
  } catch (const config::UserError& error) {
    return mistake(error.what());
  } catch (const std::system_error& error) {  // by fmt, when a stream cannot be written
    if (std::ferror(stdout)) return mistake("standard output cannot be written");
    say("sluice: internal error: {}\n", error.what());
    return kFailed;
  } catch (const base::ComponentError& error) {  // after the run: by a workload that is asked for its result
    say("sluice: {} threw an exception: {}\n", error.component(), error.what());
    return kFailed;
  } catch (const std::bad_alloc&) {
    say("sluice: this machine has no more memory for it, or its limit (ulimit -v) allows no more\n");
    return kFailed;
  } catch (const std::exception& error) {
    say("sluice: internal error: {}\n", error.what());
    return kFailed;
  } catch (...) {  // by a plug-in
    say("sluice: internal error: something that is no std::exception\n");
    return kFailed;
  }
}

}  // namespace sluice::cli
