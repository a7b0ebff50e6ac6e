// SPDX-License-Identifier: Apache-2.0
#include "models/base/time/access_time.h"

#include <algorithm>

#include "models/base/time/calendar.h"

namespace sluice::base {
namespace {
Time scoped;
}  // namespace

AccessTimeScope::AccessTimeScope(Time t) : before_(scoped) { scoped = t; }
AccessTimeScope::~AccessTimeScope() { scoped = before_; }

Time access_time() { return std::max(scoped, now()); }

}  // namespace sluice::base
