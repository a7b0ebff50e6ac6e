// SPDX-License-Identifier: Apache-2.0
/// A workload that waits for ticks of its own: a plug-in of test_workload_plugins.py.
#include <cstdlib>
#include <limits>
#include <optional>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "models/base/time/calendar.h"
#include "models/base/time/key.h"
#include "platform/plugin/plugin.h"
using namespace sluice;
using namespace sluice::base::literals;

struct TickParameters {
  unsigned ticks = 3;
  unsigned wanted = 3;
  base::Time period = 10_us;
  static void describe(base::Schema<TickParameters>& s) {
    s.summary("ticks of a clock");
    s.add("ticks", &TickParameters::ticks, "that come").range(0, 1000).setting();
    s.add("wanted", &TickParameters::wanted, "that it waits for").range(1, 1000).setting();
    s.add("period", &TickParameters::period, "between two").range(1_ns, 1_s).setting();
  }
};

class Ticks : public workload::Workload {
 public:
  using Parameters = TickParameters;
  Ticks(const Parameters& p, const workload::Surroundings& board) : p_(p), board_(board) {
    if (p.wanted == 13) throw workload::NotForThisBoard("13 ticks bring bad luck");
    if (p.wanted == 14) throw 14;
  }
  std::vector<part::FirmwareProperty> firmware_properties() const override {
    refuse(25);
    if (p_.wanted == 26) throw workload::NotForThisBoard("26 ticks are too many to tell");
    if (p_.wanted == 27) return {{"stdout-path", std::string("/soc/uart")}};
    return {{"test,ticks", p_.ticks}};
  }
  void start(workload::Run& run) override {
    refuse(20);
    run_ = &run;
    next();
  }
  std::uint64_t ended() const override { return came_; }
  std::uint64_t under_way() const override { return p_.wanted - came_; }
  std::optional<double> progress() const override { return double(came_) / p_.wanted; }
  std::string stall_reason() const override { return "the clock stands still"; }
  std::string stall_details() const override { return "the clock has ticked " + std::to_string(came_) + " times\n"; }
  std::string failure(bool) const override {
    refuse(21);
    return p_.wanted == 7 ? "7 ticks are wrong" : "";
  }
  void add_result(workload::Json& result) const override {
    refuse(22);
    for (unsigned n = 1; n <= came_; ++n) result["rows"].push_back({{"tick", n}, {"ns", n * p_.period.nanoseconds()}});
    result["rows"].push_back({{"note", "no tick"}});
    result["ticks"] = {{"came", came_}, {"wires", board_.wires.size()}};
    if (p_.wanted == 24) result["board"] = 0;
    if (p_.wanted == 28) result = workload::Json::array();
    if (p_.wanted == 29) result["ticks"]["mean"] = std::numeric_limits<double>::quiet_NaN();
    if (p_.wanted == 30) result["text"] = "\xff";
    if (p_.wanted == 31) result["\xff"] = 0;
    if (p_.wanted == 32) result["plots"] = workload::Json::array();
  }
  std::vector<workload::ListPlot> plots() const override {
    refuse(33);
    workload::ListPlot plot{"ticks", "Ticks", "", "/rows", {"tick", "tick (count)"}, {{"ns", "came"}}, "time (ns)", ""};
    if (p_.wanted == 34) plot.name = "Ticks";
    if (p_.wanted == 35) plot.list = "/ticks";
    if (p_.wanted == 36) plot.list = "rows";
    if (p_.wanted == 37) plot.y_title = "\xff";
    return {plot};
  }
  static std::optional<workload::Comparable> comparable(const Parameters& p) {
    if (p.wanted != 38) return {};
    return workload::Comparable{std::to_string(p.ticks) + " ticks", ""};
  }
  std::string report(const workload::Json& result) const override {
    refuse(23);
    return "   " + result.at("ticks").at("came").dump() + " ticks\n\n";
  }

 private:
  void next() {
    if (came_ == p_.wanted) return run_->finish();
    if (came_ == 1) run_->begin_measuring();
    if (came_ < p_.ticks) base::calendar().after(p_.period, base::path_key("ticks"), [this] { ++came_, next(); });
  }
  void refuse(unsigned wanted) const {
    if (p_.wanted == wanted) throw std::logic_error("no luck today");
  }
  const Parameters& p_;
  const workload::Surroundings& board_;
  workload::Run* run_ = nullptr;
  unsigned came_ = 0;
};

/// Builds nothing, and has nothing to say.
class Nothing : public workload::WorkloadFactory {
 public:
  std::string summary() const override { return "nothing"; }
  std::unique_ptr<workload::Workload> build(const void*, const workload::Surroundings&) const override {
    return nullptr;
  }
  std::string explain_exit(std::string_view, unsigned, const std::vector<pcie::Endpoint*>&) const override {
    throw std::logic_error("no words");
  }
};

SLUICE_PLUGIN(devices) {
  devices.add_workload<Ticks>("ticks", "ticking workload");
  if (getenv("PLUGIN_NOTHING"))
    devices.add_workload<TickParameters>("nothing", "workload of nothing", std::make_shared<const Nothing>());
}
