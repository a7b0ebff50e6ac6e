// SPDX-License-Identifier: Apache-2.0
/// A switch that keeps each TLP longer: a plug-in of test_switch_plugins.py.
#include "models/base/time/calendar.h"
#include "platform/plugin/plugin.h"
using namespace sluice;

struct DelayingParameters {
  pcie::Switch::Parameters fabric;
  base::Time extra;
  std::string wrong;
  static void describe(base::Schema<DelayingParameters>& s) {
    s.summary("switch that keeps TLPs longer");
    s.include("fabric", &DelayingParameters::fabric);
    s.add("wrong", &DelayingParameters::wrong, "its mistake").setting();
    s.add("extra", &DelayingParameters::extra, "more than the latency")
        .range(base::Time{}, base::Time::us(1))
        .setting();
  }
};

class DelayingSwitch : public pcie::Switch {
 public:
  using Parameters = DelayingParameters;
  static unsigned downstream_ports(const Parameters& p) {
    if (p.wrong == "ports throw") throw std::runtime_error("no ports");
    return p.fabric.downstream_ports + (p.wrong == "ports");
  }
  DelayingSwitch(sc_core::sc_module_name name, const Parameters& p)
      : Switch(name, p.fabric), extra_(p.extra), wrong_(p.wrong) {
    if (p.fabric.downstream_ports == 13) throw std::runtime_error("13 ports bring bad luck");
  }

 private:
  void end_of_elaboration() override {
    if (wrong_ == "elaboration") throw std::runtime_error("no time");
  }
  void before_routing(unsigned ingress, pcie::TlpPtr& tlp) override {
    if (wrong_ == "port 99") return forward(99, std::move(tlp));
    if (wrong_ == "null") return forward(0, pcie::TlpPtr());
    base::calendar().after(extra_, key(), [this, ingress, t = std::move(tlp), resets = resets_]() mutable {
      if (resets != resets_) return;
      ++kept_;
      route(ingress, std::move(t));
    });
  }
  void fabric_reset() override { ++resets_; }
  void register_statistics(base::StatisticsGroup& group) override {
    group.counter("kept", "TLPs", "kept longer", kept_);
  }

  base::Time extra_;
  std::string wrong_;
  std::uint64_t kept_ = 0, resets_ = 0;
};

SLUICE_PLUGIN(devices) { devices.add_switch<DelayingSwitch>("delaying", "delaying switch"); }
