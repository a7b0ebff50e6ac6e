// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where what the firmware says through its UART goes in a run with --console.

#include <memory>
#include <ostream>
#include <vector>

#include "models/uart/back_ends.h"
#include "platform/board/board.h"

namespace sluice::platform {

/// Writes the host's characters as they come, and between its lines whole lines of the other systems, each behind the
/// name of its system.
class ConsoleOutput {
 public:
  /// Attaches itself to the UARTs of all systems.
  ConsoleOutput(Board&, std::ostream&);
  /// Writes what has no line end yet.
  void end();

 private:
  uart::StreamBackEnd host_;
  std::vector<std::unique_ptr<uart::LineBackEnd>> others_;
};

}  // namespace sluice::platform
