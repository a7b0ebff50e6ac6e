// SPDX-License-Identifier: Apache-2.0
#include "models/nic/pio/loopback_workload.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/parameters/size_list.h"
#include "models/nic/pio/pio_loopback_codes.h"
#include "models/workload/figures.h"

namespace sluice::nic {
namespace {

using workload::Json;

/// The element in the middle, or the mean of the two there.
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// What software takes for the way of its own stamps is half of a register's round trip.
double between(std::uint64_t later, std::uint64_t earlier, std::uint64_t round_trip) {
  return static_cast<double>(later) - static_cast<double>(earlier) - static_cast<double>(round_trip) / 2;
}

/// A stamp's name in the result, and what it counts from.
struct Stamp {
  const char* name;
  std::uint64_t PioSample::*at;
  std::uint64_t PioSample::*from;
};
constexpr Stamp kStamps[] = {
    {"after_tx_commit_ns", &PioSample::after_tx_commit, &PioSample::host_got_tx_buffer},
    {"after_dma_read_ns", &PioSample::after_dma_read, &PioSample::host_got_tx_buffer},
    {"exit_ns", &PioSample::exit, &PioSample::host_got_tx_buffer},
    {"after_rx_queue_ns", &PioSample::after_rx_queue, &PioSample::entry},
    {"after_dma_write_ns", &PioSample::after_dma_write, &PioSample::entry},
    {"read_start_ns", &PioSample::read_start, &PioSample::entry},
    {"after_read_ns", &PioSample::after_read, &PioSample::entry},
    {"host_read_complete_ns", &PioSample::host_read_complete, &PioSample::entry},
};

}  // namespace

void LoopbackParameters::describe(base::Schema<LoopbackParameters>& s) {
  using P = LoopbackParameters;
  s.summary("frames through a NIC whose MAC is in loopback, one at a time, stamped on their way");
  s.add("sizes", &P::sizes, "bytes of a frame without FCS: 64..9600:64 steps, 64,1500 lists, 64..4096 doubles")
      .setting();
  s.add("frames", &P::frames, "of each size").range(1, 10'000).unit("frames").setting();
  s.rule("sizes", [](const P& p) { return base::wrong_frame_sizes(p.sizes, kLeastBytes, kMostBytes); });
}

std::vector<std::uint32_t> LoopbackParameters::size_list() const { return base::parse_sizes(sizes, kMostBytes); }

LoopbackWorkload::LoopbackWorkload(const LoopbackParameters& p, const workload::Surroundings& board) : parameters_(p) {
  for (const auto& nic : board.nics)
    if (const auto* pio = dynamic_cast<const PioNic*>(nic.model); pio && !nic_) nic_ = &pio->core();
  if (!nic_)
    throw workload::NotForThisBoard(
        "workload.model is loopback, and the board has no PIO NIC (kind nic, "
        "model pio-coherent or pio-pcie)");
}

/// What firmware/apps/pio_loopback.c looks for.
std::vector<part::FirmwareProperty> LoopbackWorkload::firmware_properties() const {
  return {{"sluice,loopback-sizes", parameters_.size_list()},
          {"sluice,loopback-frames", parameters_.frames},
          {"sluice,loopback-nic", nic_->path()}};
}

std::uint64_t LoopbackWorkload::all() const {
  return std::uint64_t{parameters_.frames} * parameters_.size_list().size();
}

std::uint64_t LoopbackWorkload::ended() const { return nic_->samples().size(); }

std::optional<double> LoopbackWorkload::progress() const {
  return static_cast<double>(ended()) / static_cast<double>(all());
}

std::string LoopbackWorkload::failure(bool finished) const {
  if (!finished || ended() == all()) return {};
  return fmt::format("the firmware measured {} of {} frames", ended(), all());
}

workload::Comparable LoopbackWorkload::comparable(const Parameters& p) {
  return {fmt::format("{} of {} B each through the NIC's loopback", workload::counted(p.frames, "frame", "frames"),
                      p.sizes),
          {}};
}

std::vector<workload::ListPlot> LoopbackWorkload::plots() const {
  const workload::ListPlot::Shown size{"bytes", "size of a frame (B)"};
  return {{"loopback",
           "Transmit and receive through a loopback",
           "Medians of frames one at a time, half a register's round trip taken off.",
           "/loopback",
           size,
           {{"tx_ns", "transmit"}, {"rx_ns", "receive"}},
           "time (ns)",
           {}},
          {"loopback-transmit",
           "Where a transmitted frame is",
           "From when the host has the buffer: when the NIC is told of the frame, when it has read it, and when the "
           "frame leaves.",
           "/loopback",
           size,
           {{"after_tx_commit_ns", "told"}, {"after_dma_read_ns", "read"}, {"exit_ns", "leaves"}},
           "time (ns)",
           {}},
          {"loopback-receive",
           "Where a received frame is",
           "From when it enters the NIC: when it is queued, when it is in the buffer, when the host asks for it, when "
           "the NIC answers, and when the host has it.",
           "/loopback",
           size,
           {{"after_rx_queue_ns", "queued"},
            {"after_dma_write_ns", "in the buffer"},
            {"read_start_ns", "asked for"},
            {"after_read_ns", "answered"},
            {"host_read_complete_ns", "the host has it"}},
           "time (ns)",
           {}}};
}

void LoopbackWorkload::add_result(Json& result) const {
  std::map<std::uint32_t, std::vector<const PioSample*>> by_size;
  for (const PioSample& s : nic_->samples()) by_size[s.bytes].push_back(&s);
  const double cycle = static_cast<double>(nic_->clock().period().numerator()) /
                       static_cast<double>(nic_->clock().period().denominator());
  Json list = Json::array();
  for (const auto& [bytes, samples] : by_size) {
    const auto middle = [&, &of = samples](auto value) {
      std::vector<double> values;
      values.reserve(of.size());
      for (const PioSample* s : of) values.push_back(value(*s));
      return workload::nanoseconds(median(std::move(values)) * cycle);
    };
    Json row = {
        {"bytes", bytes},
        {"frames", samples.size()},
        {"tx_ns", middle([](const PioSample& s) { return between(s.exit, s.host_got_tx_buffer, s.round_trip); })},
        {"rx_ns", middle([](const PioSample& s) { return between(s.host_read_complete, s.entry, s.round_trip); })},
        {"register_round_trip_ns", middle([](const PioSample& s) { return static_cast<double>(s.round_trip); })}};
    for (const Stamp& stamp : kStamps)
      row[stamp.name] = middle([&](const PioSample& s) { return between(s.*stamp.at, s.*stamp.from, 0); });
    list.push_back(std::move(row));
  }
  result["loopback"] = std::move(list);
}

std::string LoopbackWorkload::report(const Json& result) const {
  std::string text = "   loopback\n\n";
  const Json& rows = result.at("loopback");
  if (rows.empty()) return text + "  nothing was measured\n\n";
  text += fmt::format("  medians over {}, half a register's round trip of {:.0f} ns taken off\n\n",
                      workload::counted(rows.front().at("frames").get<std::uint64_t>(), "frame", "frames"),
                      rows.front().at("register_round_trip_ns").get<double>());
  text += fmt::format("  {:>6} {:>12} {:>12}\n", "bytes", "transmit", "receive");
  for (const Json& r : rows)
    text += fmt::format("  {:>6} {:>9.0f} ns {:>9.0f} ns\n", r.at("bytes").get<unsigned>(), r.at("tx_ns").get<double>(),
                        r.at("rx_ns").get<double>());
  return text + "\n";
}

std::string LoopbackFactory::summary() const {
  return "frames through a NIC whose MAC is in loopback, stamped on their way (sizes, frames)";
}

std::string LoopbackFactory::explain_exit(std::string_view firmware, unsigned code,
                                          const std::vector<pcie::Endpoint*>&) const {
  if (firmware != "pio-loopback" && firmware != "pio-loopback.elf") return {};
  switch (code) {
    case PIO_LOOPBACK_NO_DEVICE:
      return "it found no PIO NIC";
    case PIO_LOOPBACK_NO_PLAN:
      return "the device tree asks for no sizes: the board's workload is not loopback (workload.model)";
    case PIO_LOOPBACK_WRONG:
      return "a frame came back with other bytes, or another length";
    case PIO_LOOPBACK_NO_FRAME:
      return "a receive was answered with no frame: its block time is over, or the completion timeout of PCIe";
    default:
      return {};
  }
}

}  // namespace sluice::nic
