#pragma once
/// An interrupt line as SystemC has it, between a module's port and an interrupt controller.

#include <functional>

#include <systemc>

namespace sluice::memory {

class InterruptWire : public sc_core::sc_module {
 public:
  explicit InterruptWire(sc_core::sc_module_name);

  sc_core::sc_signal<bool> signal;  ///< that the module's port drives
  /// Called with a new level at base::now(), the time at which the signal has changed.
  std::function<void(bool)> on_change;

 private:
  void changed();
};

}  // namespace sluice::memory
