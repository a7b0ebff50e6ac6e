// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Proves that a guest hangs: every hart is in a loop that it can never leave.

#include <string>

#include "platform/board/board.h"

namespace sluice::platform {

/// A line for each hart when all harts are in loops that change nothing and that no interrupt can end; else empty. A
/// hart that may not be in such a loop is no hang: it may wait for a word in memory, or a fault may have stopped it.
std::string describe_hang(Board&);

}  // namespace sluice::platform
