// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A level-signalled wire: INTx, an interrupt controller's output. Plain C++.

#include "models/base/time/callback.h"

namespace sluice::base {

/// Setting the present level again does nothing.
class Line {
 public:
  Callback<void(bool)> on_change;
  void set(bool level) {
    if (level == level_) return;
    level_ = level;
    if (on_change) on_change(level);
  }
  bool level() const { return level_; }

 private:
  bool level_ = false;
};

}  // namespace sluice::base
