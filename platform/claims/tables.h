// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Claims beside what the models give for them, as text and as files. docs/reference/claims.md documents the files.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/claims/outcome.h"

namespace sluice::claims {

/// A line for each claim that the models hold, what they do not hold yet, and how many there are of each.
std::string outcome_text(const ClaimList&, const std::vector<Outcome>&);

/// changed: the settings of --set.
nlohmann::ordered_json outcome_json(const ClaimList&, const std::vector<Outcome>&,
                                    const std::vector<std::string>& changed);

/// The claims alone, as a table or as JSON: what `--list` prints.
std::string list_text(const ClaimList&, const std::vector<std::size_t>& claims);
nlohmann::ordered_json list_json(const ClaimList&, const std::vector<std::size_t>& claims);

/// RFC 4180 with line feeds; numbers read back as the same double.
std::string outcome_csv(const ClaimList&, const std::vector<Outcome>&);

}  // namespace sluice::claims
