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

namespace sluice::riscv {

/// One turn of a loop, recorded on a copy of the registers. The vectors keep their memory from one loop to the next.
class SpinLoop {
 public:
  static constexpr unsigned kMost = 256;  ///< instructions of a turn

  struct Load {
    const std::uint8_t* host;  ///< of the bytes in guest RAM
    std::uint64_t value;       ///< the bytes, as a little-endian number
    unsigned size;             ///< 1, 2, 4 or 8
  };
  struct Touch {
    std::uint64_t line;   ///< physical
    std::uint32_t after;  ///< instructions of the turn that have begun when the line is touched
    bool fetch;           ///< L1I; else L1D
  };
  struct Result {
    std::uint32_t instruction;
    std::uint8_t rd;
    std::uint64_t value;
  };

  // Recording, by an engine.

  /// l1d, l1i: null for timing = "functional".
  void begin(const HartState&, base::LineState* l1d, base::LineState* l1i, std::uint64_t fetch_line);
  /// The next instruction of the turn is at pc. Returns false when the turn is too long.
  bool instruction(std::uint64_t pc);
  void load(const Load& l) { loads_.push_back(l); }
  void touch(std::uint64_t line, bool fetch) { touches_.push_back({line, instructions(), fetch}); }
  void result(std::uint8_t rd, std::uint64_t value) { results_.push_back({instructions() - 1, rd, value}); }
  void spend(std::uint32_t slots) { slots_ += slots; }
  std::uint32_t instructions() const { return static_cast<std::uint32_t>(starts_.size()); }
  std::uint64_t fetch_line() const { return fetch_line_; }
  void set_fetch_line(std::uint64_t line) { fetch_line_ = line; }
  /// The turn is complete. Returns false when its lines are not all in the caches.
  bool end();

  // Spinning.

  /// Whether another turn would go as the recorded one: the values stand, and the lines are in the caches.
  bool holds();
  /// Executes every instruction that starts before `limit`. Leaves the registers and the order of lines in the caches,
  /// which leave() brings up to date.
  void advance(HartState&, TimingCounters&, std::uint64_t limit);
  /// The hart goes on by itself: brings the registers and the caches up to date. Returns the line of the last
  /// instruction.
  std::uint64_t leave(HartState&);

 private:
  bool lines_there() const;

  base::LineState* l1d_ = nullptr;
  base::LineState* l1i_ = nullptr;
  std::uint64_t l1d_removals_ = 0, l1i_removals_ = 0;
  std::array<std::uint64_t, 32> registers_{};  ///< at the start of a turn
  std::vector<std::uint32_t> starts_;          ///< slots from the start of the turn, by instruction
  std::vector<std::uint64_t> pcs_;
  std::vector<Load> loads_;
  std::vector<Touch> touches_;
  std::vector<Result> results_;
  std::vector<std::uint32_t> l1d_touches_, l1i_touches_;  ///< before each instruction begins, and of the whole turn
  std::uint32_t slots_ = 0;                               ///< of a turn
  std::uint64_t fetch_line_ = 0;                          ///< of the last instruction of a turn
  std::uint32_t phase_ = 0;                               ///< instructions of the present turn that have been executed
  std::uint64_t executed_ = 0;                            ///< instructions since begin()
};

}  // namespace sluice::riscv
