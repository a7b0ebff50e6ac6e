// SPDX-License-Identifier: Apache-2.0
/// A plain TLM-2.0 timer that knows nothing of Sluice: a plug-in of test_bus_plugins.py. Register 0: count of
/// ticks; a write lowers the interrupt. Register 8: a write starts the timer.
#include <tlm_utils/simple_target_socket.h>

#include "platform/plugin/plugin.h"

struct Ticker : sc_core::sc_module {
  static constexpr std::uint64_t kSize = 16;
  static constexpr const char* kCompatible = "test,ticker";
  tlm_utils::simple_target_socket<Ticker> socket{"socket"};
  sc_core::sc_out<bool> interrupt{"interrupt"};

  SC_HAS_PROCESS(Ticker);
  explicit Ticker(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_b_transport(this, &Ticker::access);
    SC_METHOD(tick);
    sensitive << next_;
    dont_initialize();
  }

 private:
  void tick() {
    ++ticks_;
    interrupt.write(true);
    next_.notify(1, sc_core::SC_US);
  }
  void access(tlm::tlm_generic_payload& trans, sc_core::sc_time&) {
    wait(20, sc_core::SC_NS);
    trans.set_response_status(tlm::TLM_OK_RESPONSE);
    if (trans.is_read())
      std::memcpy(trans.get_data_ptr(), &ticks_, 8);
    else if (trans.get_address() == 8)
      next_.notify(1, sc_core::SC_US);
    else
      interrupt.write(false);
  }

  std::uint64_t ticks_ = 0;
  sc_core::sc_event next_;
};

SLUICE_PLUGIN(devices) { devices.add_bus_device<Ticker>("ticker", "plain timer"); }
