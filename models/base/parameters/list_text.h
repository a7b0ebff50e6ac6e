// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Lists and strings as text, in which quotes hold together what is one. Plain C++.

#include <string>
#include <string_view>
#include <vector>

namespace sluice::base {

/// The elements of "[a, b]" or "a, b", without the quotes in which an element may stand. Throws ValueError for a quote
/// or bracket without an end.
std::vector<std::string> split_list(std::string_view);
/// An element of a list, in quotes where it would otherwise be read as another one.
std::string list_element(std::string_view);
/// A string, in quotes where it would otherwise be read as another one. unquoted() takes them off; it throws ValueError
/// for a quote without an end.
std::string string_text(std::string_view);
std::string unquoted(std::string_view);

}  // namespace sluice::base
