// SPDX-License-Identifier: Apache-2.0
/// What the DMA workload measured, in the result file and as a table.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/accel/dma_requester/dma_workload.h"
#include "models/workload/figures.h"

namespace sluice::accel {
namespace {

using workload::Json;
using Run = DmaRequester::Run;

double nanoseconds(std::uint64_t fs) { return static_cast<double>(fs) / 1e6; }

/// Rounded so that it is the same on every host.
double rounded(double value, double unit) { return std::round(value / unit) * unit; }

void add_latency(Json& row, const std::string& name, const Run* run) {
  if (!run || run->latency.count() == 0) return;
  const base::Histogram& h = run->latency;
  const auto add = [&](const char* what, double ns) { row[name + "_" + what + "_ns"] = ns; };
  add("p50", nanoseconds(h.p50()));
  add("p99", nanoseconds(h.p99()));
  add("p999", nanoseconds(h.p999()));
  add("min", nanoseconds(h.min()));
  add("mean", std::round(static_cast<double>(h.sum()) / static_cast<double>(h.count())) / 1e6);
  add("max", nanoseconds(h.max()));
}

/// Counted transactions that succeeded, per second.
double transactions_per_second(const Run& run) {
  return run.to > run.from ? static_cast<double>(run.completed) / (run.to - run.from).seconds() : 0.0;
}

/// What held a stream back: "up" or "down", a direction of the link that was busy all the time; "engine"; or "latency":
/// the transactions under way were too few.
const char* bottleneck(const Run& run) {
  constexpr double kAlways = 0.98;
  const double elapsed = static_cast<double>((run.to - run.from).femtoseconds());
  const auto full = [&](base::Time busy) { return static_cast<double>(busy.femtoseconds()) >= kAlways * elapsed; };
  if (full(std::max(run.up_busy, run.down_busy))) return run.up_busy > run.down_busy ? "up" : "down";
  return full(run.engine_busy) ? "engine" : "latency";
}

void add_rate(Json& row, const std::string& name, const Run* run) {
  if (!run) return;
  const double rate = transactions_per_second(*run);
  row[name + "_gbps"] = rounded(rate * run->size * 8 / 1e9, 1e-6);
  row[name + "_per_s"] = rounded(rate, 1);
  row[name + "_bottleneck"] = bottleneck(*run);
}

/// Transactions of the row that failed.
std::uint64_t failed(const DmaRow& r) {
  std::uint64_t n = 0;
  for (const Run* run : {r.read, r.write, r.write_read, r.read_stream, r.write_stream})
    if (run) n += run->failed;
  return n;
}

}  // namespace

std::vector<workload::ListPlot> DmaWorkload::plots() const {
  const workload::ListPlot::Shown size{"bytes", "size of a transaction (B)"};
  return {{"dma-latency",
           "Latency of DMA transactions",
           "One transaction at a time.",
           "/dma",
           size,
           {{"read_p50_ns", "read p50"}, {"write_p50_ns", "write p50"}, {"wrrd_p50_ns", "write and read p50"}},
           "latency p50 (ns)",
           "cache"},
          {"dma-throughput",
           "Throughput of DMA transactions",
           "Many transactions under way.",
           "/dma",
           size,
           {{"read_gbps", "read"}, {"write_gbps", "write"}},
           "throughput (Gb/s)",
           "cache"}};
}

void DmaWorkload::add_result(Json& result) const {
  Json list = Json::array();
  const DmaWorkloadParameters& w = parameters_;
  for (const DmaRow& r : rows()) {
    Json row = {{"bytes", r.bytes},
                {"cache", r.cold ? "cold" : "warm"},
                {"iommu", iommu_},
                {"pattern", w.pattern == Pattern::random ? "random" : "sequential"},
                {"interface", w.interface == Interface::engine ? "engine" : "direct"},
                {"window_bytes", w.window.count()},
                {"offset_bytes", w.offset.count()}};
    add_latency(row, "read", r.read);
    add_latency(row, "write", r.write);
    add_latency(row, "wrrd", r.write_read);
    add_rate(row, "read", r.read_stream);
    add_rate(row, "write", r.write_stream);
    row["failed"] = failed(r);
    list.push_back(std::move(row));
  }
  result["dma"] = std::move(list);
}

std::string DmaWorkload::failure(bool finished) const {
  if (!finished) return {};
  const std::size_t wanted = parameters_.rows();
  std::size_t complete = 0;
  std::uint64_t wrong = 0;
  for (const DmaRow& r : rows()) {
    complete += r.complete();
    wrong += failed(r);
  }
  if (wrong != 0) return workload::counted(wrong, "DMA transaction", "DMA transactions") + " failed";
  if (complete < wanted) return fmt::format("the firmware measured {} of {} sizes and cache states", complete, wanted);
  return {};
}

std::string DmaWorkload::report(const Json& result) const {
  std::string text = "   DMA\n\n";
  const Json& rows = result.at("dma");
  if (rows.empty()) return text + "  nothing was measured\n\n";
  const Json& first = rows.front();
  const auto offset = first.at("offset_bytes").get<std::uint64_t>();
  text += fmt::format("  IOMMU {}, {} slots of a {} KiB window, {}by the {}\n\n",
                      first.at("iommu").get<bool>() ? "on" : "off", first.at("pattern").get<std::string>(),
                      first.at("window_bytes").get<std::uint64_t>() / 1024,
                      offset == 0 ? "" : fmt::format("at offset {} B, ", offset),
                      first.at("interface").get<std::string>() == "engine" ? "DMA engine" : "direct command interface");
  text += fmt::format("  {:>6}  {:<5} {:>9} {:>9} {:>11} {:>9}  {:<8} {:>9}  {:<8}\n", "bytes", "cache", "read p50",
                      "write p50", "write, read", "read", "held by", "write", "held by");
  for (const Json& r : rows) {
    const auto time = [&](const char* key) {
      return r.contains(key) ? fmt::format("{:.1f} ns", r[key].get<double>()) : "-";
    };
    const auto rate = [&](const char* key) {
      return r.contains(key) ? fmt::format("{:.2f}", r[key].get<double>()) : "-";
    };
    text += fmt::format("  {:>6}  {:<5} {:>9} {:>9} {:>11} {:>9}  {:<8} {:>9}  {:<8}\n", r.at("bytes").get<unsigned>(),
                        r.at("cache").get<std::string>(), time("read_p50_ns"), time("write_p50_ns"),
                        time("wrrd_p50_ns"), rate("read_gbps"), r.value("read_bottleneck", "-"), rate("write_gbps"),
                        r.value("write_bottleneck", "-"));
  }
  return text + "\n  read and write rates in Gb/s\n\n";
}

}  // namespace sluice::accel
