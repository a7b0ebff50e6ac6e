#pragma once
/// What DMA goes to: the memory system behind a root complex. models/memory implements it. Plain C++.

#include <cstdint>

#include "models/base/guest_ram.h"
#include "models/base/time.h"

namespace sluice::base {

class MemoryPath {
 public:
  virtual ~MemoryPath() = default;
  /// The RAM that holds [address, address + length); null when no single RAM does.
  virtual GuestRam* ram_at(std::uint64_t address, std::uint64_t length) = 0;
  /// Latency from a request's arrival at the memory system, at now(), until its data is there (read) or visible to
  /// every core (write). Books shared resources and updates cache states; the caller moves the bytes at that time.
  virtual Time read_latency(std::uint64_t address, std::uint64_t length) = 0;
  virtual Time write_latency(std::uint64_t address, std::uint64_t length) = 0;
};

}  // namespace sluice::base
