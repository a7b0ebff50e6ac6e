#pragma once
/// [workload] with model "none": nobody calls, and the firmware does what it does.

#include "models/base/parameters/schema.h"

namespace sluice::platform {

struct NoWorkloadParameters {
  static void describe(base::Schema<NoWorkloadParameters>& s) { s.summary("no workload"); }
};

}  // namespace sluice::platform
