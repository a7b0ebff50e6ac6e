// SPDX-License-Identifier: Apache-2.0
#include "platform/workload/traffic_workload.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/workload/figures.h"
#include "models/workload/stages.h"
#include "platform/workload/traffic_figures.h"

namespace sluice::platform {
namespace {

using base::Time;
using net::TrafficSource;
using workload::counted;
using workload::grouped;
using workload::Json;
using workload::rate_text;
using workload::time_text;

std::string requests_text(const Json& r) {
  std::string text = fmt::format("{}, {} lost, {} dropped", counted(r.at("sent").get<std::uint64_t>(), "call", "calls"),
                                 r.at("lost").get<std::uint64_t>(), workload::dropped_requests(r));
  if (const auto n = r.at("in_flight").get<std::uint64_t>()) text += fmt::format(", {} in flight", n);
  if (const auto n = r.at("errors").get<std::uint64_t>()) text += fmt::format(", {} WRONG", n);
  if (const auto n = r.at("retransmissions").get<std::uint64_t>()) text += fmt::format(", {} sent again", n);
  return text;
}

/// The rates of a sweep, or the trials of a search.
std::string phase_table(const Json& result) {
  if (!result.contains("phases")) return {};
  std::string text = fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}\n", "offered", "served", "sent",
                                 "unanswered", "mean", "p99", "max");
  for (const Json& p : result.at("phases")) {
    const Json& latency = p.at("latency_ns");
    const std::uint64_t sent = p.at("sent").get<std::uint64_t>();
    text +=
        fmt::format("  {:>11} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}\n", rate_text(p.at("rate_per_s").get<double>()),
                    rate_text(p.at("throughput_per_s").get<double>()), grouped(sent),
                    grouped(sent - p.at("completed").get<std::uint64_t>()), time_text(latency.at("mean").get<double>()),
                    time_text(latency.at("p99").get<double>()), time_text(latency.at("max").get<double>()));
  }
  if (result.contains("zero_loss_rate_per_s"))
    text +=
        fmt::format("\n  highest rate without loss: {}\n", rate_text(result.at("zero_loss_rate_per_s").get<double>()));
  return text + "\n";
}

bool is_waiting(const TrafficSource& s) { return !s.running() || s.under_way() > 0; }

/// Whether the workload looks for drops, so that a drop is no failure.
bool overloads_on_purpose(const TrafficSource::Parameters& p) {
  return p.kind == TrafficSource::Kind::load_sweep || p.kind == TrafficSource::Kind::zero_loss;
}

/// Says how many requests got no answer, although no component said that it dropped them.
std::string lost_sentence(const Clients& c) {
  const std::uint32_t retries = c.parameters->retries;
  const std::string sent = retries == 0 ? "once" : fmt::format("{} times", retries + 1);
  return fmt::format("{} lost: no reply within {} ({}.timeout), sent {} ({}.retries = {})",
                     counted(c.source->results().lost, "request was", "requests were"),
                     base::to_text(c.parameters->timeout), c.path, sent, c.path, retries);
}

/// The clients of a board that has several.
std::string client_table(const Json& result) {
  if (!result.contains("clients")) return {};
  std::string text = fmt::format("  {:<18} {:<12} {:>11} {:>11} {:>11} {:>11} {:>11}\n", "clients", "at", "calls",
                                 "unanswered", "mean", "p99", "served");
  for (const auto& [path, c] : result.at("clients").items()) {
    const Json& r = c.at("requests");
    const std::uint64_t sent = r.at("sent").get<std::uint64_t>();
    text += fmt::format(
        "  {:<18} {:<12} {:>11} {:>11} {:>11} {:>11} {:>11}\n", path, c.at("wire").get<std::string>(), grouped(sent),
        grouped(sent - r.at("completed").get<std::uint64_t>()), time_text(c.at("latency_ns").at("mean").get<double>()),
        time_text(c.at("latency_ns").at("p99").get<double>()), rate_text(c.at("throughput_per_s").get<double>()));
  }
  return text + "\n";
}

}  // namespace

TrafficWorkload::TrafficWorkload(std::vector<Clients> clients, bool allow_drops)
    : clients_(std::move(clients)), allow_drops_(allow_drops) {}

/// Measuring begins with the first counted call of any client. A later beginning would discard the latencies counted by
/// then.
void TrafficWorkload::start(workload::Run& run) {
  for (Clients& c : clients_) {
    c.source->on_measuring([this, &run] {
      if (!std::exchange(measuring_, true)) run.begin_measuring();
    });
    c.source->on_finished([this, &run] {
      if (++finished_ == clients_.size()) run.finish();
    });
    c.source->start();
  }
}

std::uint64_t TrafficWorkload::ended() const {
  std::uint64_t calls = 0;
  for (const Clients& c : clients_) calls += c.source->settled();
  return calls;
}

std::uint64_t TrafficWorkload::under_way() const {
  std::uint64_t calls = 0;
  for (const Clients& c : clients_) calls += c.source->under_way();
  return calls;
}

bool TrafficWorkload::waits() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const Clients& c) { return is_waiting(*c.source); });
}

std::optional<double> TrafficWorkload::progress() const {
  std::uint64_t total = 0;
  for (const Clients& c : clients_) total += c.source->total();
  if (total == 0) return {};
  return static_cast<double>(ended()) / static_cast<double>(total);
}

std::string TrafficWorkload::stall_reason() const {
  for (const Clients& c : clients_)
    if (!c.source->running()) return c.source->partner_address() + " has not answered ARP";
  return {};
}

std::string TrafficWorkload::stall_details() const {
  std::string text;
  for (const Clients& c : clients_) {
    // Frames that the client's checks refused: if one of them was the reply to a call, that call has no reply.
    if (const std::uint64_t bad = c.source->host_statistics().bad_frames; bad > 0)
      text += fmt::format("{} has received {}, which it ignores; first: {}\n", c.path,
                          bad == 1 ? "1 bad frame" : fmt::format("{} bad frames", bad), c.source->first_bad_frame());
    if (const std::uint64_t calls = c.source->under_way(); calls > 0)
      text += fmt::format("{} waits for {}: {} without a reply\n", c.path, c.source->partner_address(),
                          calls == 1 ? "1 call" : fmt::format("{} calls", calls));
  }
  return text;
}

std::string TrafficWorkload::failure_of(const Clients& c, bool finished) const {
  const TrafficSource::Results& r = c.source->results();
  if (finished && !c.source->finished())
    return fmt::format("the firmware ended the run after {} of {} calls", c.source->settled(), c.source->total());
  if (r.errors != 0)
    return fmt::format("{} wrong; first: {}", counted(r.errors, "reply was", "replies were"), r.first_error);
  if (r.lost != 0) return lost_sentence(c);
  if (r.dropped_sum() != 0 && !allow_drops_ && !overloads_on_purpose(*c.parameters))
    return fmt::format("{} dropped; first reason: {}", counted(r.dropped_sum(), "request was", "requests were"),
                       r.dropped.begin()->first);
  return {};
}

std::string TrafficWorkload::failure(bool finished) const {
  if (!workload::stages_sum_up(results().latency)) return workload::kStagesWrong;
  for (const Clients& c : clients_) {
    const std::string sentence = failure_of(c, finished);
    if (!sentence.empty()) return clients_.size() == 1 ? sentence : c.path + ": " + sentence;
  }
  return {};
}

/// Results of all clients together.
TrafficSource::Results TrafficWorkload::results() const {
  TrafficSource::Results all = clients_.front().source->results();
  for (std::size_t i = 1; i < clients_.size(); ++i) {
    const TrafficSource::Results& r = clients_[i].source->results();
    // Clients that have sent nothing have no first bit.
    if (r.sent > 0) all.first_bit = all.sent > 0 ? std::min(all.first_bit, r.first_bit) : r.first_bit;
    all.sent += r.sent;
    all.completed += r.completed;
    all.errors += r.errors;
    for (const auto& [reason, n] : r.dropped) all.dropped[reason] += n;
    all.lost += r.lost;
    all.retransmissions += r.retransmissions;
    all.late_duplicates += r.late_duplicates;
    all.latency.merge(r.latency);
    all.last_bit = std::max(all.last_bit, r.last_bit);
  }
  return all;
}

std::string TrafficWorkload::report(const Json& result) const {
  std::string text = fmt::format("   {}   {}\n\n", traffic_text(result), requests_text(result.at("requests")));
  text += phase_table(result);
  if (result.at("requests").at("completed").get<std::uint64_t>() == 0)
    return text + "  no call was completed: there is no latency\n\n";
  text += workload::latency_text(result.at("latency_ns"));
  text += fmt::format("  throughput            {}\n\n", rate_text(result.at("throughput_per_s").get<double>()));
  return text + client_table(result) + workload::stage_table(result) + "\n";
}

}  // namespace sluice::platform
