// SPDX-License-Identifier: Apache-2.0
/// The home of two cache lines, a plug-in of test_bus_plugins.py. A load of the first line is answered at the next
/// multiple of `period`, with a count and with the byte last stored in the second line, which is recalled for this.
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/base/systemc/model.h"
#include "platform/plugin/plugin.h"
using namespace sluice;

struct LineBoxParameters {
  base::Time period = base::Time::us(2);
  base::Bytes lines = base::Bytes(4096);
  static void describe(base::Schema<LineBoxParameters>& s) {
    s.summary("home of two cache lines");
    s.add("period", &LineBoxParameters::period, "at whose ends loads are answered")
        .range(base::Time::ns(1), base::Time::ms(1))
        .setting();
    s.add("lines_size", &LineBoxParameters::lines, "bytes of lines").setting();
  }
};

class LineBox : public base::Model, public base::LineHome {
  base::RegisterBank bank_{path(), 16};

 public:
  using Parameters = LineBoxParameters;
  static constexpr std::uint64_t kSize = 16;
  static constexpr const char* kCompatible = "test,line-box";
  base::RegisterSocket socket{"socket", bank_};

  static std::uint64_t lines_size(const Parameters& p) { return p.lines.count(); }
  LineBox(sc_core::sc_module_name name, const Parameters& p) : Model(name), period_(p.period) {
    bank_.add({.name = "stored", .access = base::Access::ro, .on_read = [this](unsigned) { return stored_; }});
  }
  void attach(base::LineCaches& caches, std::uint64_t first) override {
    caches_ = &caches;
    first_ = first;
  }
  void line_requested(const base::LineRequest& request) override {
    if (request.line > second()) return void(caches_->refuse(request.number));
    if (request.line == second()) return void(caches_->grant(request.number, line(stored_, 0), true));
    request_ = request.number;
    base::calendar().at(period_ * (base::now() / period_ + 1), key(),
                        [this] { caches_->recall(second(), base::Recall::nothing); });
  }
  void line_written(const base::LineWritten& w) override { stored_ = w.bytes[0]; }
  void line_recalled(std::uint64_t recalled) override {
    caches_->unlock(recalled);
    if (recalled == first_ || !caches_->grant(request_, line(++count_, stored_), true)) return;
    // The line is recalled, so that the next load asks again.
    base::calendar().after(base::Time::ns(1), key(), [this] { caches_->recall(first_, base::Recall::nothing); });
  }

 private:
  std::uint64_t second() const { return first_ + caches_->line_bytes(); }
  std::vector<std::uint8_t> line(std::uint64_t first, std::uint64_t second) const {
    std::vector<std::uint8_t> bytes(caches_->line_bytes());
    bytes[0] = static_cast<std::uint8_t>(first);
    bytes[1] = static_cast<std::uint8_t>(second);
    return bytes;
  }
  void register_statistics(base::StatisticsGroup& group) override {
    group.counter("answers", "lines", "given", count_);
    bank_.register_statistics(group);
  }

  base::Time period_;
  base::LineCaches* caches_ = nullptr;
  std::uint64_t first_ = 0;
  std::uint64_t request_ = 0;  ///< the latest one for the first line
  std::uint64_t count_ = 0;
  std::uint64_t stored_ = 0;
};

SLUICE_PLUGIN(devices) { devices.add_bus_device<LineBox>("line-box", "home of two cache lines"); }
