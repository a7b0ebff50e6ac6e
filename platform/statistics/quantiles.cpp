// SPDX-License-Identifier: Apache-2.0
#include "platform/statistics/quantiles.h"

#include <boost/math/distributions/students_t.hpp>

namespace sluice::statistics {

double student_t(double level, unsigned degrees) {
  return boost::math::quantile(boost::math::students_t(degrees), (1 + level) / 2);
}

}  // namespace sluice::statistics
