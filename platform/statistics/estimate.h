// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What replications say of a quantity, or of its difference between two boards, and how sure that is.

#include <optional>
#include <string_view>

namespace sluice::statistics {

/// The level of every interval of which nothing else is said.
inline constexpr double kLevel = 0.95;

struct Interval {
  double lower = 0, upper = 0;
};

/// What an interval, or the lack of one, rests on.
enum class Basis {
  replications,     ///< they differ, and the interval says how far
  constant,         ///< every replication gave the same: nothing is random, and there is no interval to give
  one_replication,  ///< which says nothing of others
  too_few_samples   ///< in a tail
};

struct Estimate {
  double value = 0;
  std::optional<Interval> interval{};  ///< holds `value`; nothing: `basis` says why
  Basis basis = Basis::one_replication;
};

/// Half the length of the interval.
inline std::optional<double> half_width(const Estimate& e) {
  return e.interval ? std::optional((e.interval->upper - e.interval->lower) / 2) : std::nullopt;
}

/// What a difference between two boards comes to.
enum class Verdict {
  none,    ///< the interval holds zero, or every replication gave the same on both
  less,    ///< than the reference
  more,    ///< than the reference
  unknown  ///< there is no interval, although something may be random
};
Verdict verdict_of(const Estimate& difference);

/// As result files have it: "none", "less", "more", "unknown".
std::string_view to_text(Verdict);

}  // namespace sluice::statistics
