// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/signal_line.h"

#include <array>
#include <csignal>

#include <fmt/format.h>
#include <unistd.h>

#include "platform/run/interruption.h"

namespace sluice::cli {
namespace {

constexpr std::array kSignals = {SIGHUP, SIGINT, SIGTERM};

/// In the order of kSignals; a handler must not make them.
std::array<std::string, kSignals.size()> lines;

void end(int number) {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    if (kSignals[i] == number && ::write(STDERR_FILENO, lines[i].data(), lines[i].size()) < 0) break;
  _exit(1);
}

/// Leaves alone what the process was started to ignore, as by nohup.
void set(void (*handler)(int)) {
  for (const int number : kSignals) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) continue;
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
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    lines[i] = interrupted_line(command, platform::name_of_signal(kSignals[i]));
  set(end);
}

SignalLine::~SignalLine() { set(SIG_DFL); }

HeldSignals::HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int number : kSignals) sigaddset(&held, number);
  sigprocmask(SIG_BLOCK, &held, &before_);
}

HeldSignals::~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace sluice::cli
