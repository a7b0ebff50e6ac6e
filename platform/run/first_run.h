// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The first run of a board whose workload finds its warm-up by itself.

#include <optional>

#include "models/base/time/time.h"
#include "platform/config/board_config.h"
#include "platform/workload/warm_up.h"

namespace sluice::platform {

/// Whether the board's workload asks for it: workload.find_warmup.
bool finds_warm_up(const config::BoardConfig&);

/// Runs the board without a warm-up, in a process of its own, and finds by MSER-5 where the latencies of its calls, in
/// the order of their ends, have settled. until: as of the run that follows. Where the first run fails, as the one that
/// follows will, nothing is cut. Nothing: a signal has ended it; what waits for it must hold no Interruption. Throws
/// config::UserError for a board with several sources of calls, std::runtime_error where the process cannot be started
/// or is killed.
std::optional<WarmUp> find_warm_up(const config::BoardConfig&, std::optional<base::Time> until = {});

}  // namespace sluice::platform
