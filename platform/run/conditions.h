// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The conditions under which a run repeats exactly: every parameter of its board, and every file that it reads. A log
/// of inputs records them, so that a replay under other conditions is noticed.

#include <string>

#include "models/base/outside/input_log.h"
#include "platform/board/board.h"

namespace sluice::platform {

/// Names such as "nic.eth0.queues" and their values as text, in the order of the board. For plug-ins, firmware,
/// captures and scripts, the value is the SHA-256 of the file, whatever its path.
base::Conditions conditions_of(Board&);

/// The differences as part of a sentence, with the names of the first few. Empty: nothing differs.
std::string differences_between(const base::Conditions& logged, const base::Conditions& own);

}  // namespace sluice::platform
