// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Specifications of plots for Vega-Lite (https://vega.github.io/vega-lite/docs/), with the numbers that they draw. A
/// specification names no data: page.js gives it those of the plot. The title of every axis and legend is a quantity
/// and its unit.

#include <set>
#include <string>
#include <vector>

#include "platform/page/data.h"
#include "platform/page/node.h"

namespace sluice::page {

struct Plot {
  std::string name;     ///< of the CSV file, without its ending
  std::string title;    ///< the heading
  std::string caption;  ///< a sentence or more
  Data data;
  Json spec;
};

/// One dimension of a plot: a field of its data, and what its axis says.
struct Dimension {
  std::string field;
  std::string title;   ///< "latency p99 (ns)"
  bool number = true;  ///< else a name
  bool logarithmic = false;
  std::vector<std::string> order = {};  ///< of names; empty: as they come
  std::set<double> ticks = {};          ///< of numbers; empty: as Vega-Lite places them
};

/// Points and lines with intervals. The data has the fields of x, y, colour and, where it is given, of `panels` (one
/// small plot for each of its values).
struct Lines {
  Dimension x, y;
  Dimension colour;
  Dimension panels = {};   ///< no field: one plot
  bool intervals = false;  ///< the data has their ends, `low` and `high`, which may be empty
  bool steps = false;      ///< of a distribution: y holds until the next x, and there are no points
  bool spread = false;     ///< of many values at each x: their median, and a band from the least to the greatest
};
Json line_spec(const Lines&, std::size_t panels);

/// Horizontal bars, stacked by colour in the order of the field `place`.
struct Stack {
  Dimension bar;
  Dimension value;
  Dimension colour;  ///< with the order of the legend
  std::size_t bars = 1;
};
Json stack_spec(const Stack&);

/// Horizontal bars beside each other: one group for each value of `group`, in it one bar for each colour.
struct Bars {
  Dimension group;
  Dimension value;
  Dimension colour;
  std::size_t groups = 1, runs = 1;  ///< how many groups there are, and at most how many bars in each
  bool share = false;                ///< the axis ends at 1
};
Json bar_spec(const Bars&);

/// Points with intervals, one row for each name.
Json dot_spec(const Dimension& row, const Dimension& value, std::size_t rows, bool intervals);

/// Cells coloured by a number, or by a name; one small plot for each value of `panels`, where it has a field.
struct HeatMap {
  Dimension x, y, value, panels;
};
Json heat_spec(const HeatMap&, std::size_t columns, std::size_t rows, std::size_t panels);

/// "latency_ns.p99", "ns" -> "latency p99 (ns)"; "load.achieved_per_s", "1/s" -> "load achieved (1/s)". Without a unit:
/// "(share)" or "(count)".
std::string axis_title(std::string_view path, std::string_view unit);
/// The same without the unit.
std::string quantity_title(std::string_view path);

}  // namespace sluice::page
