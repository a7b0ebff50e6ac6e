// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which points a study needs: of a precision as many replications as it takes, of a search those that bisection asks
/// for. What is decided follows from results in the order of points, whatever else is there and in whatever order it
/// came.

#include <cstdint>
#include <functional>
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

using OnBroken = std::function<void(const std::string& sentence)>;

class Needs {
 public:
  /// All must outlive this.
  Needs(const study::Points& points, const Directory& directory, Identities& identities);

  /// Looks at the results, as far as they decide; on_broken is called with a sentence about each that is none. Throws
  /// config::UserError for a quantity that no result has.
  void look(const OnBroken& on_broken);
  /// The result of a point is gone.
  void forget(std::uint64_t point);

  /// Whether a point is needed, as far as is known. All are, of a study that decides nothing by results.
  bool is_needed(std::uint64_t point) const { return !adaptive_ || needed_[point]; }
  /// In the order of Points::searches().
  const std::vector<study::Search>& searches() const { return searches_; }
  const std::vector<SearchOutcome>& outcomes() const { return outcomes_; }
  /// Whether a case has reached the precision that the study asks for; nothing: results are missing, or it asks for
  /// none.
  std::optional<bool> is_precise(std::size_t case_number) const;

 private:
  /// A run's quantities, and the table of its latencies.
  struct Run {
    State state = State::missing;
    std::vector<double> values;  ///< of names_; NaN: none
    nlohmann::ordered_json latency;
  };
  /// What is known of a case. Of one that is settled the runs themselves are forgotten.
  struct Progress {
    std::vector<Run> runs;     ///< the first ones, none of them missing
    std::uint64_t wanted = 0;  ///< so many; 0: it has not been looked at
    bool is_settled = false;
    bool is_whole = false;           ///< every run has succeeded, and has every quantity that decides
    bool is_precise = false;         ///< of a precision
    std::vector<double> quantities;  ///< of names_, of all runs together
  };

  const Progress* settled(std::size_t case_number);
  void settle(Progress&, std::uint64_t first);
  bool read_runs(Progress&, std::uint64_t first);
  std::uint64_t more_than(Progress&) const;
  Run read(std::uint64_t point);
  bool holds(const study::Search&, const Progress&) const;
  SearchOutcome search(const study::Search&);
  void check_quantities() const;

  const study::Points& points_;
  const Directory& directory_;
  Identities& identities_;
  const bool adaptive_;
  std::vector<study::Search> searches_;
  std::vector<SearchOutcome> outcomes_;
  std::vector<study::Named> names_;  ///< quantities that decide, and where the study names them
  std::vector<bool> needed_;
  std::vector<Progress> cases_;
  std::vector<std::string> known_;       ///< quantities of a result, for suggestions
  std::vector<bool> seen_;               ///< of names_: some result has it
  const OnBroken* on_broken_ = nullptr;  ///< while it looks
};

}  // namespace sluice::sweep
