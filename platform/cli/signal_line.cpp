// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/signal_line.h"

#include <array>
#include <csignal>

#include <fmt/format.h>
#include <unistd.h>

#include "platform/run/interruption.h"

namespace sluice::cli {
namespace {

/// By number of the signal; a handler must not make them.
std::array<std::string, NSIG> lines;

void end(int number) {
  const std::string& line = lines[static_cast<std::size_t>(number)];
  (void)!::write(STDERR_FILENO, line.data(), line.size());  // the status says what happened, too
  _exit(1);
}

void set(void (*handler)(int)) {
  for (const int number : platform::ending_signals()) {
    struct sigaction next {};
    next.sa_handler = handler;
    sigfillset(&next.sa_mask);  // a second signal says nothing more
    sigaction(number, &next, nullptr);
  }
}

}  // namespace

std::string interrupted_line(const std::string& command, const std::string& signal) {
  return fmt::format("sluice: {}: interrupted by {}; the same command goes on\n", command, signal);
}

SignalLine::SignalLine(const std::string& command) {
  for (const int number : platform::ending_signals())
    lines[static_cast<std::size_t>(number)] = interrupted_line(command, platform::name_of_signal(number));
  set(end);
}

SignalLine::~SignalLine() { set(SIG_DFL); }

}  // namespace sluice::cli
