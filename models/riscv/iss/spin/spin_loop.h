// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A loop in which a hart waits for memory to change: each turn of it loads the same values and ends with the registers
/// it began with. While those values stand, what the hart does is arithmetic (docs/models/base-time.md). Plain C++.

#include <array>
#include <cstdint>
#include <vector>

#include "models/base/memory/line_state.h"
#include "models/riscv/iss/hart_state.h"
#include "models/riscv/iss/timing_counters.h"
#include "models/riscv/iss/window/instruction_window.h"

namespace sluice::riscv {

/// One turn of a loop, recorded on a copy of the registers. The vectors keep their memory from one loop to the next.
class SpinLoop {
 public:
  static constexpr unsigned kMost = 256;  ///< instructions of a turn

  using Outlook = InstructionWindow::Outlook;
  /// Where the hart may be cut.
  struct Stop {
    std::uint64_t pc;
    std::uint32_t instructions;  ///< of the turn, before it
    std::uint32_t slots;         ///< from the start of the turn
  };

  // Recording, by an engine. What the functions say of the caches and of an instruction is in the order of the code.

  /// l1d, l1i: null for timing = "functional".
  void begin(const HartState&, base::LineState* l1d, base::LineState* l1i);
  /// The hart may be cut here, so many slots after begin().
  void stop(std::uint64_t pc, std::uint32_t slots) { stops_.push_back({pc, instructions_, slots}); }
  /// As stop(), with timing = "interval". retired: HartState::retired here.
  void stop(std::uint64_t pc, std::uint32_t slots, std::uint64_t retired, const Outlook& window) {
    stop(pc, slots);
    timed_.push_back({retired, window});
  }
  /// One more instruction begins. Returns false when the turn is too long.
  bool instruction() { return ++instructions_ <= kMost; }
  /// size: 1, 2, 4 or 8 bytes, of one aligned 8 of guest RAM.
  void load(const std::uint8_t* host, unsigned size);
  /// A store must leave memory as it is: it is told of as a load, too.
  void touch(std::uint64_t line, base::LineUse use) { touches_.push_back({line, instructions_, use}); }
  void result(std::uint8_t rd, std::uint64_t value) { results_.push_back({instructions_ - 1, rd, value}); }
  std::uint32_t instructions() const { return instructions_; }
  /// The turn is complete: the last stop() has been told of where the next turn begins. fetch_line: that of the last
  /// instruction, but for timing = "interval". Returns false when its lines are not all in the caches.
  bool end(std::uint64_t fetch_line);

  // Spinning.

  const std::vector<Stop>& stops() const { return stops_; }

  /// Whether another turn would go as the recorded one: the values stand, and the lines are in the caches.
  bool holds();
  /// Executes every instruction that starts before `limit`; with timing = "interval", up to the first timing point
  /// that is not before it. Leaves the registers, the order of lines in the caches, and the instruction window.
  void advance(HartState&, TimingCounters&, std::uint64_t limit);
  /// Brings the registers up to date.
  void show(HartState&) const;
  /// The hart goes on by itself: brings the registers and the caches up to date.
  void leave(HartState&);
  /// The line of the last instruction. After leave().
  std::uint64_t fetch_line() const { return fetch_line_; }
  /// With timing = "interval", where the window is, but for late_cycles(), and how many runs later than at begin().
  const Outlook& window() const { return timed_[phase_].window; }
  std::uint64_t late_cycles() const { return turns_ * (timed_.back().window.cycle - timed_[0].window.cycle); }
  std::uint64_t runs() const { return turns_ * timed_.back().window.runs + window().runs; }

 private:
  /// Bytes of an aligned 8 that the loop loads.
  struct Word {
    const std::uint8_t* host;
    std::uint64_t mask, value;
  };
  struct Timed {
    std::uint64_t retired;
    Outlook window;
  };
  struct Touch {
    std::uint64_t line;   ///< physical
    std::uint32_t after;  ///< instructions of the turn that have begun when the line is touched
    base::LineUse use;    ///< fetch, load or store
  };
  struct Result {
    std::uint32_t instruction;
    std::uint8_t rd;
    std::uint64_t value;
  };
  bool lines_there() const;
  base::LineState& cache(const Touch& t) const { return *(t.use == base::LineUse::fetch ? l1i_ : l1d_); }
  void count_touches();
  void count(TimingCounters&, std::uint64_t turns, std::size_t from, std::size_t to) const;

  base::LineState* l1d_ = nullptr;
  base::LineState* l1i_ = nullptr;
  std::uint64_t l1d_removals_ = 0, l1i_removals_ = 0;
  std::array<std::uint64_t, 32> registers_{};  ///< at the start of a turn
  std::uint32_t instructions_ = 0;             ///< of a turn
  std::vector<Stop> stops_;                    ///< the last one is the end of the turn
  std::vector<Timed> timed_;                   ///< by stop; empty but for timing = "interval"
  std::vector<Word> words_;
  std::vector<Touch> touches_;
  std::vector<Result> results_;
  std::vector<std::uint32_t> l1d_touches_, l1i_touches_;  ///< by stop: before it. Empty for timing = "interval"
  std::uint64_t fetch_line_ = 0;
  std::size_t phase_ = 0;    ///< the stop at which the hart is
  std::uint64_t turns_ = 0;  ///< that have ended since begin()
};

}  // namespace sluice::riscv
