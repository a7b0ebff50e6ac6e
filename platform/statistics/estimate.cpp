// SPDX-License-Identifier: Apache-2.0
#include "platform/statistics/estimate.h"

namespace sluice::statistics {

Verdict verdict_of(const Estimate& d) {
  if (!d.interval && d.basis != Basis::constant) return Verdict::unknown;
  const Interval range = d.interval.value_or(Interval{d.value, d.value});
  if (range.lower <= 0 && range.upper >= 0) return Verdict::none;
  return d.value < 0 ? Verdict::less : Verdict::more;
}

std::string_view to_text(Verdict v) {
  switch (v) {
    case Verdict::none:
      return "none";
    case Verdict::less:
      return "less";
    case Verdict::more:
      return "more";
    default:
      return "unknown";
  }
}

}  // namespace sluice::statistics
