// SPDX-License-Identifier: Apache-2.0
#pragma once
/// When an access takes place that a hart hands over early.

#include "models/base/time/time.h"

namespace sluice::base {

/// Sets access_time() until the end of the scope. A hart sets it around a store to a target that posts writes: the
/// store leaves the hart's store buffer then, while the hart goes on.
class AccessTimeScope {
 public:
  explicit AccessTimeScope(Time);
  ~AccessTimeScope();
  AccessTimeScope(const AccessTimeScope&) = delete;
  AccessTimeScope& operator=(const AccessTimeScope&) = delete;

 private:
  Time before_;
};

/// When the access that the model handles takes place: at now() or later. A model that may be called early reads it
/// first, and makes a calendar entry for it.
Time access_time();

}  // namespace sluice::base
