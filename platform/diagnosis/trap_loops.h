// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Finds harts in a trap loop: the handler itself traps, or it returns to where the same traps follow.

#include <cstdint>
#include <string>
#include <vector>

#include "platform/board/board.h"

namespace sluice::platform {

class TrapLoops {
 public:
  explicit TrapLoops(Board&);
  /// A line for each hart that is in a trap loop: at least `least` traps since the last call repeat the same few traps
  /// at the same instructions with the same registers. The line names the trap, its place and the address of the
  /// handler. If most of the traps return to the next instruction, they are calls of a service and no loop. Empty when
  /// no hart loops.
  std::string look(std::uint64_t least);

 private:
  Board& board_;
  std::vector<std::uint64_t> seen_;  ///< traps of each hart at the last look(), in the order of the clusters
};

}  // namespace sluice::platform
