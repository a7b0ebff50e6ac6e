// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A debugger's changes, as inputs from outside: each change is logged with its place in the run, and a replay of the
/// log makes it again at the same place.
///
/// Harts run ahead of simulated time, so time alone does not fix the place of a change. A change made while a hart is
/// about to execute an instruction is placed by that hart's slot count; a change made inside a calendar entry, by that
/// entry's time.

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "models/base/outside/inputs.h"
#include "models/riscv/core.h"
#include "platform/debug/board_target.h"

namespace sluice::debug {

/// Where the simulation stands still.
struct Place {
  riscv::Core* core = nullptr;  ///< the hart about to continue; null: inside a calendar entry
  bool waiting = false;         ///< the core has executed wfi or wrs and is about to wait
};

class Changes : private riscv::CoreObserver {
 public:
  static constexpr const char* kChannel = "gdb";

  /// Opens the channel of `inputs`, which must outlive this object. The make function of `target` must call make()
  /// here. end: ends the run.
  Changes(base::Inputs& inputs, BoardTarget& target, std::function<void()> end);

  /// Makes and logs a change. Returns why it cannot, or an empty string.
  std::string make(const Change&, const Place&);
  /// For a replay: from now on only the log makes changes, except for the end of the run.
  void refuse_all() { refused_ = true; }
  /// Whether a change has ended the run.
  bool ended() const { return ended_; }
  /// Number of logged changes that were not made, because their hart did not reach their place.
  std::size_t left() const;
  /// Prepares the changes of a log. Call it after the log has been read and before the run.
  void start();
  /// Call at the end of the run: logs the changes that are still unlogged.
  void flush();

 private:
  struct Placed {
    std::uint64_t slots;
    bool waiting;
    Change change;
  };
  std::uint64_t before(riscv::Core&) override;
  void after(riscv::Core&, riscv::StopReason) override;
  std::uint64_t apply_due(riscv::Core&, bool waiting);
  bool read_early(base::Inputs::Bytes);
  bool apply(const Change&);
  void log(std::vector<std::uint8_t> record, const Place&);
  void log_next();

  base::Inputs& inputs_;
  BoardTarget& target_;
  base::Inputs::Channel channel_;
  std::function<void()> end_;
  bool refused_ = false;
  bool ended_ = false;
  std::vector<std::deque<Placed>> planned_;  ///< for each hart, in order of slots
  std::vector<bool> observed_;               ///< for each hart: this object observes it
  std::deque<std::vector<std::uint8_t>> unlogged_;
};

}  // namespace sluice::debug
