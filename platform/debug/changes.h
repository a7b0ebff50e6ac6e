#pragma once
/// What a debugger changes, as inputs from outside: each change is logged with its place in the run, and a log makes it
/// again at the same place.
///
/// Harts run ahead of simulated time, so a time alone is no place. A change that is made while a hart stands in front
/// of an instruction belongs to that hart's slot; one that is made inside a calendar entry, to that entry's time.

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
  riscv::Core* core = nullptr;  ///< about to go on; null: inside a calendar entry
  bool waiting = false;         ///< the core has executed wfi or wrs and is about to wait
};

class Changes : private riscv::CoreObserver {
 public:
  static constexpr const char* kChannel = "gdb";

  /// Opens the channel of `inputs`, which must outlive it. make() of `target` comes here. end: ends the run.
  Changes(base::Inputs& inputs, BoardTarget& target, std::function<void()> end);

  /// Makes a change and logs it. Returns why not, or nothing.
  std::string make(const Change&, const Place&);
  /// A replay: what comes from a log is all that may change, but for the run's end.
  void refuse_all() { refused_ = true; }
  /// A change was the run's end.
  bool ended() const { return ended_; }
  /// How many changes of a log have not been made, because their hart has not come to them.
  std::size_t left() const;
  /// Once a log has been read, and before what it has: prepares that.
  void start();
  /// The run has ended: logs what has not been logged yet.
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
  std::vector<std::deque<Placed>> planned_;  ///< for each hart, by its time
  std::vector<bool> observed_;               ///< likewise
  std::deque<std::vector<std::uint8_t>> unlogged_;
};

}  // namespace sluice::debug
