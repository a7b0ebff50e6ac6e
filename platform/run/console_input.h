// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A person or program that types to the firmware, through this process's standard input.

#include "models/base/outside/inputs.h"
#include "models/base/outside/pacer.h"
#include "models/uart/uart.h"

namespace sluice::platform {

/// What comes is an input of the channel "console": characters for the UART, in order.
class Console {
 public:
  static constexpr const char* kChannel = "console";

  Console(uart::Uart&, base::Inputs&);

  /// Whether input can come from standard input: it is a terminal, a pipe, a socket or a file, and no device such as
  /// /dev/null.
  static bool available();
  /// Reads standard input until its end. Without it (a replay), the log is the only source.
  void connect(base::Pacer&);

 private:
  bool take_characters();

  base::Inputs& inputs_;
  base::Inputs::Channel channel_;
};

}  // namespace sluice::platform
