// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Finds harts whose traps get them nowhere: the handler traps, or returns to where the same traps follow.

#include <cstdint>
#include <string>
#include <vector>

#include "platform/board/board.h"

namespace sluice::platform {

class TrapLoops {
 public:
  explicit TrapLoops(Board&);
  /// A line for each hart whose last traps, at least `least` since the last look, repeat: the same few traps at the
  /// same instructions with the same registers. The line says which trap it is, where, and how the handler is reached.
  /// Traps that mostly return to the next instruction are calls of a service, and no loop. Empty when no hart loops.
  std::string look(std::uint64_t least);

 private:
  Board& board_;
  std::vector<std::uint64_t> seen_;  ///< traps of each hart by the last look, in the order of the clusters
};

}  // namespace sluice::platform
