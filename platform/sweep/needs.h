// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which points a study needs: of a precision as many replications as it takes, of a search those that bisection asks
/// for. What is decided follows from results in the order of points, whatever else is there and in whatever order it
/// came.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "platform/study/points.h"
#include "platform/sweep/directory.h"
#include "platform/sweep/identity.h"

namespace sluice::sweep {

/// How a search stands.
struct SearchOutcome {
  bool is_open = true;               ///< results are missing that it needs
  std::vector<std::size_t> tried;    ///< cases, in the order in which bisection asks for them
  std::optional<std::size_t> found;  ///< the last case at which the condition holds; nothing: it holds at none
};

class Needs {
 public:
  /// All must outlive this.
  Needs(const study::Points& points, const Directory& directory, Identities& identities);

  /// Looks at the results, as far as they decide. Throws config::UserError for a quantity that they do not have.
  void look();

  /// The result of a point is gone.
  void forget(std::uint64_t point);

  /// Whether a point is needed, as far as is known. All are, of a study that decides nothing by results.
  bool is_needed(std::uint64_t point) const { return !adaptive_ || needed_[point]; }
  /// In the order of Points::searches().
  const std::vector<study::Search>& searches() const { return searches_; }
  const std::vector<SearchOutcome>& outcomes() const { return outcomes_; }

 private:
  /// The runs of a case that count, once there are as many as its precision takes.
  struct Settled {
    std::uint64_t runs = 0;
    bool failed = false;                            ///< one of them
    std::vector<std::optional<double>> quantities;  ///< of names_
  };
  /// A run's quantities, and the table of its latencies.
  struct Run {
    State state = State::missing;
    std::vector<double> values;  ///< of names_; NaN: none
    nlohmann::ordered_json latency;
  };

  const std::optional<Settled>& settled(std::size_t case_number);
  std::optional<Settled> settle(std::size_t case_number);
  Settled summary(const std::vector<Run>&) const;
  std::uint64_t more_than(const std::vector<Run>&) const;
  Run read(std::uint64_t point);
  bool holds(const study::Search&, const Settled&) const;
  [[noreturn]] void refuse(const config::Location&, const std::string& quantity) const;
  SearchOutcome search(const study::Search&);

  const study::Points& points_;
  const Directory& directory_;
  Identities& identities_;
  const bool adaptive_;
  std::vector<study::Search> searches_;
  std::vector<SearchOutcome> outcomes_;
  std::vector<std::string> names_;  ///< quantities that decide
  std::vector<bool> needed_;
  std::vector<std::optional<Settled>> cases_;
  std::vector<std::string> known_;  ///< quantities of a result, for suggestions
};

}  // namespace sluice::sweep
