// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What every link says of the serialiser and the credits of a direction, whatever its messages are. Plain C++.

#include <string>

#include "models/base/fabric/link_direction.h"
#include "models/base/measure/statistics.h"

namespace sluice::base {

/// prefix: of the counters, "up". title: of the direction in a list of resources. messages: what it carries, "TLPs".
template <MessageProtocol P>
void register_serialiser(StatisticsGroup& group, const std::string& prefix, const std::string& title,
                         const std::string& messages, const LinkDirection<P>& direction) {
  const DirectionStatistics& s = direction.statistics();
  group.counter(prefix + "_credit_stalls", messages, "that waited for credits", s.credit_stalls);
  group.resource(prefix + "_busy", title, "serialising", [&s] { return s.busy.femtoseconds(); });
  group.resource(prefix + "_starved", title + " credits", "the serialiser was free, and all that waited had no credits",
                 [&direction] { return direction.starved().femtoseconds(); });
  group.counter_of(prefix + "_credit_wait", "fs", "summed over " + messages,
                   [&s] { return s.credit_wait.femtoseconds(); });
}

}  // namespace sluice::base
