#pragma once
/// What a simulation is connected to outside, live or from a log of inputs.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "models/base/inputs.h"
#include "models/base/pacer.h"
#include "models/net/tap.h"
#include "platform/board/board.h"

namespace sluice::platform {

struct OutsideOptions {
  std::string tap;     ///< name of a TAP interface; empty: none
  std::string replay;  ///< path of a log that takes the outside's place; empty: none
  bool any() const { return !tap.empty() || !replay.empty(); }
};

/// Takes the far end of the board's first wire. Live, simulated time keeps pace with wall time, and SIGINT or SIGTERM
/// ends the run; a second one ends the process.
class Outside {
 public:
  /// The board has no traffic of its own. log: path of a log to write; empty: none. A replay writes none. Throws
  /// config::UserError.
  Outside(Board&, const OutsideOptions&, const std::string& log);
  ~Outside();

  /// The end of the run, where a log or the range of simulated time sets one.
  base::Time latest_end() const;
  /// interrupt: called when the user ends the run.
  void start(std::function<void()> interrupt);
  /// Throws config::UserError when the log could not be written.
  void close(base::Time, base::InputEnd);
  std::uint64_t refused_frames() const { return tap_->refused(); }

 private:
  class Signals;

  std::string option_;  ///< for messages: "--tap tap0"
  base::Inputs inputs_;
  std::unique_ptr<net::TapDevice> device_;
  std::unique_ptr<net::TapEnd> tap_;
  std::unique_ptr<base::InputReplay> replay_;
  std::unique_ptr<base::Pacer> pacer_;
  std::unique_ptr<Signals> signals_;
  std::function<void()> interrupt_;
};

}  // namespace sluice::platform
