// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A PCIe device alone in a slot of eight lanes, below a root complex with memory, and enumerated: for the test of any
/// model, of a plug-in too (docs/tutorials/own-device.md).

#include <type_traits>
#include <utility>

#include "models/base/parameters/random.h"
#include "tests/unit/pcie/pcie_bench.h"

namespace sluice {

template <class Device>
struct DeviceBench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  MessageSink soc;  ///< takes the device's interrupt messages
  pcie::RootComplex::Parameters root_parameters;
  pcie::RootComplex root;
  ScriptedHart hart{"hart", scheduler};
  pcie::Link link;
  Device device;
  std::uint64_t bar = 0;  ///< address of BAR 0
  pcie::RoutingId id = 0;

  explicit DeviceBench(const typename Device::Parameters& p = {}, const pcie::RootComplex::Parameters& r = {})
      : root_parameters(r),
        root("root", r, memory),
        link(base::module_name("pcie.slot0").c_str(), {.lanes = 8}),
        device(make(p)) {
    hart.socket.bind(root.socket);
    root.set_soc_writer(&soc);
    link.connect(root.root_port(0), device.port());
    run([this](ScriptedHart& h) {
      Enumerator e(h, root_parameters);
      e.scan(0);
      for (const auto& f : e.found)
        if (!f.bridge && pcie::bus_of(f.id) != 0) bar = f.bars.at(0), id = f.id;
    });
  }

  /// Runs the script on the hart, and then the simulation until nothing more happens.
  void run(ScriptedHart::Script s) {
    hart.start(std::move(s));
    scheduler.run_until(base::Time::max());
  }
  /// Accesses of registers in BAR 0.
  void write(std::uint64_t offset, std::uint64_t value, unsigned size = 4) {
    run([=, this](ScriptedHart& h) { h.write(bar + offset, value, size); });
  }
  std::uint64_t read(std::uint64_t offset, unsigned size = 4) {
    std::uint64_t v = 0;
    run([&, this](ScriptedHart& h) { v = h.read(bar + offset, size); });
    return v;
  }
  /// Time that `bytes` take on the wire.
  base::Time wire(unsigned bytes) { return link.up().wire_time(bytes); }

 private:
  static Device make(const typename Device::Parameters& p) {
    const std::string name = base::module_name("accel.a");
    if constexpr (std::is_constructible_v<Device, const char*, decltype(p), base::RandomSeed>)
      return Device(name.c_str(), p, base::RandomSeed{});
    else
      return Device(name.c_str(), p);
  }
};

}  // namespace sluice
