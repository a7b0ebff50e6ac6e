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
    const bool first = request.line == first_;
    const base::Time at = first ? period_ * (base::now() / period_ + 1) : base::now();
    base::calendar().at(at, key(), [this, first, n = request.number, line = request.line] {
      if (line > first_ + caches_->line_bytes()) return void(caches_->refuse(n));
      std::vector<std::uint8_t> bytes(caches_->line_bytes());
      if (!first) return void(caches_->grant(n, bytes, true));
      const Held second = caches_->recall(line + caches_->line_bytes(), base::LineState::kInvalid);
      if (second.state == base::LineState::kModified) stored_ = second.bytes[0];
      bytes[0] = static_cast<std::uint8_t>(++count_);
      bytes[1] = static_cast<std::uint8_t>(stored_);
      if (!caches_->grant(n, bytes, true)) return;
      // The line is recalled, so that the next load asks again.
      base::calendar().after(base::Time::ns(1), key(), [this] { caches_->recall(first_, base::LineState::kInvalid); });
    });
  }
  void line_written_back(std::uint64_t, std::span<const std::uint8_t> bytes) override { stored_ = bytes[0]; }

 private:
  using Held = base::LineCaches::Held;
  void register_statistics(base::StatisticsGroup& group) override {
    group.counter("answers", "lines", "given", count_);
    bank_.register_statistics(group);
  }

  base::Time period_;
  base::LineCaches* caches_ = nullptr;
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t stored_ = 0;
};

SLUICE_PLUGIN(devices) { devices.add_bus_device<LineBox>("line-box", "home of two cache lines"); }
