// SPDX-License-Identifier: Apache-2.0
#include "models/base/outside/pacer.h"

#include <algorithm>

namespace sluice::base {

void Pacer::watch(int file, Reader reader) {
  files_.push_back({file, POLLIN, 0});
  readers_.push_back(std::move(reader));
}

void Pacer::start() {
  start_ = std::chrono::steady_clock::now();
  start_simulated_ = now();
  calendar().at(now(), kInputKey, [this] { look(); });
}

/// The simulated time that this moment corresponds to.
Time Pacer::wall() const {
  using std::chrono::nanoseconds;
  const auto passed = std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now() - start_);
  return start_simulated_ + Time::ns(static_cast<std::uint64_t>(passed.count()));
}

void Pacer::look() {
  const Time quiet_until = scheduler_.next_activity();
  const Time latest = quiet_until > now() + grain_ ? quiet_until : now();
  sleep_until(latest);
  const Time at = std::clamp(wall(), now(), latest);
  if (at == now())
    deliver();
  else
    calendar().at(at, kInputKey, [this] { deliver(); });
}

/// Returns earlier when a file has something.
void Pacer::sleep_until(Time simulated) {
  const Time already = wall();
  const std::uint64_t ns = simulated > already ? (simulated - already).femtoseconds() / 1'000'000 : 0;
  const timespec timeout{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  // A signal ends the sleep early, which does no harm.
  if (ppoll(files_.data(), files_.size(), simulated == Time::max() ? nullptr : &timeout, nullptr) < 0)
    for (pollfd& f : files_) f.revents = 0;
}

void Pacer::deliver() {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    // poll() ignores negative descriptors.
    if (files_[i].revents != 0 && !readers_[i]()) files_[i].fd = -1;
  }
  calendar().after(grain_, kInputKey, [this] { look(); });
}

}  // namespace sluice::base
