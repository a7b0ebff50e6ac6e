// SPDX-License-Identifier: Apache-2.0
/// Devices that cannot be built, and a plug-in that throws where an environment variable says so: for test_plugins.py.
#include <stdexcept>

#include "platform/plugin/plugin.h"
#include "sum.h"
int early() {
  if (getenv("PLUGIN_THROWS_EARLY")) throw std::runtime_error("too early");
  if (getenv("PLUGIN_THROWS_INT_EARLY")) throw 1;
  return 0;
}
const int at_start = early();
struct Broken : Sum {
  Broken(sc_core::sc_module_name name, const Parameters& p) : Sum(name, p) {
    if (getenv("PLUGIN_THROWS_INT_LATE")) throw 1;
    throw std::logic_error("it is broken");
  }
};
struct OutOfRange {
  base::Time latency = 2_ns;
  pcie::Endpoint::Parameters pcie;
  static void describe(base::Schema<OutOfRange>& s) {
    s.summary("wrong");
    s.add("latency", &OutOfRange::latency, "of nothing").range(5_ns, 9_ns).setting();
    s.include("pcie", &OutOfRange::pcie);
  }
};
struct WrongDefault : Sum {
  using Parameters = OutOfRange;
  WrongDefault(sc_core::sc_module_name name, const Parameters&) : Sum(name, {}) {}
};
SLUICE_PLUGIN(devices) {
  devices.add<Broken>("broken", "broken engine");
  if (getenv("PLUGIN_THROWS")) throw std::runtime_error("no luck\ntoday");
  if (getenv("PLUGIN_THROWS_INT")) throw 1;
  if (const char* name = getenv("PLUGIN_NAME")) devices.add<Broken>(name, "named engine");
  if (getenv("PLUGIN_DEFAULT")) devices.add<WrongDefault>("wrong-default", "engine with a wrong default");
}
