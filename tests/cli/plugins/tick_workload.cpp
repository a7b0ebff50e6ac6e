// SPDX-License-Identifier: Apache-2.0
/// A workload that waits for ticks of its own: a plug-in of test_workload_plugins.py.
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
  std::vector<part::FirmwareProperty> firmware_properties() const override { return {{"test,ticks", p_.ticks}}; }
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
    result["ticks"] = {{"came", came_}, {"wires", board_.wires.size()}};
    if (p_.wanted == 24) result["board"] = 0;
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

SLUICE_PLUGIN(devices) { devices.add_workload<Ticks>("ticks", "ticking workload"); }
