// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the user has set and has no effect in a run.

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "platform/run/simulation.h"

namespace sluice::platform {

struct WithoutEffect {
  /// How it is known.
  enum class By {
    board,   ///< by other values of the board
    run,     ///< nothing happened in which the value acts: as a limit, it may be why, and a tighter one might act
    warm_up  ///< nothing did after the warm-up
  };
  std::string path;    ///< "workload.rate"
  std::string set_by;  ///< "--set", "my.toml:7"
  std::string why;     ///< a reason: "workload.kind is closed-loop"
  By by = By::board;
  bool from_command_line = false;
};

/// The values without an effect in a run that has ended, among those that the command line gives, in the order of the
/// board; and, where the command line gives nothing but numbers of requests and seeds, among those of the board's own
/// file: else the command line may take their effect. What a board inherits may be meant for other boards.
std::vector<WithoutEffect> without_effect(const Simulation&, Outcome);

/// "workload.rate (--set) has no effect: workload.kind is closed-loop", "nic.eth0.pcie.tags (--set) did not act: no DMA
/// read waited for a tag"
std::string to_text(const WithoutEffect&);

/// As a member of a result file's `without_effect`.
nlohmann::ordered_json to_json(const WithoutEffect&);
/// The reverse; nothing for what is no such member. from_command_line is not in it.
std::optional<WithoutEffect> without_effect_of(const nlohmann::ordered_json&);

}  // namespace sluice::platform
