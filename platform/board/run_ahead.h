// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How far harts of one system-on-chip, and of different systems, may run ahead of each other.

#include "models/base/time/time.h"
#include "platform/board/system_plan.h"

namespace sluice::platform {

/// Least time from an action of a hart of one system until a hart of another system can see it.
struct Separation {
  base::Time least;
  bool joined;  ///< a device joins the systems; else `least` only says how often they take turns
};
/// Throws config::UserError for a device that joins the host to itself, and for a separation of less than 1 ns.
Separation separation_of(const config::BoardConfig&);

/// How far one hart of a system may run ahead of another hart of the same system. Harts see each other's stores late by
/// up to this time, so it is at most the transfer time of a cache line between them. separation: least time from a hart
/// of another system to one of this system; Time::max() where there is no other. Throws config::UserError when the
/// board sets a quantum that is too long.
base::Time quantum_of(const SystemPlan&, base::Time separation);

}  // namespace sluice::platform
