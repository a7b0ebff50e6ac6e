// SPDX-License-Identifier: Apache-2.0
#include "platform/run/interruption.h"

namespace sluice::platform {
namespace {

volatile std::sig_atomic_t came = 0;

void take(int number) { came = number; }

void set(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

}  // namespace

std::vector<int> ending_signals() {
  std::vector<int> numbers;
  for (const int number : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) numbers.push_back(number);
  }
  return numbers;
}

HeldSignals::HeldSignals(std::initializer_list<int> more) {
  sigemptyset(&set_);
  for (const int number : more) sigaddset(&set_, number);
  // One that is ignored would be seen where it is waited for.
  for (const int number : ending_signals()) sigaddset(&set_, number);
  sigprocmask(SIG_BLOCK, &set_, &before_);
}

HeldSignals::~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

void HeldSignals::lift() const { sigprocmask(SIG_UNBLOCK, &set_, nullptr); }

const char* name_of_signal(int number) { return number == SIGINT ? "SIGINT" : number == SIGHUP ? "SIGHUP" : "SIGTERM"; }

Interruption::Interruption() {
  came = 0;
  set(take);
}

Interruption::~Interruption() { set(SIG_DFL); }

const char* Interruption::signal() { return came == 0 ? nullptr : name_of_signal(came); }

}  // namespace sluice::platform
