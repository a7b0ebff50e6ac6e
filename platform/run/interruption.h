// SPDX-License-Identifier: Apache-2.0
#pragma once
/// SIGINT and SIGTERM during a run that nothing outside takes part in.

namespace sluice::platform {

/// While it lives, the first SIGINT or SIGTERM is remembered; a second one ends the process. At most one lives.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Name of the signal that came to the latest one; null: none.
  static const char* signal();
};

}  // namespace sluice::platform
