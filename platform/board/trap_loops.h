#pragma once
/// Finds harts whose trap handler traps: they execute for ever and get nowhere.

#include <cstdint>
#include <string>
#include <vector>

#include "platform/board/board.h"

namespace sluice::platform {

class TrapLoops {
 public:
  explicit TrapLoops(Board&);
  /// A line for each hart that has taken a thousand traps or more since the last look and returned from none: which
  /// trap, where, and from where the handler is reached. Empty when all is well.
  std::string look();

 private:
  struct Seen {
    std::uint64_t traps = 0;
    std::uint64_t returns = 0;
  };
  Board& board_;
  std::vector<Seen> seen_;  ///< a hart each, in the order of the clusters
};

}  // namespace sluice::platform
