// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Reads files of claims.

#include <string>
#include <vector>

#include "platform/claims/claim.h"

namespace sluice::claims {

/// file: where the text is from, for messages. A claim with several published values becomes a claim for each. Throws
/// config::UserError with the line for what is no list of claims.
std::vector<Claim> parse_claims(const std::string& text, const std::string& file);

}  // namespace sluice::claims
