// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Writes the output of the firmware's UARTs in a run with --console.

#include <memory>
#include <ostream>
#include <vector>

#include "models/uart/back_ends.h"
#include "platform/board/board.h"

namespace sluice::platform {

/// Writes the host's characters as they come. Between its lines it writes whole lines of the other systems, each after
/// the name of its system.
class ConsoleOutput {
 public:
  /// Attaches itself to the UARTs of all systems.
  ConsoleOutput(Board&, std::ostream&);
  /// Writes the lines that have no line end yet.
  void end();

 private:
  uart::StreamBackEnd host_;
  std::vector<std::unique_ptr<uart::LineBackEnd>> others_;
};

}  // namespace sluice::platform
