// SPDX-License-Identifier: Apache-2.0
// A state of the window as a list of numbers, for the memo. Cycles in it count from that of the next dispatch. What can
// no longer matter is left out: cycles that have passed, addresses, and which of several ways led here.

#include <algorithm>
#include <bit>

#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {
namespace {

std::uint64_t beyond(std::uint64_t cycle, std::uint64_t now) { return cycle > now ? cycle - now : 0; }

}  // namespace

class InstructionWindow::Writer {
 public:
  explicit Writer(std::vector<std::uint16_t>& to) : begin_(to.data()), to_(begin_) {}
  void put(std::uint64_t number) {
    largest_ = std::max(largest_, number);
    *to_++ = static_cast<std::uint16_t>(number);
  }
  /// What is after `now`; 0 for what is not.
  template <std::size_t kSize>
  void put_all(const std::array<std::uint64_t, kSize>& cycles, std::uint64_t now) {
    for (const std::uint64_t c : cycles) put(beyond(c, now));
  }
  /// The last `most` cycles of a ring, of which the last is before `head`, do not fall: those that are after `now`.
  void put_ring(const std::uint64_t* ring, std::size_t length, std::size_t head, std::size_t most, std::uint64_t now) {
    const auto at = [=](std::size_t n) { return ring[head > n ? head - 1 - n : head + length - 1 - n]; };
    std::size_t count = 0;
    for (std::size_t step = std::bit_floor(most); step != 0; step /= 2)
      if (count + step <= most && at(count + step - 1) > now) count += step;
    put(count);
    if (count == 0) return;
    largest_ = std::max(largest_, at(0) - now);
    const std::size_t wraps = count > head ? count - head : 0;  // at the ring's end, older than those at its begin
    to_ = put_part(ring + length - wraps, wraps, now);
    to_ = put_part(ring + head - (count - wraps), count - wraps, now);
  }
  /// 0: a number was too large.
  std::size_t size() const { return largest_ > 0xffff ? 0 : static_cast<std::size_t>(to_ - begin_); }

 private:
  std::uint16_t* put_part(const std::uint64_t* cycles, std::size_t count, std::uint64_t now) const {
    for (std::size_t n = 0; n < count; ++n) to_[n] = static_cast<std::uint16_t>(cycles[n] - now);
    return to_ + count;
  }

  std::uint16_t* const begin_;
  std::uint16_t* to_;
  std::uint64_t largest_ = 0;
};

class InstructionWindow::Reader {
 public:
  explicit Reader(const std::uint16_t* numbers) : at_(numbers) {}
  std::uint64_t get() { return *at_++; }
  template <std::size_t kSize>
  void get_all(std::array<std::uint64_t, kSize>& cycles, std::uint64_t now) {
    for (std::uint64_t& c : cycles) c = now + get();
  }
  void get_ring(std::uint64_t* ring, std::size_t length, std::size_t head, std::size_t most, std::uint64_t now) {
    const std::size_t count = get(), wraps = count > head ? count - head : 0;
    fill_before(ring, length, head + (count > head ? length : 0) - count, most - count);
    get_part(ring + length - wraps, wraps, now);
    get_part(ring + head - (count - wraps), count - wraps, now);
  }

 private:
  void get_part(std::uint64_t* cycles, std::size_t count, std::uint64_t now) {
    for (std::size_t n = 0; n < count; ++n) cycles[n] = now + at_[n];
    at_ += count;
  }
  /// Zeros for the `count` entries before `head`.
  static void fill_before(std::uint64_t* ring, std::size_t length, std::size_t head, std::size_t count) {
    const std::size_t wraps = count > head ? count - head : 0;
    std::fill_n(ring + length - wraps, wraps, 0);
    std::fill_n(ring + head - (count - wraps), count - wraps, 0);
  }

  const std::uint16_t* at_;
};

unsigned InstructionWindow::unwritten_stores() const {
  unsigned stores = 0;
  for (; forwarding_.knows(forwarding_.next() - 1 - stores); ++stores)
    if (forwarding_[forwarding_.next() - 1 - stores].written <= at_.cycle + 1) break;
  return stores;
}

/// Sets state_ to what the window is in. Returns false where lines that prefetch.i has asked for are under
/// way, or where numbers are too large.
bool InstructionWindow::capture() {
  const std::uint64_t now = at_.cycle;
  if (refetches_ || (last_instructions_ != 0 && last_instructions_ + lead_ > now)) return false;
  if (memo_.full()) {
    memo_.clear();
    lesson_.state = WindowMemo::kNone;
  }
  slots_.forget(now);
  if (slots_.far()) return false;
  Writer to(numbers_);
  WindowMemo::Known known{};
  known.dispatched = static_cast<std::uint16_t>(at_.dispatched);
  // Where everything has retired, it does not matter since when: see Core::time_of_hint().
  if (at_.last_retired() < now) at_.retire_slot = (now - 1) * Progress::kRetireSlots;
  known.retired = static_cast<std::int32_t>(at_.last_retired() - now);
  known.stores = static_cast<std::uint16_t>(unwritten_stores());
  put_progress(to);
  ready_[TimingRecord::kSink] = 0;
  to.put_all(ready_, now + 1);
  to.put_all(units_, now + 1);
  to.put_ring(room_.data(), kRing, at_.next % kRing, shape_.reorder_buffer, now);
  to.put_ring(loads_.data(), kRing, next_load_ % kRing, shape_.load_queue, now);
  to.put_ring(stores_.data(), kRing, next_store_ % kRing, shape_.store_buffer, now);
  to.put(known.stores);
  for (unsigned n = 1; n <= known.stores; ++n) {
    const StoreForwarding::Store& s = forwarding_[forwarding_.next() - n];
    to.put(beyond(s.ready, now + 1));
    to.put(s.written - now);
  }
  to.put(slots_.waiting());
  slots_.tell([&to](unsigned n, IssueSlots::Issued issued) {
    to.put(n);
    to.put(n == 0 ? 0 : issued.ports);  // nothing more is issued in the first cycle
    to.put(issued.count);
  });
  if (to.size() == 0) return false;
  state_ = memo_.intern({numbers_.data(), to.size()}, known);
  unwritten_ = known.stores;
  is_behind_ = false;
  return true;
}

void InstructionWindow::put_progress(Writer& to) const {
  const std::uint64_t now = at_.cycle;
  // keep_up() is called at the latest after the instructions of a line, or of a run. Until then it does not matter how
  // far fetch is behind.
  const std::uint64_t behind = lead_ + TimedRun::kMost + l1i_.line_bytes();
  const bool behindmost = at_.fetch_cycle + behind <= now;
  to.put(at_.dispatched);
  to.put(behindmost ? 0 : at_.fetched);
  to.put(behindmost ? 0 : at_.fetch_cycle + behind - now);
  to.put(at_.fetch_cycle <= now ? 0 : static_cast<std::uint64_t>(at_.fetch_waits));
  to.put(at_.last_retired() + 1 - now);
  to.put(at_.retire_slot % Progress::kRetireSlots);
  to.put(beyond(last_written_ + 1, now));
  to.put(beyond(loads_from_, now + 1));
}

void InstructionWindow::get_progress(Reader& from) {
  const std::uint64_t now = at_.cycle;
  at_.dispatched = static_cast<unsigned>(from.get());
  at_.fetched = static_cast<unsigned>(from.get());
  at_.fetch_cycle = now + from.get() - (lead_ + TimedRun::kMost + l1i_.line_bytes());
  at_.fetch_waits = static_cast<Loss>(from.get());
  at_.retire_slot = (now + from.get() - 1) * Progress::kRetireSlots;
  at_.retire_slot += from.get();
  last_written_ = now + from.get() - 1;
  loads_from_ = now + 1 + from.get();
}

/// Makes the window what state_ and at_.cycle say.
void InstructionWindow::restore() {
  const std::uint64_t now = at_.cycle;
  Reader from(memo_.numbers(state_));
  get_progress(from);
  from.get_all(ready_, now + 1);
  from.get_all(units_, now + 1);
  from.get_ring(room_.data(), kRing, at_.next % kRing, shape_.reorder_buffer, now);
  from.get_ring(loads_.data(), kRing, next_load_ % kRing, shape_.load_queue, now);
  from.get_ring(stores_.data(), kRing, next_store_ % kRing, shape_.store_buffer, now);
  const std::uint64_t stores = from.get();
  forwarding_.forget_before(forwarding_.next() - stores);
  for (unsigned n = 1; n <= stores; ++n) {
    const std::uint64_t ready = from.get();
    forwarding_.set_times(forwarding_.next() - n, now + 1 + ready, now + from.get());
  }
  slots_.restart(now);
  std::uint64_t waiting = from.get();
  while (waiting != 0) {
    const std::uint64_t n = from.get(), ports = from.get(), count = from.get();
    slots_.put(static_cast<unsigned>(n), {static_cast<std::uint16_t>(ports), static_cast<std::uint16_t>(count)});
    waiting -= count;
  }
  is_behind_ = false;
}

}  // namespace sluice::riscv
