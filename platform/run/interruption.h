// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Signals that end a command, and SIGINT and SIGTERM during a run without a live TAP or console.

#include <csignal>
#include <initializer_list>
#include <vector>

namespace sluice::platform {

/// SIGHUP, SIGINT and SIGTERM, without those that the process was started to ignore, as by nohup.
std::vector<int> ending_signals();

/// While this object lives, these signals wait: what must not be left half done is done.
class HeldSignals {
 public:
  /// more: signals that wait, too.
  explicit HeldSignals(std::initializer_list<int> more = {});
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& set() const { return set_; }
  /// Lets them come, in a process that has forked from the one that holds them.
  void lift() const;

 private:
  sigset_t set_{}, before_{};
};

/// "SIGINT", "SIGHUP" or "SIGTERM", the signals that end a command.
const char* name_of_signal(int number);

/// While this object lives, the first SIGINT or SIGTERM is remembered; a second one ends the process. At most one
/// object lives.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Name of the signal that has come since the latest object was constructed; null: none.
  static const char* signal();
};

}  // namespace sluice::platform
