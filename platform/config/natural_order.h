// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The order in which a person expects names that have numbers.

#include <string_view>

namespace sluice::config {

/// Orders numbers in names by their value: eth2 before eth10.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace sluice::config
