// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The conditions under which a run repeats exactly: every parameter of its board, and every file that it reads. A log
/// of inputs records them, so that a replay under other conditions is noticed.

#include <string>

#include "models/base/outside/input_log.h"
#include "platform/board/board.h"

namespace sluice::platform {

/// "nic.eth0.queues" and its value as text, in the order of the board; of plug-ins, firmware, captures and scripts
/// the SHA-256 of the file, whatever its path.
base::Conditions conditions_of(Board&);

/// What differs, in the words of a sentence; the first few by name. Empty: nothing.
std::string differences_between(const base::Conditions& logged, const base::Conditions& own);

}  // namespace sluice::platform
