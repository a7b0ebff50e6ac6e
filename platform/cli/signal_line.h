// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The last line of a command that a signal ends, and that goes on where it was when it is called again.

#include <string>

namespace sluice::cli {

/// "sluice: sweep: interrupted by SIGINT; the same command goes on"
std::string interrupted_line(const std::string& command, const std::string& signal);

/// While this object lives, SIGHUP, SIGINT and SIGTERM end the process with that line and status 1, wherever they are
/// not blocked. Signals that the process was started to ignore stay ignored. At most one object lives.
class SignalLine {
 public:
  explicit SignalLine(const std::string& command);
  ~SignalLine();
  SignalLine(const SignalLine&) = delete;
  SignalLine& operator=(const SignalLine&) = delete;
};

}  // namespace sluice::cli
