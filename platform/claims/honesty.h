// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What keeps claims from saying more than they may.

#include <map>
#include <string>
#include <vector>

#include "platform/claims/claim.h"
#include "platform/config/board_config.h"

namespace sluice::claims {

/// A claim beside the boards that it runs.
struct ClaimOnBoards {
  const Claim* claim;
  std::vector<const config::BoardConfig*> boards;
};

/// Throws config::UserError when
///   - two claims have one name, or one has the first parts of another, for all of which it stands;
///   - a parameter was fitted to a claim that is not called fitted, or to one that is not in the list;
///   - a claim is called fitted, and no parameter of its boards says so;
///   - an input names no parameter of its boards.
/// Returns the paths of the parameters that were fitted to a claim, by its name.
std::map<std::string, std::vector<std::string>> check_honesty(const std::vector<ClaimOnBoards>&);

}  // namespace sluice::claims
