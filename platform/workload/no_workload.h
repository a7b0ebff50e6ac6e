// SPDX-License-Identifier: Apache-2.0
#pragma once
/// [workload] with model "none": there are no calls, only what the firmware does by itself.

#include "models/base/parameters/schema.h"

namespace sluice::platform {

struct NoWorkloadParameters {
  static void describe(base::Schema<NoWorkloadParameters>& s) { s.summary("no workload"); }
};

}  // namespace sluice::platform
