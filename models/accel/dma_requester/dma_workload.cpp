#include "platform/board/dma_workload.h"

#include <algorithm>

#include "platform/board/size_list.h"

namespace sluice::platform {

using Run = accel::DmaRequester::Run;

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

std::vector<std::uint32_t> DmaWorkloadParameters::size_list() const { return parse_sizes(sizes, kMostBytes); }

std::vector<DmaRow> dma_rows(const accel::DmaRequester& requester) {
  std::vector<DmaRow> rows;
  for (const Run& run : requester.runs()) {
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

double transactions_per_second(const Run& run) {
  return run.to > run.from ? static_cast<double>(run.completed) / (run.to - run.from).seconds() : 0.0;
}

const char* bottleneck(const Run& run) {
  constexpr double kAlways = 0.98;
  const double elapsed = static_cast<double>((run.to - run.from).femtoseconds());
  const auto full = [&](base::Time busy) { return static_cast<double>(busy.femtoseconds()) >= kAlways * elapsed; };
  if (full(std::max(run.up_busy, run.down_busy))) return run.up_busy > run.down_busy ? "up" : "down";
  return full(run.engine_busy) ? "engine" : "latency";
}

}  // namespace sluice::platform
