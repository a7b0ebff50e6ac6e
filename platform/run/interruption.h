// SPDX-License-Identifier: Apache-2.0
#pragma once
/// SIGINT and SIGTERM during a run without a live TAP or console.

namespace sluice::platform {

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
