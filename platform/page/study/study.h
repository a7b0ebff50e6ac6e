// SPDX-License-Identifier: Apache-2.0
#pragma once
/// study.json, which a sweep writes: its parameters, its cases (one for each setting and board) and its points (one for
/// each run of a case).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/page/node.h"

namespace sluice::page {

/// A swept parameter.
struct Axis {
  std::string path, unit;
  std::vector<std::string> values;  ///< in the study's order
};

struct Quantity {
  std::string path;  ///< "latency_ns.p99"
  std::string unit;
};

/// What a search has found.
struct Found {
  std::string board, condition, parameter, state;
  std::map<std::string, std::string> settings;  ///< of the other parameters
  std::string found;                            ///< the last value at which the condition holds; empty: at none
  bool at_end = false;                          ///< that is the last value of all
  std::size_t tried = 0;                        ///< values
};

/// What the runs of a case say of a quantity together.
struct Estimate {
  double value = 0;
  std::optional<std::pair<double, double>> interval_95;
  std::uint64_t runs = 0;
};

struct Case {
  std::uint64_t number = 0;
  std::string board;
  std::map<std::string, std::string> settings;  ///< by path; lacks what its sub-grid does not sweep
  std::map<std::string, double> numbers;        ///< the settings that are numbers, in the axis's unit
  std::vector<std::size_t> points;              ///< indices of Study::points
  std::map<std::string, Estimate> quantities;

  /// "4", or "not set"
  std::string setting(const std::string& path) const;
};

struct Point {
  std::uint64_t number = 0;
  std::string id;
  std::size_t of_case = 0;  ///< index of Study::cases
  std::uint64_t seed = 0, replication = 0;
  std::string state;  ///< "done", "failed", "missing"
  std::string failure;
  std::map<std::string, double> quantities;

  /// "points/3f/3f2a.../result.json", from the study's directory
  std::string result_file() const;
};

struct Study {
  std::string name, summary, program_version, program_sources;
  std::vector<Axis> axes;
  std::vector<Quantity> measure;
  std::vector<Case> cases;
  std::vector<Point> points;
  std::vector<Found> searches;
  std::vector<std::string> without_effect;  ///< sentences about settings
  std::vector<std::string> changed;         ///< "bus.latency=12 ns", what --set has put on top of the study

  /// The boards, in the order of the cases.
  std::vector<std::string> boards() const;
};

/// Throws config::UserError for what a sweep would not write: other kinds of values, an id that is no name of a
/// directory, a point without its case.
Study study_data(const Node&);

}  // namespace sluice::page
