// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The memory system behind a root complex, as DMA sees it. models/memory implements it. Plain C++.

#include <cstdint>

#include "models/base/memory/guest_ram.h"
#include "models/base/time/time.h"

namespace sluice::base {

class MemoryPath {
 public:
  virtual ~MemoryPath() = default;
  /// The RAM that holds [address, address + length); null when no single RAM does.
  virtual GuestRam* ram_at(std::uint64_t address, std::uint64_t length) = 0;
  /// Latency from a request's arrival at the memory system, at now(), until its data is there (read) or visible to
  /// every core (write). Reserves shared resources; the caller moves the bytes when the latency has passed. A read
  /// updates cache states.
  virtual Time read_latency(std::uint64_t address, std::uint64_t length) = 0;
  virtual Time write_latency(std::uint64_t address, std::uint64_t length) = 0;
  /// The bytes of a write become visible at now(). Caches lose their copies only now: a polling core that lost its copy
  /// earlier would fetch the old line again and then find the new bytes in it without a miss.
  virtual void written(std::uint64_t address, std::uint64_t length) { (void)address, (void)length; }
};

}  // namespace sluice::base
