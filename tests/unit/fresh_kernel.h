// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A second simulation in one process, which only tests need.

#include <systemc>

#include "models/base/measure/ledger.h"
#include "models/base/systemc/scheduler.h"
#include "models/base/time/calendar.h"

namespace sluice {

/// The kernel as before the first elaboration, the calendar and the ledger empty. Nothing of an earlier simulation may
/// still be alive.
inline void fresh_kernel() {
  sc_core::sc_curr_simcontext = new sc_core::sc_simcontext;
  sc_core::sc_default_global_context = sc_core::sc_curr_simcontext;
  base::set_time_resolution();
  base::calendar().clear();
  base::ledger() = base::Ledger{};
}

/// fresh_kernel() before any module exists.
struct FreshKernel {
  FreshKernel() { fresh_kernel(); }
};

}  // namespace sluice
