#include "platform/report/dma.h"

#include <cmath>

#include <fmt/format.h>

#include "platform/report/format.h"

namespace sluice::report {
namespace {

using Json = nlohmann::ordered_json;
using Run = accel::DmaRequester::Run;

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

void add_rate(Json& row, const std::string& name, const Run* run) {
  if (!run) return;
  const double rate = platform::transactions_per_second(*run);
  row[name + "_gbps"] = rounded(rate * run->size * 8 / 1e9, 1e-6);
  row[name + "_per_s"] = rounded(rate, 1);
  row[name + "_bottleneck"] = platform::bottleneck(*run);
}

/// Transactions of the row that failed.
std::uint64_t failed(const platform::DmaRow& r) {
  std::uint64_t n = 0;
  for (const Run* run : {r.read, r.write, r.write_read, r.read_stream, r.write_stream})
    if (run) n += run->failed;
  return n;
}

}  // namespace

Json dma_result(platform::Board& board) {
  Json rows = Json::array();
  const platform::DmaWorkloadParameters& w = *board.dma_workload();
  for (const platform::DmaRow& r : platform::dma_rows(*board.requesters().front())) {
    Json row = {{"bytes", r.bytes},
                {"cache", r.cold ? "cold" : "warm"},
                {"iommu", board.iommu() != nullptr},
                {"pattern", w.pattern == platform::Pattern::random ? "random" : "sequential"},
                {"interface", w.interface == platform::Interface::engine ? "engine" : "direct"},
                {"window_bytes", w.window.count()},
                {"offset_bytes", w.offset.count()}};
    add_latency(row, "read", r.read);
    add_latency(row, "write", r.write);
    add_latency(row, "wrrd", r.write_read);
    add_rate(row, "read", r.read_stream);
    add_rate(row, "write", r.write_stream);
    row["failed"] = failed(r);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string dma_failure(platform::Board& board) {
  const platform::DmaWorkloadParameters& w = *board.dma_workload();
  const std::size_t wanted = w.rows();
  std::size_t complete = 0;
  std::uint64_t wrong = 0;
  for (const platform::DmaRow& r : platform::dma_rows(*board.requesters().front())) {
    complete += r.complete();
    wrong += failed(r);
  }
  if (wrong != 0) return counted(wrong, "DMA transaction", "DMA transactions") + " failed";
  if (complete < wanted) return fmt::format("the firmware measured {} of {} sizes and cache states", complete, wanted);
  return {};
}

std::string dma_table(const Json& result) {
  const Json& rows = result.at("dma");
  if (rows.empty()) return "  nothing was measured\n";
  const Json& first = rows.front();
  const auto offset = first.value<std::uint64_t>("offset_bytes", 0);  // older results have none
  std::string text = fmt::format(
      "  IOMMU {}, {} slots of a {} KiB window, {}by the {}\n\n", first.at("iommu").get<bool>() ? "on" : "off",
      first.at("pattern").get<std::string>(), first.at("window_bytes").get<std::uint64_t>() / 1024,
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
  return text + "\n  read and write rates in Gb/s\n";
}

}  // namespace sluice::report
