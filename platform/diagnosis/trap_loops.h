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
  /// A line for each hart whose last traps, at least so many since the last look, are the same few over and over, at
  /// the same instructions with the same registers: which trap, where, and from where the handler is reached. Traps
  /// most of which return right behind their instruction are calls of a service, and no loop. Empty when all is well.
  std::string look(std::uint64_t least);

 private:
  Board& board_;
  std::vector<std::uint64_t> seen_;  ///< traps of each hart by the last look, in the order of the clusters
};

}  // namespace sluice::platform
