// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Notes which instruction rang the doorbell for which descriptors of a ring. Mistakes in a descriptor are reported
/// with that instruction.

#include <cstdint>
#include <vector>

#include "models/base/measure/mistakes.h"
#include "models/pcie/endpoint/endpoint.h"

namespace sluice::nic {

/// Descriptors are numbered from 0 since the ring was enabled. A driver rings the doorbell from one or two places in
/// its code, so there are one or two entries.
class DoorbellSites {
 public:
  /// A doorbell has posted the descriptors below `end` that were not posted yet.
  void post(std::uint64_t end, const base::Site& by) {
    if (!posted_.empty() && posted_.back().by == by)
      posted_.back().end = end;
    else
      posted_.push_back({end, by});
  }
  /// Forgets the descriptors below `end`: of() will not be called for them again.
  void retire(std::uint64_t end) {
    while (posted_.size() > 1 && posted_.front().end <= end) posted_.erase(posted_.begin());
  }
  base::Site of(std::uint64_t descriptor) const {
    for (const Posted& p : posted_)
      if (descriptor < p.end) return p.by;
    return {};
  }
  /// Options of a DMA transfer for one descriptor of a queue's ring of `length` descriptors. purpose: what the transfer
  /// is for; the list of mistakes shows it, followed by the descriptor's index and its queue.
  pcie::DmaOptions options(unsigned queue, std::uint64_t descriptor, std::uint32_t length, const char* purpose) const {
    pcie::DmaOptions options;
    options.by = of(descriptor);
    options.purpose = {purpose, static_cast<std::uint32_t>(descriptor % length), queue};
    return options;
  }

 private:
  struct Posted {
    std::uint64_t end;
    base::Site by;
  };
  std::vector<Posted> posted_;
};

}  // namespace sluice::nic
