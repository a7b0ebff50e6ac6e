// SPDX-License-Identifier: Apache-2.0
#pragma once
/// An interrupt line as a SystemC signal, between a module's port and an interrupt controller.

#include <systemc>

#include "models/base/time/callback.h"

namespace sluice::memory {

class InterruptWire : public sc_core::sc_module {
 public:
  explicit InterruptWire(sc_core::sc_module_name);

  /// The module's port drives this signal, from the module's own processes and from those of harts whose accesses it
  /// answers.
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> signal;
  /// Called with a new level at base::now(), the time at which the signal has changed.
  base::Callback<void(bool)> on_change;

 private:
  void changed();
};

}  // namespace sluice::memory
