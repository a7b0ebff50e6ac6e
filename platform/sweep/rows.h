// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the results of a study's points have of the quantities that are measured.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/statistics/estimate.h"
#include "platform/study/points.h"
#include "platform/sweep/directory.h"
#include "platform/sweep/identity.h"
#include "platform/sweep/idle_settings.h"
#include "platform/sweep/needs.h"

namespace sluice::sweep {

/// What the runs of a case that did not fail say of a quantity together.
struct CaseQuantity {
  std::size_t runs = 0;  ///< that have the quantity; 0: nothing is known
  statistics::Estimate estimate;
};

/// One point. It is small, because a study may have very many.
struct Row {
  Identity run;
  State state = State::missing;
  std::string why;                 ///< of a failed one
  std::vector<double> quantities;  ///< in the order of Rows::measured; NaN: the result has none
  std::vector<double> host;        ///< likewise, of Rows::host
};

struct Rows {
  std::vector<std::string> measured;
  std::vector<std::string> host;
  std::vector<Row> rows;  ///< in the order of the points
  /// By the number of the case, in the order of `measured`; empty for a case without a point that is needed. Quantiles
  /// of latency are those of all calls together.
  std::vector<std::vector<CaseQuantity>> cases;
  std::vector<std::string> unknown;  ///< sentences about quantities that the study asks for and no result has
  std::vector<IdleSetting> idle;     ///< settings that have no effect in any run
  std::uint64_t done = 0, failed = 0, missing = 0, unneeded = 0;
};

/// What the points have that the study needs, without their quantities, which take long to read. A result that is not
/// whole counts as missing; on_broken is called with a sentence about it.
Rows read_states(const study::Points&, const Directory&, Identities&, const Needs&, const OnBroken& on_broken);

/// The same with the quantities; one result file is in memory at a time. What is measured, where the study does not
/// say, are the usual quantities that any result has.
Rows read_rows(const study::Points&, const Directory&, Identities&, const Needs&, const OnBroken& on_broken);

}  // namespace sluice::sweep
