// SPDX-License-Identifier: Apache-2.0
/// What the packets workload measured, in the result file and as a table.

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/workload/figures.h"
#include "models/workload/packets/packets_workload.h"
#include "models/workload/stages.h"

namespace sluice::workload {
namespace {

/// Rounded to 1 / parts, so that it is the same on every host.
double rounded(double value, double parts = 1) { return std::round(value * parts) / parts; }

/// Packets of this size per second as a rate on the wire, with preamble and gap.
double gbps(double per_second, std::uint32_t size) {
  return rounded(per_second * static_cast<double>(line_octets(size)) * 8 / 1e9, 1e6);
}

double gbps(base::BitRate r) { return static_cast<double>(r.bits_per_second()) / 1e9; }

const char* name_of(PacketFormat f) { return f == PacketFormat::l2 ? "l2" : "udp"; }

const char* name_of(PacketLoad l) {
  switch (l) {
    case PacketLoad::saturate:
      return "saturate";
    case PacketLoad::constant:
      return "constant";
    case PacketLoad::poisson:
      return "poisson";
    default:
      return "zero-loss";
  }
}

Json trial(const PacketSource::Trial& t) {
  return {{"frame_bytes", t.size},
          {"rate_gbps", gbps(t.rate)},
          {"offered_per_s", rounded(t.offered_per_s())},
          {"offered_gbps", gbps(t.offered_per_s(), t.size)},
          {"accepted_per_s", rounded(t.accepted_per_s())},
          {"accepted_gbps", gbps(t.accepted_per_s(), t.size)},
          {"returned_per_s", rounded(t.returned_per_s())},
          {"returned_gbps", gbps(t.returned_per_s(), t.size)},
          {"sent", t.sent},
          {"returned", t.returned},
          {"dropped", t.dropped},
          {"lost", t.lost},
          {"latency_ns", latency(t.latency)}};
}

Json zero_loss(const std::vector<PacketSource::Found>& found, base::BitRate highest) {
  Json list = Json::array();
  for (const PacketSource::Found& f : found) {
    const double per_second =
        static_cast<double>(f.rate.bits_per_second()) / static_cast<double>(line_octets(f.size) * 8);
    list.push_back({{"frame_bytes", f.size},
                    {"gbps", gbps(f.rate)},
                    {"per_s", rounded(per_second)},
                    {"highest_gbps", gbps(highest)}});
  }
  return list;
}

std::string fate_text(const Json& requests, const Json& packets) {
  std::string text =
      fmt::format("{}, {} lost, {} dropped", counted(requests.at("sent").get<std::uint64_t>(), "packet", "packets"),
                  grouped(requests.at("lost").get<std::uint64_t>()), grouped(dropped_requests(requests)));
  if (const auto n = requests.at("in_flight").get<std::uint64_t>()) text += fmt::format(", {} in flight", grouped(n));
  for (const auto& [key, shown] : {std::pair{"wrong", "WRONG"}, {"reordered", "OUT OF ORDER"}, {"repeated", "TWICE"}})
    if (const auto n = packets.at(key).get<std::uint64_t>()) text += fmt::format(", {} {}", grouped(n), shown);
  return text;
}

std::string trial_table(const Json& packets) {
  std::string text = fmt::format("  {:>6} {:>11} {:>10} {:>11} {:>10} {:>11} {:>11} {:>10} {:>10}   {}\n", "bytes",
                                 "offered", "Gb/s", "returned", "Gb/s", "sent", "dropped", "mean", "p99", "busiest");
  for (const Json& t : packets.at("trials")) {
    const auto real = [&](const char* key) { return t.at(key).get<double>(); };
    const auto count = [&](const char* key) { return grouped(t.at(key).get<std::uint64_t>()); };
    text += fmt::format("  {:>6} {:>11} {:>10.3f} {:>11} {:>10.3f} {:>11} {:>11} {:>10} {:>10}   {}\n",
                        t.at("frame_bytes").get<std::uint32_t>(), rate_text(real("offered_per_s")),
                        real("offered_gbps"), rate_text(real("returned_per_s")), real("returned_gbps"), count("sent"),
                        count("dropped"), time_text(t.at("latency_ns").at("mean").get<double>()),
                        time_text(t.at("latency_ns").at("p99").get<double>()), busiest_text(t));
  }
  if (!packets.contains("zero_loss")) return text;
  text += "\n";
  for (const Json& z : packets.at("zero_loss"))
    text +=
        fmt::format("  highest rate of {} B without loss: {:.3f} Gb/s, {}\n", z.at("frame_bytes").get<std::uint32_t>(),
                    z.at("gbps").get<double>(), rate_text(z.at("per_s").get<double>())) +
        (z.at("gbps") == z.at("highest_gbps")
             ? "  the search has ended at the highest rate that it tried; the board may "
               "do more\n"
             : "");
  return text;
}

std::string reasons_text(const Json& dropped) {
  std::string text;
  for (const auto& [reason, n] : dropped.items())
    text += fmt::format("  dropped, {}: {}\n", reason, grouped(n.get<std::uint64_t>()));
  return text.empty() ? text : text + "\n";
}

}  // namespace

std::string PacketsWorkload::title(const Parameters& p) {
  std::string text = fmt::format("packets of {} B, {}, {}", p.sizes, name_of(p.format), name_of(p.load));
  if (p.rate > base::BitRate(0)) text += fmt::format(", {}", base::to_text(p.rate));
  return text;
}

std::vector<ListPlot> PacketsWorkload::plots() const {
  return {{"packets",
           "Packets that come back",
           "As they were due, and as they came back.",
           "/packets/trials",
           {"frame_bytes", "size of a frame (B)"},
           {{"offered_per_s", "offered"}, {"returned_per_s", "returned"}},
           "packets (1/s)",
           {}}};
}

void PacketsWorkload::add_result(Json& result) const {
  const PacketSource::Results& r = source_->results();
  Json dropped = Json::object();
  for (const auto& [reason, n] : r.dropped) dropped[reason] = n;
  result["requests"] = {{"sent", r.sent},       {"completed", r.returned},
                        {"dropped", dropped},   {"in_flight", r.in_flight()},
                        {"lost", r.lost},       {"errors", r.wrong + r.reordered},
                        {"retransmissions", 0}, {"late_duplicates", r.late + r.repeated}};
  result["latency_ns"] = latency_with_histogram(r.latency);
  result["throughput_per_s"] = share(static_cast<double>(r.returned),
                                     r.last_returned > r.first_sent ? (r.last_returned - r.first_sent).seconds() : 0.0);
  Json& packets = result["packets"] = {{"format", name_of(parameters_.format)},
                                       {"load", name_of(parameters_.load)},
                                       {"wrong", r.wrong},
                                       {"reordered", r.reordered},
                                       {"repeated", r.repeated},
                                       {"late", r.late},
                                       {"trials", Json::array()}};
  for (const PacketSource::Trial& t : source_->trials()) packets["trials"].push_back(trial(t));
  if (source_->searches()) packets["zero_loss"] = zero_loss(source_->found(), source_->highest_rate());
  add_stages(result);
}

std::string PacketsWorkload::report(const Json& result) const {
  const Json& packets = result.at("packets");
  std::string text = fmt::format("   {}   {}\n\n", title(parameters_), fate_text(result.at("requests"), packets)) +
                     trial_table(packets) + "\n" + reasons_text(result.at("requests").at("dropped"));
  if (source_->results().returned == 0) return text + "  no packet came back: there is no latency\n\n";
  return text + latency_text(result.at("latency_ns")) + "\n" + stage_table(result) + "\n";
}

}  // namespace sluice::workload
