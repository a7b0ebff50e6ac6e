// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/changes.h"

#include <algorithm>

namespace sluice::debug {
namespace {

/// A record: where, hart (4 bytes), slot (8 bytes), the change.
enum Where : std::uint8_t { kInEntry, kInFront, kWaiting };
constexpr std::size_t kRecordHeader = 1 + 4 + 8;

}  // namespace

Changes::Changes(base::Inputs& inputs, BoardTarget& target, std::function<void()> end)
    : inputs_(inputs), target_(target), end_(std::move(end)), planned_(target.threads()), observed_(target.threads()) {
  channel_ = inputs.open(
      kChannel,
      [this](base::Inputs::Bytes bytes) {
        Change change;
        if (bytes.size() >= kRecordHeader && Change::decode(bytes.subspan(kRecordHeader), change)) apply(change);
      },
      [this](base::Inputs::Bytes bytes) { return read_early(bytes); });
}

std::string Changes::make(const Change& change, const Place& place) {
  if (refused_ && change.kind != Change::Kind::end)
    return "a replay repeats what its log has: nothing else may be changed";
  std::vector<std::uint8_t> record;
  record.push_back(!place.core ? kInEntry : place.waiting ? kWaiting : kInFront);
  put_number(record, place.core ? target_.thread_of(*place.core) - 1 : 0, 4);
  put_number(record, place.core ? place.core->hart().state().slots : 0);
  const auto encoded = change.encoded();
  record.insert(record.end(), encoded.begin(), encoded.end());
  const bool done = apply(change);
  // A refused write to a device is logged too, because the device counts it.
  if (done || change.acts()) log(std::move(record), place);
  if (done) return {};
  return change.acts() ? "the device refuses the write" : "the register cannot be changed, or not to this value";
}

void Changes::log(std::vector<std::uint8_t> record, const Place& place) {
  if (!inputs_.logging()) return;
  if (!place.core) return inputs_.record(channel_, record);
  // The log is in order of time, and the hart may be ahead of entries that are still to come.
  unlogged_.push_back(std::move(record));
  base::calendar().at(std::max(base::now(), place.core->local_time()), base::kInputKey, [this] { log_next(); });
}

bool Changes::apply(const Change& change) {
  if (change.kind != Change::Kind::end) return target_.apply(change);
  ended_ = true;
  end_();
  return true;
}

std::size_t Changes::left() const {
  std::size_t all = 0;
  for (const auto& planned : planned_) all += planned.size();
  return all;
}

void Changes::log_next() {
  if (unlogged_.empty()) return;
  inputs_.record(channel_, unlogged_.front());
  unlogged_.pop_front();
}

void Changes::flush() {
  while (!unlogged_.empty()) log_next();
}

bool Changes::read_early(base::Inputs::Bytes bytes) {
  Change change;
  if (bytes.size() < kRecordHeader || bytes[0] > kWaiting || !Change::decode(bytes.subspan(kRecordHeader), change))
    throw base::ValueError("is no change by a debugger");
  if (change.kind != Change::Kind::end && !target_.has(change))
    throw base::ValueError("changes what this board has not");
  if (bytes[0] == kInEntry) return false;
  const std::uint64_t hart = number_of(bytes.subspan(1, 4));
  if (hart >= planned_.size()) throw base::ValueError("is of a hart that this board has not");
  planned_[hart].push_back({number_of(bytes.subspan(5, 8)), bytes[0] == kWaiting, std::move(change)});
  return true;
}

void Changes::start() {
  for (unsigned t = 1; t <= target_.threads(); ++t) {
    if (planned_[t - 1].empty() || observed_[t - 1]) continue;
    observed_[t - 1] = true;
    target_.core(t).observe(*this);
  }
}

/// Applies the hart's changes that are due. Returns the slot of its next change.
std::uint64_t Changes::apply_due(riscv::Core& core, bool waiting) {
  auto& planned = planned_[target_.thread_of(core) - 1];
  const std::uint64_t slots = core.hart().state().slots;
  while (!planned.empty() && planned.front().slots <= slots && planned.front().waiting == waiting) {
    const Change change = std::move(planned.front().change);
    planned.pop_front();
    apply(change);
  }
  return planned.empty() ? kFree : std::max(planned.front().slots, slots + 1);
}

std::uint64_t Changes::before(riscv::Core& core) { return apply_due(core, false); }

void Changes::after(riscv::Core& core, riscv::StopReason reason) {
  if (reason == riscv::StopReason::wait_for_interrupt || reason == riscv::StopReason::wait_on_reservation)
    apply_due(core, true);
}

}  // namespace sluice::debug
