// SPDX-License-Identifier: Apache-2.0
/// A device that makes the mistake that its board names (`what`): a plug-in of test_plugins.py.
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "models/base/measure/trace.h"
#include "models/base/registers/register_bank.h"
#include "models/base/time/calendar.h"
#include "models/pcie/endpoint/endpoint.h"
#include "platform/plugin/plugin.h"
using namespace sluice;
using namespace sluice::base::literals;
using Kind = pcie::Bar::Kind;

struct WrongParameters {
  std::string what;
  std::string file;
  pcie::Endpoint::Parameters pcie;
  static void describe(base::Schema<WrongParameters>& s) {
    s.summary("device with a mistake");
    s.add("what", &WrongParameters::what, "its mistake").setting();
    s.add("file", &WrongParameters::file, "what it prints").names_file().setting();
    s.include("pcie", &WrongParameters::pcie);
    s.rule("what", [](const WrongParameters& p) -> std::string {
      if (p.what == "rule throws") throw std::runtime_error("no rule");
      if (p.what == "rule throws 1") throw 1;
      return "";
    });
  }
};

class Wrong : public pcie::Endpoint {
 public:
  using Parameters = WrongParameters;
  Wrong(sc_core::sc_module_name name, const Parameters& p)
      : Endpoint(name, p.pcie, function(p.what)), what_(p.what), bank_(path(), p.what == "large bank" ? 4100 : 4096) {
    bank_.add({.name = "value", .offset = 0});
    if (what_ == "below the table") bank_.add({.name = "low", .offset = 0x818});
    if (what_ == "below the PBA") bank_.add({.name = "pend", .offset = 0xbf0, .count = 8});
    if (what_ == "report throws") SC_REPORT_ERROR("part", "no kernel");
    if (what_ == "report is fatal") SC_REPORT_FATAL("part", "no kernel");
    if (what_.starts_with("thread ")) {
      SC_HAS_PROCESS(Wrong);
      SC_THREAD(thread);
    }
    if (what_ == "method stands still") {
      SC_HAS_PROCESS(Wrong);
      SC_METHOD(method);
    }
    if (what_ == "counter falls") fall();
    if (!p.file.empty()) std::cerr << "it has " << std::ifstream(p.file).rdbuf();
    if (what_ == "stands still" || what_ == "creeps") base::calendar().at(1_us, key(), [this] { begin(); });
    if (what_ == "entry throws") base::calendar().at(1_us, key(), [] { throw std::runtime_error("no luck\ntoday"); });
  }
  void register_statistics(base::StatisticsGroup& group) override {
    group.counter("things", "things", "none", things_);
    if (what_ == "statistic twice") group.counter("things", "things", "none", things_);
    if (what_ == "statistics throw") throw 1;
    if (what_ == "null statistic") group.counter_of("none", "1", "none", nullptr);
    if (what_ == "counter throws")
      group.counter_of("bad", "1", "none", []() -> std::uint64_t { throw std::runtime_error("no count"); });
    if (what_ == "derived throws")
      group.derived("bad", "1", "none", [](const base::Measured&) -> double { throw std::runtime_error("no value"); });
    if (what_ == "derived of another")
      group.derived("bad", "1", "none", [this](const base::Measured& m) { return double(m(other_)); });
    if (what_ == "counter falls") group.counter("bad", "1", "none", falls_);
  }

 private:
  static Function function(const std::string& what) {
    Function f;
    f.identity = {0x534c, 0x0777, 0x120000, 1, 0x534c, 0x0777};
    f.bars[0] = {Kind::kMemory64, true, 4096};
    f.msix = {.vectors = 2, .table_offset = 0x800, .pba_offset = 0xc00};
    if (what == "bar of 0") f.bars[0].size = 0;
    if (what == "bar of 5000") f.bars[0].size = 5000;
    if (what == "bar of 8") f.bars[2] = {Kind::kMemory32, false, 8};
    if (what == "bar of 4 GiB") f.bars[2] = {Kind::kMemory32, false, 1ull << 32};
    if (what == "bar of 8 EiB") f.bars[2] = {Kind::kMemory64, true, 1ull << 63};
    if (what == "wide bar 5") f.bars[5] = {Kind::kMemory64, true, 4096};
    if (what == "bar 1") f.bars[1] = {Kind::kMemory32, false, 4096};
    if (what == "table beyond") f.msix.table_offset = 0xff0;
    if (what == "table nowhere") f.msix.table_bar = 2;
    if (what == "table at 4") f.msix.table_offset = 0x804;
    if (what == "pba beyond") f.msix.pba_offset = 0x1000;
    if (what == "pba in bar 9") f.msix.pba_bar = 9;
    if (what == "table and pba") f.msix.pba_offset = 0x818;
    if (what == "vectors") f.msix.vectors = 4000000000;
    return f;
  }
  void mmio_read(unsigned, std::uint64_t, unsigned, pcie::MmioReply reply) override { reply.value(0); }
  void mmio_write(unsigned, std::uint64_t, std::span<const std::uint8_t>, const base::Journey&) override {}
  void before_end_of_elaboration() override {
    if (what_ == "before_end_of_elaboration throws") throw std::runtime_error("no board");
  }
  void end_of_elaboration() override {
    if (what_ == "end_of_elaboration throws") throw std::runtime_error("no board");
  }
  void start_of_simulation() override {
    if (what_ == "start_of_simulation throws") throw std::runtime_error("no board");
    if (what_ == "start_of_simulation reports") SC_REPORT_ERROR("part", "no board");
  }
  void clock_stopped(bool) override {
    if (what_ == "clock throws") throw std::runtime_error("no clock");
  }
  void config_written(unsigned) override {
    if (what_ == "handler throws") throw std::runtime_error("no doorbell");
    if (what_ == "handler throws 1") throw 1;
    if (what_ == "handler reports") SC_REPORT_ERROR("part", "no kernel");
    if (what_ == "handler is fatal") SC_REPORT_FATAL("part", "no kernel");
    if (what_ == "handler warns") SC_REPORT_WARNING("part", "no kernel");
    if (what_ == "handler takes memory") things_ += std::vector<char>(std::size_t{1} << 62).size();
    if (what_.starts_with("handler stops the kernel")) sc_core::sc_stop();
    if (what_ == "handler stops the kernel and throws") throw std::runtime_error("no doorbell");
    if (what_ == "null read") dma_read(0x80000000, 64, {}, nullptr);
    if (what_ == "no track") base::trace().slice(12345, "x", base::now(), base::now());
    if (what_ == "resumes") resume();
    if (what_ == "clock throws") stop();
    if (what_ == "past entry") base::calendar().at(0_ns, key(), [] {});
    if (what_ == "late entry") base::calendar().after(base::Time::max(), key(), [] {});
  }
  void fall() {
    --falls_;
    base::calendar().after(1_us, key(), [this] { fall(); });
  }
  void method() { next_trigger(sc_core::SC_ZERO_TIME); }
  void thread() {
    wait(1, sc_core::SC_US);
    std::ofstream("started");
    if (what_ == "thread throws") throw std::runtime_error("no luck\ntoday");
    if (what_ == "thread throws 1") throw 1;
    if (what_ == "thread is fatal") SC_REPORT_FATAL("part", "no kernel");
    if (what_ == "thread works")
      for (;;) wait(1, sc_core::SC_US);
    for (;;) wait(what_ == "thread creeps", sc_core::SC_FS);
  }
  void begin() {
    std::ofstream("started");
    spin();
  }
  void spin() {
    base::calendar().after(base::Time::fs(what_ == "creeps"), key(), [this] { spin(); });
  }

  std::string what_;
  base::RegisterBank bank_;
  std::uint64_t things_ = 0, other_ = 0, falls_ = 1000000;
};

struct Mistaken {
  WrongParameters wrong;
  std::string word;
  unsigned number = 0;
  static void describe(base::Schema<Mistaken>& s) {
    s.summary("device with a mistaken parameter");
    s.include("", &Mistaken::wrong);
    const std::string which = getenv("PLUGIN_PARAMETER");
    if (which == "reference") s.add("word", &Mistaken::word, "of nothing").refers_to("nosuchkind").setting();
    if (which == "rule") s.rule("what", nullptr);
    if (which == "key") s.add("", &Mistaken::word, "nothing").setting();
    if (which == "choices") s.add("word", &Mistaken::word, "one of none").choices({}).setting();
    if (which == "multiple") s.add("number", &Mistaken::number, "of nothing").multiple_of(0).setting();
  }
};
struct MistakenDevice : Wrong {
  using Parameters = Mistaken;
  MistakenDevice(sc_core::sc_module_name name, const Parameters& p) : Wrong(name, p.wrong) {}
};
SLUICE_PLUGIN(devices) {
  devices.add<Wrong>("wrong", "wrong device");
  if (getenv("PLUGIN_PARAMETER")) devices.add<MistakenDevice>("mistaken", "mistaken device");
}
