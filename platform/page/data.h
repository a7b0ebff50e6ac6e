// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The numbers behind a plot or table, as texts: the page and the CSV file have the same ones.

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice::page {

/// One column of a plot's data.
struct Column {
  std::string field;  ///< what specifications call it: letters, digits, _
  std::string title;  ///< what the CSV file calls it
  bool number = false;
};

struct Data {
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< as many cells as there are columns; empty: no value
};

/// The shortest text that reads back as the same number.
std::string exact_text(double value);
/// Empty for no value.
std::string exact_text(const std::optional<double>& value);
/// For people: so many digits, or all in front of the point, in groups of three. "2,333.7"
std::string short_text(double value, int digits = 5);
/// RFC 4180, with line feeds, and a line with the columns' titles first.
std::string csv_text(const Data&);

/// Whether positive values span more than two decades, so that a logarithmic axis shows them better.
bool spans_decades(const std::vector<double>& values);
/// Whether four settings or more, in ascending order, grow by factors, such as powers of two: there, too.
bool grows_by_factors(const std::set<double>& settings);

}  // namespace sluice::page
