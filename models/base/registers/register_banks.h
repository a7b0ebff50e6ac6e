// SPDX-License-Identifier: Apache-2.0
#pragma once
/// All register banks that exist: for checks of a device as a whole. Plain C++.

#include <vector>

namespace sluice::base {

class RegisterBank;

/// In order of construction.
const std::vector<RegisterBank*>& register_banks();

}  // namespace sluice::base
