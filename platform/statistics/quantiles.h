// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sluice::statistics {

/// How many standard errors a two-sided interval of this level (above 0, below 1) reaches to either side, by Student's
/// t with `degrees` of freedom (at least 1).
double student_t(double level, unsigned degrees);

}  // namespace sluice::statistics
