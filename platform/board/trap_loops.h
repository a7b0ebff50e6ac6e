#pragma once
/// Finds harts whose traps get them nowhere: the handler traps, or returns to the instruction that traps again.

#include <cstdint>
#include <string>
#include <vector>

#include "platform/board/board.h"

namespace sluice::platform {

class TrapLoops {
 public:
  explicit TrapLoops(Board&);
  /// A line for each hart that has taken at least so many traps since the last look and returned from none, or each
  /// time to the instruction that trapped again: which trap, where, and from where the handler is reached. Empty when
  /// all is well.
  std::string look(std::uint64_t least);

 private:
  struct Seen {
    std::uint64_t traps = 0;
    std::uint64_t returns = 0;
    std::uint64_t fruitless = 0;
  };
  Board& board_;
  std::vector<Seen> seen_;  ///< a hart each, in the order of the clusters
};

}  // namespace sluice::platform
