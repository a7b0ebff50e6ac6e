// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A study as its file says it: boards, a grid of settings, how often each is run, and what is measured.
/// docs/reference/study.md documents the file.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/config/files/board_file.h"

namespace sluice::study {

/// A parameter that is swept, and its values.
struct Axis {
  std::string path;  ///< "nic.eth0.queues"
  config::Location where;
  std::vector<base::Value> values;
  /// A condition on quantities: "latency_ns.p99 <= 50000". Not all values are run, but those by which bisection finds
  /// the last one at which it holds. Empty: all are run.
  std::string search;
  config::Location search_where;
};

/// How often each case is run: until the interval of a quantity is narrow enough.
struct Precision {
  std::string quantity;  ///< "latency_ns.p99"
  double within = 0;     ///< half the width of its 95 % interval, as a share of its value
  unsigned least = 5;    ///< replications at least; at most there are Study::replications
  config::Location where;
};

/// Axes that advance together: all have the same number of values.
using Dimension = std::vector<Axis>;

/// A name that the file gives, with its place.
struct Named {
  std::string name;
  config::Location where;
};

/// One grid: the product of its boards and dimensions, less the points that its condition leaves out.
struct Grid {
  config::Location where;
  std::vector<Named> boards;                         ///< empty: the study's
  std::vector<config::BoardFile::Setting> settings;  ///< of each of its points, on top of the study's
  std::vector<Dimension> dimensions;                 ///< in the order of the file
  std::string condition;                             ///< empty: none
  config::Location condition_where;
};

struct Study {
  std::string name;     ///< of the file, without ".toml"
  std::string file;     ///< for messages, as the user gave it
  std::string text;     ///< of the file
  std::string summary;  ///< may be empty
  std::vector<Named> boards;
  std::vector<config::BoardFile::Setting> settings;
  std::vector<std::string> overrides;  ///< of every point, on top of all, as --set has them; no file says them
  std::vector<std::uint64_t> seeds;    ///< empty: that of each board
  config::Location seeds_where;
  unsigned replications = 1;
  config::Location replications_where;  ///< no file: the study does not say
  std::optional<Precision> precision;   ///< nothing: each case is run `replications` times
  std::vector<Named> measure;           ///< quantities of result files; empty: the usual ones
  std::vector<Grid> grids;              ///< at least one
};

/// The most points that a study may have, before conditions leave some out.
inline constexpr std::uint64_t kMostPoints = 10'000'000;

/// Whether a quantity of a result file depends on the machine that ran it, and not on what was run.
bool depends_on_machine(const std::string& quantity);

/// file: where the text is from, for messages. Throws config::UserError with the line for what is no study.
Study parse_study(std::string text, const std::string& file);

/// The text of a study and what the command line has put on top of it.
std::string whole_text(const Study&);

/// Puts settings of the command line on top of all that a study says. Throws config::UserError for what is none, or is
/// swept.
void set_on_top(Study&, const std::vector<std::string>& settings);

}  // namespace sluice::study
