// SPDX-License-Identifier: Apache-2.0
#pragma once
/// An out-of-order core described cycle by cycle, as simply as possible: what the instruction window is compared with.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {

/// One executed instruction.
struct Executed {
  TimingRecord record;
  std::uint64_t address = 0;  ///< of a load or store
  std::uint64_t pc = 0;
  bool taken = false;
  bool mispredicted = false;
};

class CycleCore {
 public:
  static constexpr std::uint64_t kWarm = 4096;  ///< addresses below are in L1D from the start

  /// fill: cycles for a line that L1D does not hold. L1D is as large as the program needs.
  CycleCore(const CoreShape& shape, std::uint64_t fill) : shape_(shape), fill_(fill) {}

  /// Runs a program to its end. Returns the cycle in which its last instruction retires.
  std::uint64_t run(const std::vector<Executed>& program) {
    for (const Executed& e : program) entries_.push_back({e});
    for (now_ = 0; retired_ < entries_.size(); ++now_) {
      retire();
      write_store();
      issue();
      fetch();
      dispatch();
    }
    return entries_.back().retired;
  }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  struct Entry {
    Executed what;
    std::uint64_t fetched = kNever, dispatched = kNever, issued = kNever, completed = kNever, retired = kNever,
                  owned = kNever, written = kNever;
  };
  bool is(const Entry& e, TimingRecord::Kind k) const { return e.what.record.kind == k; }

  void retire() {
    for (unsigned k = 0; k < shape_.retire_width && retired_ < entries_.size(); ++k) {
      if (entries_[retired_].completed > now_) return;
      entries_[retired_++].retired = now_;
    }
  }
  /// When the line of an access that begins now is there. The first access brings it.
  std::uint64_t there(std::uint64_t address) {
    if (address < kWarm) return now_;
    return std::max(now_, lines_.try_emplace(address / 64, now_ + fill_).first->second);
  }
  void write_store() {
    while (written_ < entries_.size() && !is(entries_[written_], TimingRecord::kStore)) ++written_;
    if (written_ == entries_.size()) return;
    Entry& e = entries_[written_];
    for (std::size_t n = written_; n < retired_; ++n)
      if (Entry& s = entries_[n]; is(s, TimingRecord::kStore) && s.retired < now_ && s.owned == kNever)
        s.owned = there(s.what.address);
    if (e.owned > now_) return;
    e.written = now_;
    ++written_;
  }
  bool ready(std::size_t n) const {
    const TimingRecord& r = entries_[n].what.record;
    for (const unsigned source : {unsigned{r.rs1}, unsigned{r.rs2}, r.kind == TimingRecord::kThree ? r.detail : 0u}) {
      if (source == 0) continue;
      for (std::size_t before = n; before-- > 0;) {
        if (entries_[before].what.record.rd != source) continue;
        if (entries_[before].completed > now_) return false;
        break;
      }
    }
    return true;
  }
  void issue() {
    std::uint16_t taken = 0;
    for (std::size_t n = retired_; n < dispatched_; ++n) {
      Entry& e = entries_[n];
      if (e.issued != kNever && e.completed == kNever) e.completed = done(n);
      if (e.issued != kNever || e.dispatched >= now_ || !ready(n)) continue;
      const TimingRecord& r = e.what.record;
      const unsigned unit = static_cast<unsigned>(std::countr_zero(r.ports));
      if (r.kind == TimingRecord::kUnpipelined && free_from_[unit] > now_) continue;
      if (r.kind == TimingRecord::kLoad && fence_waits(n)) continue;
      const unsigned free = r.ports & ~unsigned{taken};
      if (free == 0) continue;
      taken = static_cast<std::uint16_t>(taken | (free & (0 - free)));
      e.issued = now_;
      e.completed = done(n);
      if (r.kind == TimingRecord::kUnpipelined) free_from_[unit] = now_ + r.detail;
    }
  }
  /// Whether a fence before the load is not done.
  bool fence_waits(std::size_t n) const {
    for (std::size_t before = 0; before < n; ++before)
      if (is(entries_[before], TimingRecord::kFence) && entries_[before].completed > now_) return true;
    return false;
  }
  /// When an instruction that has been issued has its result; kNever: that is not known yet.
  std::uint64_t done(std::size_t n) {
    const Entry& e = entries_[n];
    if (is(e, TimingRecord::kLoad)) return loaded(n);
    if (is(e, TimingRecord::kPause)) return e.issued + 1;
    if (!is(e, TimingRecord::kFence)) return e.issued + e.what.record.latency;
    std::uint64_t last = 0;
    for (std::size_t before = 0; before < n; ++before) {
      if (!is(entries_[before], TimingRecord::kStore)) continue;
      if (entries_[before].written == kNever) return kNever;
      last = entries_[before].written + 1;
    }
    return std::max(e.issued + e.what.record.latency, last);
  }
  /// When a load has its value; kNever while the data of a store before it is unknown.
  std::uint64_t loaded(std::size_t n) {
    Entry& e = entries_[n];
    const unsigned latency = e.what.record.latency;
    for (std::size_t before = n; before-- > 0;) {
      const Entry& s = entries_[before];
      if (!is(s, TimingRecord::kStore) || s.what.address / 8 != e.what.address / 8) continue;
      if (s.written <= e.issued) break;
      return s.completed == kNever ? kNever : std::max(e.issued, s.completed) + latency;
    }
    return std::max(e.issued + latency, there(e.what.address));
  }
  void fetch() {
    if (now_ < fetch_from_ || waits_) return;
    for (unsigned k = 0; k < shape_.fetch_width && fetched_ < entries_.size(); ++k) {
      if (fetched_ - dispatched_ >= shape_.fetch_queue) return;
      Entry& e = entries_[fetched_++];
      e.fetched = now_;
      if (e.what.mispredicted) {
        waits_ = &e;
        return;
      }
      if (e.what.taken) return;
    }
  }
  void dispatch() {
    if (waits_ && waits_->completed != kNever && waits_->completed + shape_.refill <= now_ + 1) {
      fetch_from_ = waits_->completed + shape_.refill;
      waits_ = nullptr;
    }
    for (unsigned k = 0; k < shape_.dispatch_width && dispatched_ < fetched_ && now_ >= dispatch_from_; ++k) {
      Entry& e = entries_[dispatched_];
      const auto occupied = [&](auto&& counts) {
        return static_cast<unsigned>(
            std::count_if(entries_.begin(), entries_.begin() + static_cast<long>(dispatched_), counts));
      };
      if (occupied([&](const Entry& o) { return o.retired >= now_; }) >= shape_.reorder_buffer) return;
      if (occupied([&](const Entry& o) { return o.issued >= now_; }) >= shape_.scheduler) return;
      if (is(e, TimingRecord::kLoad) && occupied([&](const Entry& o) {
                                          return is(o, TimingRecord::kLoad) && o.retired >= now_;
                                        }) >= shape_.load_queue)
        return;
      if (is(e, TimingRecord::kStore) && occupied([&](const Entry& o) {
                                           return is(o, TimingRecord::kStore) && o.written >= now_;
                                         }) >= shape_.store_buffer)
        return;
      e.dispatched = now_;
      ++dispatched_;
      if (is(e, TimingRecord::kPause)) dispatch_from_ = now_ + e.what.record.latency;
    }
  }

  CoreShape shape_;
  std::uint64_t fill_;
  std::vector<Entry> entries_;
  std::map<std::uint64_t, std::uint64_t> lines_;  ///< when they are there
  std::uint64_t now_ = 0;
  std::size_t fetched_ = 0, dispatched_ = 0, retired_ = 0, written_ = 0;
  std::uint64_t fetch_from_ = 0, dispatch_from_ = 0;
  const Entry* waits_ = nullptr;
  std::array<std::uint64_t, CoreShape::kPorts> free_from_{};
};

}  // namespace sluice::riscv
