// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Connects GDB to a board: stops the simulation while the debugger inspects it, and continues or steps it on command.
///
/// There is no host thread: a calendar entry polls the socket at intervals of simulated time, and a stopped simulation
/// waits in poll(). While stopped, simulated time and all harts stand still. A debugger that only reads does not change
/// the run.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/debug/board_target.h"
#include "platform/debug/changes.h"
#include "platform/debug/protocol/connection.h"
#include "platform/debug/protocol/session.h"

namespace sluice::debug {

class Debugger : private riscv::CoreObserver {
 public:
  struct Hooks {
    std::function<void()> end;                                  ///< the debugger or a signal ends the run at place()
    std::function<void(std::chrono::nanoseconds)> stood_still;  ///< told for how long (wall time)
    std::function<bool()> interrupted;                          ///< a signal has come; asked while all stands still
  };

  /// Listens on the loopback interface; port 0: any that is free. Throws std::runtime_error.
  Debugger(platform::Board&, BoardTarget&, std::uint16_t port);

  std::uint16_t port() const { return connection_.port(); }
  /// Call before the run: it will wait for a debugger before the first instruction. look_every: simulated time between
  /// two looks at the socket.
  void start(Hooks hooks, base::Time look_every);
  /// Call at the end of the run. status: exit status of the process.
  void ended(int status);
  /// Whether the calendar holds the entry that polls the socket.
  bool look_pending() const { return base::calendar().pending(next_look_); }
  /// For BoardTarget: where the simulation stands still.
  const Place& place() const { return place_; }
  /// For BoardTarget: reports an access to a watched range.
  void hit(const Watchpoint&);

 private:
  /// What a debugger has asked of a hart.
  struct Control {
    Action action;
    std::uint64_t events = 0;  ///< count of instructions, traps and interrupts when the hart continued
    std::optional<Stop> due;   ///< reported before the hart's next instruction
  };

  std::uint64_t before(riscv::Core&) override;
  void after(riscv::Core&, riscv::StopReason) override;
  void look();
  void serve(const Stop&, const Place&);
  bool converse();
  void go_on();
  void leave();
  void hold_up(unsigned thread);
  Control& control(const riscv::Core& core) { return controls_[target_.thread_of(core) - 1]; }

  platform::Board& board_;
  BoardTarget& target_;
  Connection connection_;
  std::unique_ptr<Session> session_;  ///< null: no debugger is attached
  std::vector<Control> controls_;
  std::optional<Stop> due_in_entry_;
  Place place_;
  unsigned last_thread_ = 1;
  bool first_look_ = true;
  Hooks hooks_;
  base::Time look_every_;
  base::Calendar::Handle next_look_;
};

}  // namespace sluice::debug
