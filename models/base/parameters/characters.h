// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What parsers of values ask of single characters, independent of the locale.

#include <string_view>

namespace sluice::base {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The text without the spaces around it.
constexpr std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace sluice::base
