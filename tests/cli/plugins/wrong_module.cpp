// SPDX-License-Identifier: Apache-2.0
/// A plain module that makes the mistake that its board names (`what`): a plug-in of test_bus_plugins.py.
#include <stdexcept>

#include <tlm_utils/simple_target_socket.h>

#include "platform/plugin/plugin.h"
using namespace sluice;

struct WrongModuleParameters {
  std::string what;
  static void describe(base::Schema<WrongModuleParameters>& s) {
    s.summary("module with a mistake");
    s.add("what", &WrongModuleParameters::what, "its mistake").setting();
  }
};

struct WrongModule : sc_core::sc_module {
  using Parameters = WrongModuleParameters;
  static constexpr const char* kCompatible = "test,wrong";
  tlm_utils::simple_target_socket<WrongModule> socket{"socket"};

  static std::uint64_t size(const Parameters& p) {
    if (p.what == "size throws") throw std::runtime_error("no size");
    return p.what == "no size" ? 0 : 16;
  }
  static std::vector<part::FirmwareProperty> firmware_properties(const Parameters& p) {
    if (p.what == "properties throw") throw 1;
    return {};
  }
  WrongModule(sc_core::sc_module_name name, const Parameters& p) : sc_module(name), what_(p.what) {
    if (p.what == "built throws") throw std::runtime_error("not today");
    socket.register_b_transport(this, &WrongModule::access);
  }

 private:
  void access(tlm::tlm_generic_payload& trans, sc_core::sc_time&) {
    if (what_ == "access throws") throw std::runtime_error("no access");
    if (what_ == "never answers") wait(never_);
    trans.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::string what_;
  sc_core::sc_event never_;
};

SLUICE_PLUGIN(devices) { devices.add_bus_device<WrongModule>("wrong", "wrong module"); }
