// SPDX-License-Identifier: Apache-2.0
#include "models/workload/packets/packet_source.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::workload {

double PacketSource::Trial::per_second(std::uint64_t n, base::Time first, base::Time last) {
  return last > first ? static_cast<double>(n - 1) / (last - first).seconds() : 0.0;
}

std::uint64_t PacketSource::Results::dropped_sum() const {
  std::uint64_t sum = 0;
  for (const auto& [reason, n] : dropped) sum += n;
  return sum;
}

PacketSource::PacketSource(const sc_core::sc_module_name& name, const Parameters& p, base::RandomSeed seed,
                           net::Wire& wire, net::Wire::End end)
    : RemoteHost(name, p.host, wire, end),
      parameters_(p),
      sizes_(p.size_list()),
      form_(p),
      arrivals_(seed, path(), "arrivals"),
      last_of_flow_(form_.flows()) {
  base::ledger().on_drop(
      [this](const base::Ledger::Request& r, std::string_view reason, base::Time) { drop_seen(r, reason); });
}

void PacketSource::register_statistics(base::StatisticsGroup& group) {
  group.counter("packets", "packets", "that count, sent", results_.sent);
  group.counter("returned", "packets", "of those, come back", results_.returned);
  group.counter("wrong", "packets", "of those, with a byte that differs", results_.wrong);
  group.counter("reordered", "packets", "of the others, behind a later one of their flow", results_.reordered);
  group.counter("lost", "packets", "not back in time, and nobody said why", results_.lost);
  group.counter_of("dropped", "packets", "not back, and somebody said why", [this] { return results_.dropped_sum(); });
  group.counter("late", "frames", "back after they had been given up", results_.late);
  group.counter("repeated", "frames", "back though they had come back or been dropped before", results_.repeated);
  group.counter("returned_without_id", "frames", "whose bytes the ledger knows no request of", without_id_);
  group.histogram("latency", "fs", "first bit out to last bit in", results_.latency);
}

// -------------------------------------------------------------------------------------------------------------- trials

void PacketSource::resolved() {
  running_ = true;
  form_.set_ends(self(), partner());
  next_trial();
}

base::BitRate PacketSource::highest_rate() {
  return parameters_.rate > base::BitRate(0) ? parameters_.rate : wire().parameters().rate;
}

/// Starts the next trial. Returns false when there is none.
bool PacketSource::next_trial() {
  if (searches()) return next_of_search();
  if (sizes_begun_ == sizes_.size()) return false;
  Trial& t = trials_.emplace_back();
  t.size = sizes_[sizes_begun_++];
  t.rate = highest_rate();
  start_sending(t.size, t.rate, parameters_.warmup + parameters_.requests, parameters_.warmup);
  return true;
}

/// A search begins behind a warm-up at a tenth of its highest rate, so that no backlog remains of that.
bool PacketSource::next_of_search() {
  if (!std::exchange(warmed_up_, true) && parameters_.warmup != 0) {
    const base::BitRate tenth(std::max<std::uint64_t>(1, highest_rate().bits_per_second() / 10));
    start_sending(sizes_.front(), tenth, parameters_.warmup, parameters_.warmup);
    return true;
  }
  if (search_) search_->record(trials_.back().loss());
  if (search_ && search_->done()) {
    found_.push_back({size_, base::BitRate(search_->found())});
    search_.reset();
    ++sizes_begun_;
  }
  if (sizes_begun_ == sizes_.size()) return false;
  if (!search_) search_.emplace(highest_rate().bits_per_second(), parameters_.resolution.bits_per_second());
  Trial& t = trials_.emplace_back();
  t.size = sizes_[sizes_begun_];
  t.rate = base::BitRate(search_->rate());
  const std::uint64_t buffered = buffered_ ? buffered_(t.size - Parameters::kFcs) : 0;
  start_sending(t.size, t.rate, std::max(parameters_.requests, search_->shortest_trial(buffered)), 0);
  return true;
}

std::uint64_t PacketSource::most_packets_of_search() {
  const std::uint64_t highest = highest_rate().bits_per_second(), resolution = parameters_.resolution.bits_per_second();
  std::uint64_t packets = parameters_.warmup;
  for (const std::uint32_t size : sizes_) {
    const std::uint64_t buffered = buffered_ ? buffered_(size - Parameters::kFcs) : 0;
    packets += net::RateSearch::most_trials(highest, resolution) *
               std::max(parameters_.requests, net::RateSearch(highest, resolution).shortest_trial(buffered));
  }
  return packets;
}

void PacketSource::start_sending(std::uint32_t size, base::BitRate rate, std::uint64_t packets,
                                 std::uint64_t uncounted) {
  size_ = size;
  octets_ = line_octets(size);
  fs_per_octet_ = rate.femtoseconds_per_byte();
  first_ = arrived_ + 1;
  counted_ = first_ + uncounted;
  total_ = arrived_ + packets;
  started_ = next_arrival_ = base::now();
  schedule_departure();
}

/// A trial of a search that was lengthened to find a loss ends when it has found one.
void PacketSource::end_trial_early() {
  if (!search_) return;
  total_ = std::min(total_, std::max(arrived_, first_ - 1 + parameters_.requests));
  if (arrived_ == total_) base::calendar().cancel(arrival_);
}

// ------------------------------------------------------------------------------------------------------------- sending

/// Makes the calendar entry for the next packet.
void PacketSource::schedule_departure() {
  if (arrived_ == total_) return;
  if (parameters_.load == PacketLoad::saturate)
    next_arrival_ =
        arrived_ + 1 == first_ ? started_ : next_arrival_ + wire().occupancy(end(), size_ - Parameters::kFcs);
  else if (parameters_.load == PacketLoad::poisson)
    next_arrival_ += arrivals_.exponential(base::Time::fs(fs_per_octet_.of(octets_)));
  else
    next_arrival_ = started_ + base::Time::fs(fs_per_octet_.of((arrived_ + 1 - first_) * octets_));
  arrival_ = base::calendar().at(next_arrival_, key(), [this] {
    ++arrived_;
    waiting_.push_back(base::now());
    schedule_departure();  // first: a packet that is dropped at once may begin the next trial
    depart();
  });
}

/// Sends the packets that are due, each as soon as the line is free.
void PacketSource::depart() {
  while (!waiting_.empty()) {
    const base::Time free = wire().next_start(end());
    if (free > base::now()) {
      if (std::exchange(departure_pending_, true)) return;
      base::calendar().at(free, key(), [this] {
        departure_pending_ = false;
        depart();
      });
      return;
    }
    const base::Time due = waiting_.front();
    waiting_.pop_front();
    const Slot& slot = open(due, base::now());
    net::PacketPtr p = form_.frame(slot.number, size_);
    p->spans = base::Spans(0, p->length, slot.id);
    transmit(std::move(p));
    arm_timer();
  }
}

/// Opens the slot of the next packet, which is due at `due` and whose first bit leaves at `start`.
PacketSource::Slot& PacketSource::open(base::Time due, base::Time start) {
  const std::uint64_t number = next_++;
  const bool counts = number >= counted_;
  if (counts && !std::exchange(measuring_, true) && measuring_callback_) measuring_callback_();
  while (slots_[number & (slots_.size() - 1)].number != 0) {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.number) slots_[s.number & (slots_.size() - 1)] = s;
  }
  base::ledger().measure(counts);
  const base::RequestId id = open_request(due, start, number);
  Slot& slot = slots_[number & (slots_.size() - 1)];
  slot = {number, id, due, start, counts};
  if (!counts) return slot;
  Trial& t = trials_.back();
  if (t.sent == 0 && trial_callback_) trial_callback_();
  if (results_.sent++ == 0) results_.first_sent = start;
  if (t.sent++ == 0) {
    t.first_due = due;
    t.first_sent = start;
  }
  t.last_due = due;
  t.last_sent = start;
  return slot;
}

// --------------------------------------------------------------------------------------------- packets that stay away

/// Packets time out in the order of their numbers, so one calendar entry at a time is enough for all.
void PacketSource::arm_timer() {
  if (base::calendar().pending(timer_)) return;
  for (; timer_next_ < next_; ++timer_next_) {
    if (const Slot* s = find(timer_next_)) {
      timer_ = base::calendar().at(s->sent + parameters_.timeout, key(), [this] { timer(); });
      return;
    }
  }
}

void PacketSource::timer() {
  for (; timer_next_ < next_; ++timer_next_) {
    Slot* s = find(timer_next_);
    if (!s) continue;
    if (s->sent + parameters_.timeout > base::now()) break;
    give_up(*s);
  }
  arm_timer();
}

void PacketSource::give_up(Slot& slot) {
  if (slot.measured) {
    ++results_.lost;
    ++trials_.back().lost;
  }
  given_up_.insert(slot.number);
  const base::RequestId id = std::exchange(slot.id, 0);  // the source's own drop is none that a component reports
  base::ledger().drop(id, "not back in time", base::now());
  end_trial_early();
  settle(slot);
}

void PacketSource::drop_seen(const base::Ledger::Request& r, std::string_view reason) {
  Slot* slot = find(r.number);
  if (!slot || slot->id != r.id) return;
  if (slot->measured) {
    ++results_.dropped[std::string(reason)];
    ++trials_.back().dropped;
  }
  end_trial_early();
  settle(*slot);
}

// -------------------------------------------------------------------------------------------- packets that come back

void PacketSource::frame_arrived(net::PacketPtr p) {
  if (running_ && !p->corrupted) {
    if (const auto number = form_.number_of(*p); number && *number != 0 && *number < next_)
      return returned(*p, *number);
  }
  RemoteHost::frame_arrived(std::move(p));
}

void PacketSource::returned(const net::Packet& packet, std::uint64_t number) {
  Slot* slot = find(number);
  if (!slot) return settled_before(number);
  without_id_ += packet.request() != slot->id;
  base::ledger().complete(slot->id, packet.last_bit, slot->due);
  check(*slot, packet);
  if (slot->measured) {
    const base::Time took = packet.last_bit - slot->due;
    Trial& t = trials_.back();
    ++results_.returned;
    results_.latency.add(took);
    results_.last_returned = packet.last_bit;
    if (t.returned++ == 0) t.first_returned = packet.last_bit;
    t.last_returned = packet.last_bit;
    t.latency.add(took);
    if (next_ > total_ && late_return_callback_ && may_be_last(under_way() - 1)) late_return_callback_();
  }
  settle(*slot);
}

void PacketSource::check(const Slot& slot, const net::Packet& packet) {
  std::uint64_t& last = last_of_flow_[form_.flow_of(slot.number)];
  const bool behind = slot.number < last;
  const std::uint64_t later = std::exchange(last, std::max(last, slot.number));
  if (!slot.measured) return;
  if (const std::string difference = form_.difference(packet, slot.number, size_); !difference.empty()) {
    ++results_.wrong;
    note(slot.number, difference);
  } else if (behind) {
    ++results_.reordered;
    note(slot.number, fmt::format("it came back behind packet {} of its flow", later));
  }
}

void PacketSource::settled_before(std::uint64_t number) {
  if (given_up_.erase(number) != 0) {
    ++results_.late;
    return;
  }
  ++results_.repeated;
  note(number, "it came back though it had come back or been dropped before");
}

void PacketSource::note(std::uint64_t number, const std::string& what) {
  if (results_.first_error.empty()) results_.first_error = fmt::format("packet {}: {}", number, what);
}

/// Frees the slot of a packet whose fate is known. May be called from within a component that drops a packet, so it
/// sends nothing itself.
void PacketSource::settle(Slot& slot) {
  slot.number = 0;
  if (++settled_ != total_ || next_trial()) return;
  base::calendar().cancel(timer_);
  finished_ = true;
  if (finished_callback_) finished_callback_();
}

}  // namespace sluice::workload
