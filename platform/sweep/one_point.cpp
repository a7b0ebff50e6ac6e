// SPDX-License-Identifier: Apache-2.0
#include "platform/sweep/one_point.h"

#include <new>
#include <regex>

#include <fmt/format.h>

#include "models/base/systemc/model.h"
#include "platform/board/board.h"
#include "platform/board/pcie_tree.h"
#include "platform/report/result.h"
#include "platform/run/first_run.h"
#include "platform/run/simulation.h"
#include "platform/sweep/identity.h"

namespace sluice::sweep {
namespace {

/// Simulates, and returns the result file; nothing where a signal has ended the run.
std::optional<nlohmann::ordered_json> simulate(const config::BoardConfig& config) {
  std::optional<platform::WarmUp> warm_up;
  if (platform::finds_warm_up(config) && !(warm_up = platform::find_warm_up(config))) return {};
  platform::Board board(config, platform::Traffic::generated, warm_up);
  if (platform::makes_calls(config) && board.clients().empty())
    throw config::UserError(config.file() + ": no wire is left for the workload, so the run would have no end");
  platform::Simulation simulation(board, {});
  const platform::Outcome outcome = simulation.run();
  if (outcome == platform::Outcome::interrupted) return {};
  return report::make_result(simulation, outcome);
}

/// Whether a file that the run reads is no longer what its identity was taken of.
bool has_changed(const config::BoardConfig& config, const std::string& id) {
  platform::FileDigests now;
  return identity_of(config, now) != id;
}

Attempt changed() { return {Ended::changed, "a file that it reads has changed while it ran; run the command again"}; }

/// The result file of a point: whose it is stands at its end.
std::string text_of(nlohmann::ordered_json result, const std::string& id) {
  result["identity"] = id;
  return report::to_text(result);
}

/// A sentence without the file and line that it begins with: these depend on how the study was named, and go stale.
std::string without_place(const std::string& sentence) {
  static const std::regex place(R"(^[^\n]*?\.toml(:[0-9]+)?: )");
  return std::regex_replace(sentence, place, "", std::regex_constants::format_first_only);
}

/// What is thrown but is no mistake of the user is one of a component's author; it is told as `sluice run` tells it.
Attempt simulate_into(const PointDirectory& directory, const config::BoardConfig& config, const std::string& id) {
  std::string mistake;
  try {
    const auto result = simulate(config);
    if (!result) return {Ended::interrupted, {}};
    if (has_changed(config, id)) return changed();
    try {
      directory.put_result(text_of(*result, id));
    } catch (const config::UserError& e) {
      return {Ended::unwritable, e.what()};
    }
    const std::string failure = report::failure_of(*result);
    return {failure.empty() ? Ended::done : Ended::failed, failure};
  } catch (const config::MachineError& e) {
    return {Ended::killed, e.what()};
  } catch (const config::UserError& e) {
    mistake = e.what();
  } catch (const base::ComponentError& e) {
    mistake = fmt::format("{} threw an exception: {}", e.component(), e.what());
  } catch (const std::bad_alloc&) {
    return {Ended::killed, "this machine has no more memory for it"};
  } catch (const std::exception& e) {
    return {Ended::killed, fmt::format("internal error: {}", e.what())};
  } catch (...) {  // by a plug-in
    return {Ended::killed, "internal error: something that is no std::exception"};
  }
  if (has_changed(config, id)) return changed();
  try {
    directory.put_mistake(without_place(mistake));
  } catch (const config::UserError& e) {
    return {Ended::unwritable, e.what()};
  }
  return {Ended::mistake, mistake};
}

}  // namespace

Attempt run_here(const config::BoardConfig& config, const std::string& id, const Directory& directory,
                 const std::string& again) {
  try {
    const PointDirectory own(directory, id);
    if (!own.is_mine()) return {Ended::elsewhere, {}};
    // Another process may have run it since this one looked.
    const Found found = directory.find(id);
    if (found.state == State::done) return {Ended::done, {}};
    const bool is_replaced = !again.empty() && directory.mark_of(id) == again;
    if (found.state == State::failed && !is_replaced) return {Ended::failed, found.why};
    if (!found.broken.empty()) directory.forget(id);
    return simulate_into(own, config, id);
  } catch (const config::UserError& e) {
    return {Ended::unwritable, e.what()};
  }
}

}  // namespace sluice::sweep
