// SPDX-License-Identifier: Apache-2.0
#pragma once
/// "Did you mean": the valid name that is nearest to what a user typed.

#include <string>
#include <string_view>
#include <vector>

namespace sluice::config {

/// Edits (insert, delete, replace or swap of neighbours) that turn a into b.
unsigned edit_distance(std::string_view a, std::string_view b);

/// The name with the fewest edits from `typed`, the first among equals. Empty if it is more than max(1, a third of the
/// length of `typed`) edits away, or if `typed` has more than 100 characters.
std::string nearest_name(std::string_view typed, const std::vector<std::string>& names);

/// The end of a sentence about a name that is not valid: "; did you mean NAME?" with the prefix before the name, or,
/// when none is near, "; valid: a, b, c"; empty when there are no names. Shortened as below.
std::string suggestion(std::string_view typed, const std::vector<std::string>& names, const std::string& prefix = "");

/// "a, b, c"; for more than a dozen names, the dozen nearest to what was typed, the nearest first, and how many more
/// there are. All of them if nothing was typed.
std::string shortened(std::string_view typed, const std::vector<std::string>& names);

}  // namespace sluice::config
