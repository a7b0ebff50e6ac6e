// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the models give for a claim, and how that stands to what is published.

#include <string>
#include <string_view>
#include <vector>

#include "platform/claims/claim_list.h"
#include "platform/statistics/estimate.h"
#include "platform/sweep/rows.h"

namespace sluice::claims {

enum class Verdict {
  shown,      ///< a tested value, whose error is shown, or one of which nothing is published
  holds,      ///< within its tolerance, or in its order
  off,        ///< not within its tolerance
  flipped,    ///< not in its order
  undecided,  ///< an order that the runs are too few to tell
  failed,     ///< a run of it failed, or its results give no value
  lacking,    ///< no model holds it yet
  left_out    ///< it takes long, and was not run
};
std::string_view to_text(Verdict);
/// Whether the verdict ends `sluice reproduce` with status 1.
constexpr bool is_bad(Verdict v) {
  return v == Verdict::off || v == Verdict::flipped || v == Verdict::undecided || v == Verdict::failed;
}

/// What the runs of a term's case gave.
struct TermOutcome {
  std::vector<double> values;  ///< of each run, in the order of seeds and replications
  statistics::Estimate estimate;
};

struct Outcome {
  std::size_t claim = 0;  ///< of the list
  Verdict verdict = Verdict::lacking;
  std::vector<TermOutcome> terms;  ///< as the claim's; empty where a run failed or none was made
  statistics::Estimate modelled;   ///< meaningless for an ordering, and without terms
  std::size_t runs = 0;            ///< of each term
  /// modelled / published - 1; of a range to its nearer end, 0 within it. Nothing where that is no number.
  std::optional<double> error;
  std::string why;  ///< of what is bad: a sentence without its subject
};

/// The term of this name, of which the outcome must have the values.
const TermOutcome& term_of(const Claim&, const Outcome&, const std::string& name);

/// What becomes of a claim that is not run.
Outcome left_out(std::size_t claim);

/// rows: of each study of the list, with the quantities that ClaimList::prepare() had it measure. A claim whose results
/// lack a quantity, or whose value is no finite number, has failed.
Outcome evaluate(const ClaimList&, std::size_t claim, const std::vector<sweep::Rows>& rows);

/// "600", "500 to 600"
std::string published_text(const Published&);

}  // namespace sluice::claims
