#pragma once
/// Whose doorbell gave the NIC which descriptors of a ring.

#include <cstdint>
#include <vector>

#include "models/base/measure/mistakes.h"
#include "models/pcie/endpoint.h"

namespace sluice::nic {

/// Descriptors are numbered as in the ring's queue, from 0 since it was enabled. A driver rings from one or two places,
/// so there are one or two entries.
class Givers {
 public:
  /// All below `end` that nobody has given before.
  void give(std::uint64_t end, const base::Site& by) {
    if (!given_.empty() && given_.back().by == by)
      given_.back().end = end;
    else
      given_.push_back({end, by});
  }
  /// Descriptors below `end` will not be asked for any more.
  void used(std::uint64_t end) {
    while (given_.size() > 1 && given_.front().end <= end) given_.erase(given_.begin());
  }
  base::Site of(std::uint64_t descriptor) const {
    for (const Given& g : given_)
      if (descriptor < g.end) return g.by;
    return {};
  }
  /// Options of a DMA transfer for one descriptor of a queue's ring of `length` descriptors. purpose: what the transfer
  /// is for, as a list of mistakes says it, with the descriptor's index and its queue after it.
  pcie::DmaOptions options(unsigned queue, std::uint64_t descriptor, std::uint32_t length, const char* purpose) const {
    pcie::DmaOptions options;
    options.by = of(descriptor);
    options.purpose = {purpose, static_cast<std::uint32_t>(descriptor % length), queue};
    return options;
  }

 private:
  struct Given {
    std::uint64_t end;
    base::Site by;
  };
  std::vector<Given> given_;
};

}  // namespace sluice::nic
