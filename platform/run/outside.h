// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a simulation is connected to outside, live or from a log of inputs.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "models/base/outside/inputs.h"
#include "models/base/outside/pacer.h"
#include "models/net/tap.h"
#include "platform/board/board.h"
#include "platform/run/console_input.h"

namespace sluice::debug {
class BoardTarget;
class Changes;
class Debugger;
}  // namespace sluice::debug

namespace sluice::platform {

struct OutsideOptions {
  std::string tap;                        ///< name of a TAP interface; empty: none
  std::string replay;                     ///< path of a log that takes the outside's place; empty: none
  bool console = false;                   ///< standard input goes to the UART, except in a replay
  std::optional<std::uint16_t> gdb = {};  ///< TCP port for a debugger; 0: any
  bool any() const { return !tap.empty() || !replay.empty() || console || gdb; }
};

/// What is at the far end of the first wire: external with a TAP, or with a log of a run that had one. Throws
/// config::UserError for a log that cannot be read.
Traffic traffic_with(const OutsideOptions&);

/// A TAP at the far end of the board's first wire, standard input at the UART, a debugger. With a live TAP or console,
/// simulated time keeps pace with wall time, and SIGINT or SIGTERM ends the run; a second one ends the process.
class Outside {
 public:
  /// With a TAP, the board has no traffic of its own. log: path of a log to write; empty: none. A replay writes none.
  /// Throws config::UserError.
  Outside(Board&, const OutsideOptions&, const std::string& log);
  ~Outside();

  /// Whether simulated time keeps pace with wall time, and this object takes the signals that end a run.
  bool live() const { return pacer_ != nullptr; }
  /// Whether a person may take part. Such a run usually ends by that person's signal.
  bool attended() const { return live() || debugger_; }
  /// Time limit of the replayed run, if that run ended there.
  std::optional<base::Time> end_of_log() const;
  /// One sentence that names the parameters or firmware in which this run differs from the replayed log's. Empty when
  /// nothing differs, when the log does not record them, or without a replay.
  std::string mismatch(Board&) const;
  /// TCP port on which a debugger can connect; 0: none.
  std::uint16_t gdb_port() const;
  /// One sentence if the replayed log continues after `until`. Empty if it does not, or without a replay.
  std::string cut_short(base::Time until) const;
  /// After a replay: one sentence if it ended before all logged changes of the debugger were made. Else empty.
  std::string left_over() const;
  /// Number of calendar entries that only look for a debugger.
  std::size_t pending_looks() const;
  /// interrupt: called when the user ends the run.
  void start(std::function<void()> interrupt);
  /// Whether a signal that ends the run has come and start()'s callback has not been called for it yet. Call it only if
  /// live().
  bool take_signal();
  /// Throws config::UserError when the log could not be written.
  void close(base::Time, base::InputEnd);
  /// Tells a debugger the status that the process ends with. Without it, the destructor tells 2.
  void tell_end(int status);
  bool has_tap() const { return tap_ != nullptr; }
  std::uint64_t refused_frames() const { return tap_->refused(); }

 private:
  class Signals;

  void connect_live(Board&, const OutsideOptions&);
  void attach_debugger(Board&, const OutsideOptions&);

  std::string option_;  ///< for messages: "--tap tap0"
  base::Inputs inputs_;
  std::unique_ptr<debug::BoardTarget> target_;
  std::unique_ptr<debug::Changes> changes_;
  std::unique_ptr<debug::Debugger> debugger_;
  std::unique_ptr<net::TapDevice> device_;
  std::unique_ptr<net::TapEnd> tap_;
  std::unique_ptr<Console> console_;
  std::unique_ptr<base::InputReplay> replay_;
  std::unique_ptr<base::Pacer> pacer_;
  std::unique_ptr<Signals> signals_;
  std::function<void()> interrupt_;
};

}  // namespace sluice::platform
