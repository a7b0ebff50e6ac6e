// SPDX-License-Identifier: Apache-2.0
#include "platform/workload/traffic_workload.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/workload/figures.h"
#include "models/workload/stages.h"
#include "models/workload/steps.h"

namespace sluice::platform {
namespace {

using net::TrafficSource;
using workload::counted;

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
    if (clients_.size() == 1) c.source->on_phase([&run] { run.begin_phase(); });
    c.source->on_late_answer([this, &run] {
      if (std::all_of(clients_.begin(), clients_.end(), [](const Clients& other) { return other.source->all_made(); }))
        run.measure_to_here();
    });
    c.source->on_finished([this, &run] {
      if (++finished_ == clients_.size()) run.finish();
    });
    c.source->start();
  }
}

std::string TrafficWorkload::about_to_run() const {
  std::uint64_t calls = 0;
  for (const Clients& c : clients_)
    if (c.parameters->kind == TrafficSource::Kind::zero_loss) calls += c.source->most_calls_of_search();
  return workload::search_cost(calls, "calls", clients_.front().path + ".resolution");
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
  if (!workload::stages_sum_up(results().latency) || !workload::steps_sum_up(base::ledger()))
    return workload::kStagesWrong;
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
    all.merge(r);
    all.errors += r.errors;
    all.retransmissions += r.retransmissions;
    all.late_duplicates += r.late_duplicates;
    all.dropped_in_warmup += r.dropped_in_warmup;
  }
  return all;
}

std::string TrafficWorkload::phases() const {
  return clients_.size() == 1 && !clients_.front().source->phases().empty() ? "/phases" : "";
}

}  // namespace sluice::platform
