// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The conditions under which a run repeats exactly: the program, every parameter of its board, and every file that it
/// reads. A log of inputs records them, so that a replay under other conditions is noticed; a study knows by them which
/// of its runs it has.

#include <string>

#include "models/base/outside/input_log.h"
#include "platform/config/board_config.h"
#include "platform/firmware/sha256.h"

namespace sluice::platform {

/// Names such as "nic.eth0.queues" and their values as text, in the order of the board. For plug-ins, firmware,
/// captures and scripts, the value is the SHA-256 of the file, whatever its path. The first condition is the program.
base::Conditions conditions_of(const config::BoardConfig&, FileDigests&);

/// The differences as part of a sentence, with the names of the first few. Empty: nothing differs.
std::string differences_between(const base::Conditions& logged, const base::Conditions& own);

}  // namespace sluice::platform
