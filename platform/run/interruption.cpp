// SPDX-License-Identifier: Apache-2.0
#include "platform/run/interruption.h"

#include <csignal>
#include <initializer_list>

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

const char* name_of_signal(int number) { return number == SIGINT ? "SIGINT" : number == SIGHUP ? "SIGHUP" : "SIGTERM"; }

Interruption::Interruption() {
  came = 0;
  set(take);
}

Interruption::~Interruption() { set(SIG_DFL); }

const char* Interruption::signal() { return came == 0 ? nullptr : name_of_signal(came); }

}  // namespace sluice::platform
