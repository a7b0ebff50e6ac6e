// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Reads and writes of a device for the tests of its DMA engine.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/unit/pcie/pcie_bench.h"

namespace sluice::pcie {

constexpr std::uint64_t kRam = FlatMemory::kBase;

inline std::vector<std::uint8_t> pattern(std::size_t n, unsigned seed = 1) {
  std::vector<std::uint8_t> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<std::uint8_t>(i * 7 + seed + i / 251);
  return v;
}

/// What a read ended with.
struct Outcome {
  bool done = false;
  DmaStatus status = DmaStatus::kOk;
  std::vector<std::uint8_t> data;
  base::Time issued, at;
};

inline DmaOptions reading(bool tags = false) {
  DmaOptions o;
  o.want_tags = tags;
  return o;
}

inline void read(PcieBench& b, std::uint64_t address, std::uint32_t length, Outcome& o,
                 const DmaOptions& options = {}) {
  b.device.dma_read(address, length, options, [&o](const DmaCompletion& c) {
    o = {true, c.status, {c.data.begin(), c.data.end()}, c.issued, base::now()};
  });
}

inline base::Ledger::Component host() { return base::ledger().component("host"); }
inline base::RequestId open_request() { return base::ledger().open(SLUICE_STAGE_nic_queue, host(), base::now()); }

}  // namespace sluice::pcie
