// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the user has set and a run does not read.

#include <string>
#include <vector>

#include "platform/config/board_config.h"

namespace sluice::platform {

struct WithoutEffect {
  std::string path;    ///< "workload.rate"
  std::string set_by;  ///< "--set", "my.toml:7"
  std::string why;     ///< a reason: "workload.kind is closed-loop"
};

/// The values without an effect among those that the command line gives, in the order of the board; and, where the
/// command line gives nothing but numbers of requests and seeds, among those of the board's own file: else the command
/// line may take their effect. What a board inherits may be meant for other boards.
std::vector<WithoutEffect> without_effect(const config::BoardConfig&);

/// "workload.rate (--set) has no effect: workload.kind is closed-loop"
std::string to_text(const WithoutEffect&);

}  // namespace sluice::platform
