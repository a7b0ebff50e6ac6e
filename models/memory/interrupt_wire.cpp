// SPDX-License-Identifier: Apache-2.0
#include "models/memory/interrupt_wire.h"

#include <algorithm>

#include "models/base/systemc/scheduler.h"
#include "models/base/time/key.h"

namespace sluice::memory {

InterruptWire::InterruptWire(sc_core::sc_module_name name) : sc_module(name), signal("signal") {
  SC_HAS_PROCESS(InterruptWire);
  SC_METHOD(changed);
  sensitive << signal;
  dont_initialize();
}

/// Makes a calendar entry, because the SystemC kernel's time lags behind a hart that has run ahead.
void InterruptWire::changed() {
  const base::Time kernel = base::from_sc_time(sc_core::sc_time_stamp());
  base::calendar().at(std::max(base::now(), kernel), base::path_key(name()), [this, level = signal.read()] {
    if (on_change) on_change(level);
  });
}

}  // namespace sluice::memory
