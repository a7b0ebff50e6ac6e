#pragma once
/// Proves that a guest hangs: that no hart can ever do anything again but run in a circle.

#include <string>

#include "platform/board/board.h"

namespace sluice::platform {

/// A line for each hart when all harts are in loops that change nothing and that no interrupt can end; empty when one
/// is not, or may not be: what waits for a word in memory is no hang. A hart that a fault has stopped is none either.
std::string describe_hang(Board&);

}  // namespace sluice::platform
