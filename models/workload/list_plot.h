// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a workload says of a list in its result, so that whoever shows results need not know it. Plain C++.

#include <string>
#include <string_view>
#include <vector>

namespace sluice::workload {

/// How to show a list of a workload's result: numbers of its entries against another one of them.
struct ListPlot {
  struct Shown {
    std::string key;    ///< of a number in the entries; those without it are left out
    std::string title;  ///< of an axis with its unit, in parentheses
  };
  std::string name;   ///< short, and as is_name() says: it names files
  std::string title;  ///< a line
  std::string caption;
  std::string list;  ///< JSON pointer in the result to an array of objects: "/dma"
  Shown x;
  std::vector<Shown> lines;
  std::string y_title;
  std::string also_by;  ///< key of a text: entries in which it differs are of different lines. Empty: there is none

  /// Whether a name is of small letters, digits and hyphens.
  static bool is_name(std::string_view name) {
    return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
  }
};

}  // namespace sluice::workload
