// SPDX-License-Identifier: Apache-2.0
#include "platform/run/console_output.h"

namespace sluice::platform {

ConsoleOutput::ConsoleOutput(Board& board, std::ostream& out) : host_(out) {
  board.host().uart().attach(host_);
  for (auto& system : board.systems()) {
    if (system->plan().is_host()) continue;
    others_.push_back(std::make_unique<uart::LineBackEnd>(system->path(), host_));
    system->uart().attach(*others_.back());
  }
}

void ConsoleOutput::end() {
  for (auto& system : others_) system->end();
  host_.flush();
}

}  // namespace sluice::platform
