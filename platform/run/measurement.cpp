// SPDX-License-Identifier: Apache-2.0
#include "platform/run/measurement.h"

#include <algorithm>

namespace sluice::platform {

using base::Time;

namespace {
constexpr base::ComponentKey kLookKey = base::path_key("platform.measurement");
constexpr Time kFirstInterval = Time::us(1);
constexpr std::size_t kMostSamples = 128;
}  // namespace

Reading Measurement::read(Time at) {
  Reading reading{base::statistics().read(at), base::ledger().totals(), {}, {}};
  for (Cluster& c : board_.clusters()) {
    for (auto& core : c.cores) {
      reading.accounts.push_back(core->accounts(at));
      reading.idle.push_back(core->idle_use(at));
    }
  }
  return reading;
}

void Measurement::begin() {
  base::statistics().start_measuring(base::now());
  whole_.from = read(base::now());
  phases_.clear();
  ended_early_ = false;
  samples_.clear();
  interval_ = kFirstInterval;
  base::calendar().cancel(look_);
  look();
}

void Measurement::begin_phase() {
  Reading here = read(base::now());
  if (!phases_.empty() && !ended_early_) phases_.back().to = here;
  phases_.emplace_back().from = std::move(here);
  ended_early_ = false;
}

void Measurement::to_here() {
  whole_.to = read(base::now());
  ended_early_ = true;
  if (!phases_.empty()) phases_.back().to = whole_.to;
}

void Measurement::end(Time end) {
  if (ended_early_) return;
  whole_.to = read(end);
  if (!phases_.empty()) phases_.back().to = whole_.to;
}

/// Notes how busy each resource has been so far. When there are many samples, every second one goes, so that a run of
/// any length has some dozens of them.
void Measurement::look() {
  std::vector<base::Resource> now;
  base::statistics().read_resources(now);
  Sample sample{base::now(), {}};
  for (const base::Resource& r : now) sample.busy.push_back(r.busy_fs);
  if (samples_.empty()) resources_ = std::move(now);
  samples_.push_back(std::move(sample));
  if (samples_.size() == kMostSamples) {
    for (std::size_t i = 1; 2 * i < samples_.size(); ++i) samples_[i] = std::move(samples_[2 * i]);
    samples_.resize(kMostSamples / 2);
    interval_ = interval_ * 2;
  }
  look_ = base::calendar().after(interval_, kLookKey, [this] { look(); });
}

/// The first of the samples in the window that begins a busy interval, and from which on the resource was busy on the
/// whole. The last interval, in which a run comes to its end, may be less busy by itself.
Time Measurement::busy_since(std::size_t resource, const Window& w, std::uint64_t at_end) const {
  const auto share = [resource](const Sample& from, Time to, std::uint64_t busy_then) {
    return static_cast<double>(busy_then - from.busy[resource]) / static_cast<double>((to - from.at).femtoseconds());
  };
  for (std::size_t i = 0; i + 1 < samples_.size(); ++i) {
    const Sample &from = samples_[i], &next = samples_[i + 1];
    if (from.at < w.from.at() || next.at > w.to.at()) continue;
    if (share(from, next.at, next.busy[resource]) >= kBusy && share(from, w.to.at(), at_end) >= kBusy) return from.at;
  }
  return w.from.at();
}

std::vector<Use> Measurement::uses(const Window& w) const {
  const double length = static_cast<double>(std::max(w.length(), Time::fs(1)).femtoseconds());
  const std::vector<std::uint64_t> from = base::statistics().resources_in(w.from.statistics);
  const std::vector<std::uint64_t> to = base::statistics().resources_in(w.to.statistics);
  std::vector<Use> uses;
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    const double busy = std::min(1.0, static_cast<double>(to[i] - std::min(from[i], to[i])) / length);
    const Time since = busy >= kBusy ? busy_since(i, w, to[i]) : w.to.at();
    uses.push_back({resources_[i].group, resources_[i].title, busy, resources_[i].waits, since});
  }
  // What waits for another that is busy all the time is as busy as that.
  constexpr double kAsBusy = 0.005;
  const auto rank = [](const Use& u) { return u.busy - (u.waits ? kAsBusy : 0); };
  std::stable_sort(uses.begin(), uses.end(), [&](const Use& a, const Use& b) { return rank(a) > rank(b); });
  return uses;
}

}  // namespace sluice::platform
