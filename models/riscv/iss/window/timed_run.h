// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What an engine tells the instruction window of the code that it executes.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/memory/line_state.h"
#include "models/riscv/iss/window/timing_record.h"

namespace sluice::riscv {

/// A straight run of decoded instructions, which an engine keeps beside its code. Only the last one may be a branch or
/// jump.
struct TimedRun {
  static constexpr unsigned kMostLines = 8;
  static constexpr unsigned kMost = 64;  ///< instructions
  // What each step reads comes first, in one line of the host's cache.
  TimingRecord* records = nullptr;
  std::uint32_t count = 0;
  std::uint8_t lines = 0;    ///< entries of `starts` and `addresses`
  TimingRecord::Kind end{};  ///< of the last instruction, if it is a branch or jump; otherwise kPlain. By complete()
  bool prefetches_code = false;  ///< by complete()
  // The window's own notes.
  mutable std::uint8_t uses = 0;  ///< executions, as far as they are counted
  mutable std::int8_t worth = 0;  ///< below 0: it seldom pays to capture the window's state before this run
  std::uint32_t number = 0;       ///< not 0, and no other run of the window has it. By complete()
  std::uint64_t accesses = 0;     ///< bit n: instruction n is a load, store or prefetch. By complete()
  std::uint64_t pc = 0;
  std::uint64_t last_pc = 0;                          ///< of the last instruction
  std::uint64_t end_pc = 0;                           ///< after it
  std::array<std::uint64_t, kMostLines> addresses{};  ///< physical, of the L1I lines that the run enters
  std::array<std::uint8_t, kMostLines> starts{};      ///< instructions that are the first of the run in these lines

  /// Everything is there that is not set here.
  void complete(std::uint32_t its_number) {
    number = its_number;
    end = records[count - 1].is_transfer() ? records[count - 1].kind : TimingRecord::kPlain;
    accesses = 0;
    for (unsigned n = 0; n < count; ++n) {
      const TimingRecord& r = records[n];
      if (r.kind >= TimingRecord::kLoad) accesses |= std::uint64_t{1} << n;
      if (r.kind == TimingRecord::kPrefetch && r.detail == static_cast<std::uint8_t>(base::LineUse::fetch))
        prefetches_code = true;
    }
  }
};

/// What an engine has executed and the window has not yet consumed.
class ExecutionLog {
 public:
  ExecutionLog() {
    runs_.resize(kCapacity);
    accesses_.resize(kCapacity);
  }
  bool empty() const { return runs_end_ == 0; }
  /// Takes out what was entered last, of which nothing has been executed.
  void abandon() {
    --runs_end_;
    accesses_end_ = accesses_before_last_;
  }
  /// The instructions of a run from `first` on follow. What is executed of a run is known when the next run is entered:
  /// all of it; or when the log is consumed.
  void enter(const TimedRun& run, unsigned first) {
    accesses_before_last_ = accesses_end_;
    runs_[runs_end_++] = reinterpret_cast<std::uintptr_t>(&run) | std::uint64_t{first} << kFirstShift;
  }
  /// The next load, store or prefetch of the run accesses this physical address.
  void access(std::uint64_t address) { accesses_[accesses_end_++] = address; }
  /// The next store of the run is to a device, or its next prefetch brings nothing.
  void access_no_cache() { access(kNoCache); }

  static constexpr std::uint64_t kNoCache = ~std::uint64_t{0};

  // What the window reads. An entry of runs() has the run and its first instruction.
  std::span<const std::uint64_t> runs() const { return {runs_.data(), runs_end_}; }
  const std::uint64_t* accesses() const { return accesses_.data(); }
  static const TimedRun& run_at(std::uint64_t entry) {
    return *reinterpret_cast<const TimedRun*>(entry << 8 >> 8);  // NOLINT(performance-no-int-to-ptr)
  }
  static unsigned first_at(std::uint64_t entry) { return static_cast<unsigned>(entry >> kFirstShift); }
  void clear() { runs_end_ = accesses_end_ = 0; }

 private:
  static constexpr unsigned kFirstShift = 56;  ///< pointers have fewer bits
  static constexpr std::size_t kCapacity = 4096;
  std::vector<std::uint64_t> runs_, accesses_;
  std::size_t runs_end_ = 0, accesses_end_ = 0;
  std::size_t accesses_before_last_ = 0;
};

}  // namespace sluice::riscv
