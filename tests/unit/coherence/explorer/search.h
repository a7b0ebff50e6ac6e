// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A search through every order in which the messages of a small system may arrive.

#include <set>
#include <string>
#include <vector>

#include "tests/unit/coherence/explorer/small_system.h"

namespace sluice::coherence::protocol {

struct Found {
  std::size_t states = 0;
  std::size_t steps = 0;
  std::set<std::string> transitions;
  std::string mistake;             ///< empty: none
  std::vector<std::string> trail;  ///< states on the way to it
};

/// Visits all states that can be reached, and stops at the first mistake: one that check() or the state machines find,
/// a state that is not quiet and that no step leaves, and one from which what is under way cannot come to an end.
Found search(const Bounds&, const Rules&, Fault = Fault::none);

}  // namespace sluice::coherence::protocol
