// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Proves that a guest hangs: every hart is in a loop that it can never leave.

#include <string>

#include "platform/board/board.h"

namespace sluice::platform {

/// One line per hart if every hart is in a loop that changes nothing and that no interrupt can end. Empty if one hart
/// may not be in such a loop: it may wait for a word in memory, or a fault may have stopped it.
std::string describe_hang(Board&);

}  // namespace sluice::platform
