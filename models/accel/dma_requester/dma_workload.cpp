// SPDX-License-Identifier: Apache-2.0
#include "models/accel/dma_requester/dma_workload.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "models/accel/dma_requester/dma_bench_codes.h"
#include "models/base/parameters/size_list.h"

namespace sluice::accel {

using Run = DmaRequester::Run;

void DmaWorkloadParameters::describe(base::Schema<DmaWorkloadParameters>& s) {
  using P = DmaWorkloadParameters;
  s.summary("DMA reads, writes and write-then-reads of host memory by a DMA requester");
  s.add("sizes", &P::sizes, "bytes of a transaction: 8..2048 doubles, 64..1024:64 steps, 8,64,2048 lists").setting();
  s.add("cache", &P::cache, "warm: the window is in the caches; cold: it is not; both: one after the other")
      .choices({{"warm", CacheState::warm}, {"cold", CacheState::cold}, {"both", CacheState::both}})
      .setting();
  s.add("pattern", &P::pattern, "how the window's slots follow each other")
      .choices({{"sequential", Pattern::sequential}, {"random", Pattern::random}})
      .setting();
  s.add("interface", &P::interface, "of the device: its DMA engine, or its direct command interface")
      .choices({{"engine", Interface::engine}, {"direct", Interface::direct}})
      .setting();
  s.add("window", &P::window, "host memory that the transactions fall in").range(64_B, 1_GiB).setting();
  s.add("offset", &P::offset, "from the start of a slot, which is aligned to 64 B, to that of its transaction")
      .range(0_B, base::Bytes(4095))
      .setting();
  s.add("transactions", &P::transactions, "that count, in each measurement")
      .range(1, 10'000'000)
      .unit("transactions")
      .setting();
  s.add("warmup", &P::warmup, "before them; of a stream, at least as many as are under way")
      .range(0, 10'000'000)
      .unit("transactions")
      .setting();
  s.add("outstanding", &P::outstanding, "transactions under way when the rate is measured")
      .range(1, DMAR_OUTSTANDING_MAX)
      .unit("transactions")
      .setting();
  s.rule("sizes", [](const P& p) -> std::string {
    try {
      const std::uint64_t slot = p.offset.count() + p.size_list().back();
      if (slot > p.window.count())
        return "must fit workload.window, which is " + base::to_text(p.window) +
               (p.offset.count() == 0 ? "" : ", behind workload.offset, which is " + base::to_text(p.offset));
    } catch (const base::ValueError& e) {
      return e.what();
    }
    return {};
  });
}

std::vector<std::uint32_t> DmaWorkloadParameters::size_list() const { return base::parse_sizes(sizes, kMostBytes); }

DmaWorkload::DmaWorkload(const DmaWorkloadParameters& p, const workload::Surroundings& board)
    : parameters_(p), caches_(board.caches), iommu_(board.iommu), iommu_page_(board.iommu_page) {
  for (const pcie::Endpoint* device : board.devices)
    if (!requester_) requester_ = dynamic_cast<const DmaRequester*>(device);
  if (!requester_)
    throw workload::NotForThisBoard("workload.model is dma, and the board has no DMA requester (kind accel)");
}

/// What firmware/apps/dma_bench.c looks for.
std::vector<part::FirmwareProperty> DmaWorkload::firmware_properties() const {
  std::vector<part::FirmwareProperty> list;
  list.push_back({"sluice,dma-sizes", parameters_.size_list()});
  const auto cell = [&list](const char* name, std::uint64_t value) {
    list.push_back({name, static_cast<std::uint32_t>(value)});
  };
  cell("sluice,dma-warm", parameters_.cache != CacheState::cold);
  cell("sluice,dma-cold", parameters_.cache != CacheState::warm);
  cell("sluice,dma-pattern", parameters_.pattern == Pattern::random ? DMAR_RANDOM : DMAR_SEQUENTIAL);
  cell("sluice,dma-interface", parameters_.interface == Interface::direct ? DMAR_DIRECT : DMAR_ENGINE);
  cell("sluice,dma-window", parameters_.window.count());
  cell("sluice,dma-offset", parameters_.offset.count());
  cell("sluice,dma-transactions", parameters_.transactions);
  cell("sluice,dma-warmup", parameters_.warmup);
  cell("sluice,dma-outstanding", parameters_.outstanding);
  cell("sluice,cache-bytes", caches_.count());
  cell("sluice,iommu-page", iommu_page_.count());
  return list;
}

std::optional<double> DmaWorkload::progress() const {
  const std::size_t all = parameters_.rows() * kDmaMeasurements;
  return static_cast<double>(requester_->runs().size()) / static_cast<double>(all);
}

std::vector<DmaRow> DmaWorkload::rows() const {
  std::vector<DmaRow> rows;
  for (const Run& run : requester_->runs()) {
    const bool cold = run.label & DMAR_LABEL_COLD;
    auto row =
        std::find_if(rows.begin(), rows.end(), [&](const DmaRow& r) { return r.bytes == run.size && r.cold == cold; });
    if (row == rows.end()) row = rows.insert(rows.end(), DmaRow{run.size, cold});
    const bool stream = run.label & DMAR_LABEL_STREAM;
    if (run.operation == DMAR_READ)
      (stream ? row->read_stream : row->read) = &run;
    else if (run.operation == DMAR_WRITE)
      (stream ? row->write_stream : row->write) = &run;
    else
      row->write_read = &run;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const DmaRow& a, const DmaRow& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.cold < b.cold;
  });
  return rows;
}

namespace {

constexpr const char* kRefusals[] = {"no error",
                                     "no such operation, pattern or interface",
                                     "its size is not 1 B to 64 KiB",
                                     "its slots are smaller than its transactions",
                                     "its window holds no slot",
                                     "its transactions under way are not 1 to 1024",
                                     "it has no transactions",
                                     "bus mastering is off"};
static_assert(std::size(kRefusals) == DMAR_ERROR_BUS_MASTER + 1);

using Devices = std::vector<pcie::Endpoint*>;

/// Says which requester refused the last command, and why. If none did, the firmware's read of the status had no
/// completion.
std::string describe_refused_command(const Devices& devices) {
  for (const pcie::Endpoint* device : devices) {
    const auto* r = dynamic_cast<const DmaRequester*>(device);
    if (r && r->error() != DMAR_ERROR_NONE && r->error() < std::size(kRefusals))
      return fmt::format("{} refused a command: {}", r->path(), kRefusals[r->error()]);
  }
  return "it read an error in the status of the DMA requester, which has refused nothing: a read that gets no answer "
         "returns all ones";
}

std::string describe_failed_transactions(const Devices& devices) {
  constexpr const char* kOperations[] = {"reads", "writes", "writes with a read of the same bytes"};
  for (const pcie::Endpoint* device : devices) {
    const auto* r = dynamic_cast<const DmaRequester*>(device);
    if (!r || r->runs().empty() || r->runs().back().failed == 0) continue;
    const Run& run = r->runs().back();
    return fmt::format("{} of {} {} of {} B by {} failed", run.failed, run.count, kOperations[run.operation], run.size,
                       r->path());
  }
  return "transactions of the DMA requester failed";
}

}  // namespace

std::string DmaWorkloadFactory::summary() const {
  return "DMA reads and writes of host memory by a DMA requester (sizes, cache, window)";
}

std::string DmaWorkloadFactory::explain_exit(std::string_view firmware, unsigned code, const Devices& devices) const {
  if (firmware != "dma-bench" && firmware != "dma-bench.elf") return {};
  switch (code) {
    case DMA_BENCH_NO_DEVICE:
      return "it found no DMA requester";
    case DMA_BENCH_NO_PLAN:
      return "the device tree asks for no measurements";
    case DMA_BENCH_REFUSED:
      return describe_refused_command(devices);
    case DMA_BENCH_FAILED:
      return describe_failed_transactions(devices);
    default:
      return {};
  }
}

}  // namespace sluice::accel
