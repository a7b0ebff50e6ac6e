// SPDX-License-Identifier: Apache-2.0
// bench_pcie: TLPs through links per second of processor time. Loads: 64 B reads and 64 B writes with a few
// outstanding, as an RPC server's NIC has them, and a saturated stream of 512 B reads and 256 B writes.

#include <cstdio>
#include <ctime>
#include <string>

#include "tests/unit/pcie/pcie_bench.h"

int sc_main(int, char**) { return 0; }

namespace {

using namespace sluice;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

std::uint64_t hops(PcieBench& b) {
  std::uint64_t n = 0;
  for (pcie::LinkDirection* d : {&b.link.up(), &b.link.down()})
    for (const std::uint64_t c : d->statistics().tlps) n += c;
  return n;
}

/// Keeps `outstanding` pairs of one read and one write going, `count` in all.
struct Load {
  PcieBench& b;
  std::uint32_t read_bytes, write_bytes;
  unsigned left;
  std::vector<std::uint8_t> data = std::vector<std::uint8_t>(4096, 1);

  void next() {
    if (left == 0) return;
    --left;
    const std::uint64_t address = FlatMemory::kBase + left % 1024 * 4096;
    pcie::DmaOptions options;
    options.content = pcie::Content::kPayload;
    b.device.dma_write(address, {data.data(), write_bytes}, options);
    b.device.dma_read(address, read_bytes, options, [this](const pcie::DmaCompletion&) { next(); });
  }
};

void measure(const char* name, std::uint32_t read_bytes, std::uint32_t write_bytes, unsigned outstanding,
             unsigned count) {
  PcieBench b;
  b.enumerate();
  Load load{b, read_bytes, write_bytes, count};
  const std::uint64_t tlps = hops(b);
  const std::uint64_t entries = base::calendar().dispatched();
  const double start = processor_seconds();
  for (unsigned i = 0; i < outstanding; ++i) load.next();
  b.settle();
  const double seconds = processor_seconds() - start;
  const auto n = static_cast<double>(hops(b) - tlps);
  std::printf("{\"name\": \"pcie-%s\", \"value\": %.2f, \"unit\": \"M TLP/s\", \"entries_per_tlp\": %.2f}\n", name,
              n / seconds / 1e6, static_cast<double>(base::calendar().dispatched() - entries) / n);
}

}  // namespace

int main() {
  measure("small", 64, 64, 4, 1'000'000);
  measure("stream", 512, 256, 64, 300'000);
}
