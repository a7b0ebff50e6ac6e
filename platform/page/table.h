// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Tables of a page.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::page {

/// A cell, as HTML.
struct Cell {
  std::string html;
  std::string sorted_by;  ///< a number; empty: what is shown
  bool number = false;
};

/// Text; escaped.
Cell text_cell(std::string_view text);
/// A number in few digits, which sorts by all of them; empty for no value.
Cell number_cell(const std::optional<double>& value);
/// The same with its 95 % interval.
Cell number_cell(double value, const std::optional<std::pair<double, double>>& interval_95);

/// Rows under a line of titles.
class Table {
 public:
  struct Head {
    std::string title;
    bool number = false;
  };
  /// sortable: a click on a title, or a key, sorts the rows by that column.
  explicit Table(std::vector<Head> heads, bool sortable = false) : heads_(std::move(heads)), sortable_(sortable) {}

  void row(const std::vector<Cell>& cells);
  /// A line that names the rows below it.
  void group(std::string_view title);
  bool empty() const { return rows_.empty(); }
  std::string html() const;

 private:
  std::vector<Head> heads_;
  bool sortable_;
  std::string rows_;
};

}  // namespace sluice::page
