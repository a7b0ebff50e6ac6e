// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What an engine tells the instruction window of the code that it executes.

#include <array>
#include <bit>
#include <cstdint>

#include "models/base/memory/line_state.h"
#include "models/riscv/iss/window/timing_record.h"

namespace sluice::riscv {

/// A straight run of decoded instructions, which an engine keeps beside its code. Only the last one may be a branch or
/// jump.
struct TimedRun {
  static constexpr unsigned kMostLines = 8;
  static constexpr unsigned kMost = 64;  ///< instructions
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  // What each step reads comes first, in one line of the host's cache.
  std::uint64_t whole = 0;     ///< WindowMemo::Key::step of all of it. Its low half is not 0, and no other run of the
                               ///< window has the same. By complete()
  std::uint64_t accesses = 0;  ///< bit n: instruction n is a load, store or prefetch. By complete()
  std::uint64_t pc = 0;
  std::uint64_t last_pc = 0;      ///< of the last instruction
  std::uint64_t end_pc = 0;       ///< after it
  std::uint8_t lines = 0;         ///< entries of `starts` and `addresses`
  std::uint8_t access_count = 0;  ///< bits of `accesses`. By complete()
  TimingRecord::Kind end{};  ///< of the last instruction, if it is a branch or jump; otherwise kPlain. By complete()
  bool prefetches_code = false;  ///< by complete()
  // The window's own notes.
  mutable std::uint8_t uses = 0;  ///< executions, as far as they are counted
  mutable std::int8_t worth = 0;  ///< below 0: it seldom pays to capture the window's state before this run
  /// LineState::removals() of L1I when all lines were last found in it; kNever: they have not been.
  mutable std::uint64_t present = kNever;
  std::array<std::uint64_t, kMostLines> addresses{};  ///< physical, of the L1I lines that the run enters
  std::array<std::uint8_t, kMostLines> starts{};      ///< instructions that are the first of the run in these lines
  std::uint32_t count = 0;                            ///< instructions
  TimingRecord* records = nullptr;

  /// Bits of `accesses` of the instructions [first, behind).
  std::uint64_t accesses_of(unsigned first, unsigned behind) const {
    const std::uint64_t before = behind < kMost ? (std::uint64_t{1} << behind) - 1 : ~std::uint64_t{0};
    return (accesses & before) >> first << first;
  }
  /// Everything is there that is not set here.
  void complete(std::uint32_t number);
};

/// What an engine has executed and the window has not yet consumed. An engine may touch lines in L1 as soon as it
/// accesses them, as long as all of them are there: the window, which has the time of everything that misses, then need
/// not look them up. What has come first in the log comes first for L1.
class ExecutionLog {
 public:
  /// Physical addresses have at most 56 bits. Bytes of an access as a power of two: 0 to 3.
  static constexpr std::uint64_t kStore = 4;  ///< beside the size, which takes two bits
  static constexpr unsigned kAddressShift = 3;
  static constexpr std::size_t kCapacity = 1024;  ///< runs, and accesses; IntervalClock's batches are shorter
  static constexpr std::uint64_t kNoCache = ~std::uint64_t{0} >> kAddressShift;  ///< as an address

  /// The caches must outlive the log. Without both, nothing is touched.
  explicit ExecutionLog(base::LineState* l1i = nullptr, base::LineState* l1d = nullptr) : l1i_(l1i), l1d_(l1d) {}
  ExecutionLog(const ExecutionLog&) = delete;
  ExecutionLog& operator=(const ExecutionLog&) = delete;
  bool empty() const { return runs_end_ == runs_.data(); }
  /// Takes out what enter() was called for last, of which nothing has been executed.
  void abandon() {
    --runs_end_;
    accesses_end_ = accesses_before_last_;
  }
  /// The instructions of a run from `first` on follow. What is executed of a run is known when the next run is entered:
  /// all of it; or when the log is consumed.
  void enter(const TimedRun& run, unsigned first) {
    accesses_before_last_ = accesses_end_;
    if (touches_) look_for_lines(run);
    *runs_end_++ = reinterpret_cast<std::uintptr_t>(&run) | std::uint64_t{first} << kFirstShift;
  }
  /// As enter(run, 0), by an engine that calls access_touching().
  void enter_touching(const TimedRun& run) {
    if (touches_) look_for_lines(run);
    *runs_end_++ = reinterpret_cast<std::uintptr_t>(&run);
  }
  /// The next load, store or prefetch of the run accesses this physical address.
  void access(std::uint64_t address) {
    stop_touching(runs_end_ - 1);
    *accesses_end_++ = address << kAddressShift;
  }
  /// The next store of the run is to a device, or its next prefetch brings nothing.
  void access_no_cache() { access(kNoCache); }
  /// The next load or store of the run accesses 1 << size bytes, all of them in the same aligned 8.
  void access_touching(std::uint64_t address, unsigned size, bool store) {
    if (touches_ && ((bringing_ != 0 && may_bring(address)) || !l1d_->hit(address, store))) [[unlikely]]
      stop_touching(runs_end_ - 1);
    *accesses_end_++ = address << kAddressShift | (store ? kStore : 0) | size;
  }

  /// The next load or store of the run accesses 1 << size bytes of one line. If they are not in the same aligned 8,
  /// this is as access().
  void access_misaligned(std::uint64_t address, unsigned size, bool store) {
    if (address % 8 + (std::uint64_t{1} << size) > 8) [[unlikely]]
      access(address);
    else
      access_touching(address, size, store);
  }

  // What the window reads.

  /// What has been entered: each has the run and its first instruction.
  const std::uint64_t* runs() const { return runs_.data(); }
  /// Nothing more follows, and next_pc comes next. Returns the end of runs(), behind which is a run at next_pc.
  const std::uint64_t* end_before(std::uint64_t next_pc) {
    next_.pc = next_pc;
    *runs_end_ = reinterpret_cast<std::uintptr_t>(&next_);
    return runs_end_;
  }
  /// Those before this one have touched all their lines.
  const std::uint64_t* touched() const { return touches_ ? runs_end_ : touched_; }
  const std::uint64_t* accesses() const { return accesses_.data(); }
  static std::uint64_t address_of(std::uint64_t access) { return access >> kAddressShift; }
  /// Of an access that access_touching() has noted. Bit n: byte n from the aligned 8 bytes on in which it begins.
  static unsigned bytes_of(std::uint64_t access) { return kBytes[access % kBytes.size()]; }
  static const TimedRun& run_at(std::uint64_t entry) {
    return *reinterpret_cast<const TimedRun*>(entry << 8 >> 8);  // NOLINT(performance-no-int-to-ptr)
  }
  static unsigned first_at(std::uint64_t entry) { return static_cast<unsigned>(entry >> kFirstShift); }
  /// Until the log is consumed, lines come to L1, or leave it, only by accesses that it does not answer, and by those
  /// to lines of these sets: bit n is set n, by set_of().
  void clear(std::uint64_t bringing) {
    touched_ = runs_end_ = runs_.data();
    accesses_end_ = accesses_.data();
    touches_ = l1d_ != nullptr;
    bringing_ = bringing;
  }
  static constexpr std::size_t kSets = 64;
  static std::size_t set_of(std::uint64_t address, const base::LineState& l1d) {
    const std::uint64_t number = address / l1d.line_bytes();
    return (number ^ number >> 6 ^ number >> 12) % kSets;
  }

 private:
  /// From entry `run` on, the window touches L1.
  void stop_touching(const std::uint64_t* run) {
    if (touches_) touched_ = run;
    touches_ = false;
  }
  /// A line of the run that is not there displaces others: the window must then have the time of what comes before.
  void look_for_lines(const TimedRun& run) {
    if (run.present != l1i_->removals() && !find_lines(run)) [[unlikely]]
      stop_touching(runs_end_);
  }
  bool may_bring(std::uint64_t address) const { return (bringing_ >> set_of(address, *l1d_) & 1) != 0; }
  bool find_lines(const TimedRun& run) const;

  /// By the lowest three bits of the address, kStore and the size.
  static constexpr std::array<std::uint8_t, 64> kBytes = [] {
    std::array<std::uint8_t, 64> bytes{};
    for (unsigned n = 0; n < bytes.size(); ++n)
      bytes[n] = static_cast<std::uint8_t>(((1u << (1u << n % 4)) - 1) << n / 8);
    return bytes;
  }();
  static constexpr unsigned kFirstShift = 56;  ///< pointers have fewer bits
  base::LineState* const l1i_;
  base::LineState* const l1d_;
  bool touches_ = false;
  std::uint64_t bringing_ = 0;
  TimedRun next_;
  std::array<std::uint64_t, kCapacity> runs_{}, accesses_{};
  std::uint64_t* runs_end_ = runs_.data();
  std::uint64_t* accesses_end_ = accesses_.data();
  const std::uint64_t* touched_ = runs_.data();
  std::uint64_t* accesses_before_last_ = accesses_.data();
};

}  // namespace sluice::riscv
