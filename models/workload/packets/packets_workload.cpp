// SPDX-License-Identifier: Apache-2.0
#include "models/workload/packets/packets_workload.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/systemc/model.h"
#include "models/net/frame.h"
#include "models/workload/figures.h"
#include "models/workload/stages.h"

namespace sluice::workload {
namespace {

/// The first wire with a NIC at its other end.
const Surroundings::FreeWire& wire_of(const Surroundings& board) {
  if (board.wires.empty())
    throw NotForThisBoard("workload.model is packets, and the board has no free Ethernet link to send them on");
  const auto at = std::find_if(board.wires.begin(), board.wires.end(),
                               [](const Surroundings::FreeWire& w) { return !w.address.empty(); });
  if (at == board.wires.end())
    throw NotForThisBoard("workload.model is packets, and no NIC is at a free Ethernet link of the board");
  return *at;
}

void check_wire(const PacketsParameters& p, const Surroundings::FreeWire& w) {
  const auto refuse = [](const std::string& why) { throw NotForThisBoard(why); };
  if (const base::BitRate line = w.wire->parameters().rate; p.rate > line)
    refuse(fmt::format("workload.rate is {}, more than that of {}; it must be at most {}", base::to_text(p.rate),
                       w.path, base::to_text(line)));
  if (net::parse_ipv4(p.host.address) == net::parse_ipv4(w.address))
    refuse(fmt::format("workload.host.address must not be {}, the address of the NIC at {}", p.host.address, w.path));
  if (!w.station.empty() && net::parse_mac(p.host.mac) == net::parse_mac(w.station))
    refuse(fmt::format("workload.host.mac must not be {}, the address of the NIC at {}", p.host.mac, w.path));
}

}  // namespace

PacketsWorkload::PacketsWorkload(const Parameters& p, const Surroundings& board)
    : parameters_(p), wire_(&wire_of(board)), completed_(p) {
  check_wire(p, *wire_);
  if (p.host.partner.empty()) completed_.host.partner = wire_->address;
  source_ = std::make_unique<PacketSource>("workload", completed_, board.seed, *wire_->wire, net::Wire::kA);
  source_->set_buffered(wire_->buffered_frames);
  source_->publish_statistics();
}

/// What firmware/apps/frame_echo.c looks for.
std::vector<part::FirmwareProperty> PacketsWorkload::firmware_properties() const {
  if (parameters_.addresses == PacketAddresses::swapped) return {};
  return {{"sluice,echo-keeps-addresses", std::uint32_t{1}}};
}

void PacketsWorkload::start(Run& run) {
  source_->on_measuring([&run] { run.begin_measuring(); });
  source_->on_trial([&run] { run.begin_phase(); });
  source_->on_late_return([&run] { run.measure_to_here(); });
  source_->on_finished([&run] { run.finish(); });
  source_->start();
}

std::string PacketsWorkload::about_to_run() const {
  return source_->searches() ? search_cost(source_->most_packets_of_search(), "packets", "workload.resolution") : "";
}

/// Packets to send; a search knows only those of the trials that it has begun.
std::uint64_t PacketsWorkload::total() const {
  return source_->searches() ? source_->total() : (parameters_.warmup + parameters_.requests) * source_->sizes();
}

/// Each size of a search counts as one part.
std::optional<double> PacketsWorkload::progress() const {
  if (source_->finished()) return 1.0;
  if (source_->searches()) return static_cast<double>(source_->found().size()) / static_cast<double>(source_->sizes());
  return static_cast<double>(ended()) / static_cast<double>(total());
}

std::string PacketsWorkload::stall_reason() const {
  return source_->running() ? "" : source_->partner_address() + " has not answered ARP";
}

std::string PacketsWorkload::stall_details() const {
  std::string text;
  if (const std::uint64_t bad = source_->host_statistics().bad_frames; bad > 0)
    text += fmt::format("workload has received {}, which it ignores; first: {}\n",
                        counted(bad, "bad frame", "bad frames"), source_->first_bad_frame());
  if (under_way() > 0)
    text += fmt::format("workload waits for {} at {}\n", counted(under_way(), "packet", "packets"), wire_->path);
  return text;
}

std::string PacketsWorkload::failure(bool finished) const {
  const PacketSource::Results& r = source_->results();
  if (!stages_sum_up(r.latency)) return kStagesWrong;
  if (finished && !source_->finished())
    return fmt::format("the firmware ended the run after {} of {} packets", ended(), total());
  if (const std::uint64_t n = r.wrong + r.reordered + r.repeated; n != 0)
    return fmt::format("{} wrong; first: {}", counted(n, "packet was", "packets were"), r.first_error);
  if (r.lost != 0)
    return fmt::format("{} lost: not back within {} (workload.timeout), and no component dropped {}",
                       counted(r.lost, "packet was", "packets were"), base::to_text(parameters_.timeout),
                       r.lost == 1 ? "it" : "them");
  if (finished && r.returned == 0)
    return fmt::format("no packet came back; reason of the first drops: {}", r.dropped.begin()->first);
  return {};
}

}  // namespace sluice::workload
