// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What numbers and quantities share of reading decimal text. Plain C++.

#include <string_view>

namespace sluice::base {

/// Takes an exponent, such as "e6" or "E-3", off the front of a text; 0 where the text has none. Exponents beyond 1000
/// are 1000, which no value here has.
int take_exponent(std::string_view& text);

}  // namespace sluice::base
