// SPDX-License-Identifier: Apache-2.0
/// A NIC that counts the frames it receives and sends none: a plug-in of test_nic_plugins.py.
#include <cstdlib>
#include <stdexcept>

#include "platform/plugin/plugin.h"
using namespace sluice;

struct DeafParameters {
  std::string address = "02:00:00:00:00:09";
  net::Mac::Parameters mac;
  pcie::Endpoint::Parameters pcie;
  static void describe(base::Schema<DeafParameters>& s) {
    s.summary("NIC that only listens");
    s.add("address", &DeafParameters::address, "station address").setting();
    s.include("mac", &DeafParameters::mac);
    s.include("pcie", &DeafParameters::pcie);
  }
};

class Deaf : public nic::PcieNic, private net::Mac::Client {
 public:
  using Parameters = DeafParameters;
  Deaf(sc_core::sc_module_name name, const Parameters& p, net::Wire& wire, net::Wire::End end)
      : PcieNic(name, p.pcie, function()), mac_(base::module_name(path() + ".mac").c_str(), p.mac, wire, end) {
    if (getenv("PLUGIN_THROWS_LATE")) throw std::logic_error("it is broken");
    if (!getenv("PLUGIN_NO_CLIENT")) mac_.set_client(*this);
  }
  net::Mac& mac() override { return mac_; }
  void register_statistics(base::StatisticsGroup& group) override {
    group.counter("heard", "frames", "that came from the wire", heard_);
  }

 private:
  static Function function() {
    Function f;
    f.identity = {.vendor = 0x534c, .device = 0x0999, .class_code = 0x020000};
    f.bars[0] = {pcie::Bar::Kind::kMemory64, true, 4096};
    return f;
  }
  void mac_received(net::PacketPtr, base::Time) override {
    if (getenv("PLUGIN_THROWS_AT_FRAME")) throw std::logic_error("it cannot hear");
    ++heard_;
  }
  void mac_dropped(Drop) override {}
  void link_changed(bool) override {}
  void mmio_read(unsigned, std::uint64_t, unsigned, pcie::MmioReply reply) override { reply.value(heard_); }
  void mmio_write(unsigned, std::uint64_t, std::span<const std::uint8_t>, const base::Journey&) override {}
  void function_reset() override {}

  net::Mac mac_;
  std::uint64_t heard_ = 0;
};

SLUICE_PLUGIN(devices) { devices.add_nic<Deaf>("deaf", "deaf NIC"); }
