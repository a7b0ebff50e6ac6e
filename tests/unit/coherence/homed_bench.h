// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Harts, a link and a home of lines, for tests.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/coherence/lines/homed_lines.h"
#include "tests/unit/coherence/line_hart.h"
#include "tests/unit/fresh_kernel.h"

namespace sluice {

using namespace base::literals;
using coherence::CoherentLatencies;
using coherence::CoherentLink;
using coherence::HomedLines;
using Hart = LineHart;

inline constexpr std::uint64_t kBase = 0x1000'0000;

/// Answers a request after `latency` with a line full of `value`, if `answers` is set. What comes back is its value.
struct Home : base::LineHome {
  base::LineCaches* caches = nullptr;
  base::Time latency = 1_us;
  bool answers = true, refuses = false, refuses_own = false, alone = true, unlocks = true;
  std::uint8_t value = 1;
  unsigned resets = 0;
  std::uint64_t last = 0;  ///< number of the latest request
  bool taken = false;
  std::vector<std::pair<std::uint64_t, bool>> asked;
  std::vector<unsigned> by;
  std::vector<bool> unheld;
  std::vector<std::pair<std::uint64_t, std::uint8_t>> back;
  std::vector<std::pair<base::Time, std::uint64_t>> recalled;

  void attach(base::LineCaches& c, std::uint64_t) override { caches = &c; }
  void caches_reset() override { ++resets; }
  void line_requested(const base::LineRequest& r) override {
    asked.emplace_back(r.line - kBase, r.own);
    by.push_back(r.hart);
    unheld.push_back(r.is_unheld);
    last = r.number;
    if (!answers) return;
    if (latency == base::Time{}) return answer(r.number, r.own);
    base::calendar().after(latency, base::path_key("home"), [this, n = r.number, own = r.own] { answer(n, own); });
  }
  void line_written(const base::LineWritten& w) override {
    back.emplace_back(w.line - kBase, w.bytes[3]);
    value = w.bytes[3];
  }
  void line_recalled(std::uint64_t line) override {
    recalled.emplace_back(base::now(), line - kBase);
    if (unlocks) caches->unlock(line);
  }
  void answer(std::uint64_t request, bool own) {
    if (refuses || (refuses_own && own)) return void(caches->refuse(request));
    const std::vector<std::uint8_t> bytes(caches->line_bytes(), value);
    taken = caches->grant(request, bytes, alone);
  }
};

/// The link takes no time unless a test says so.
struct Bench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 100_ns};
  HomedLines lines;
  CoherentLink link;
  Home home;
  std::deque<std::unique_ptr<Hart>> harts;

  explicit Bench(unsigned n = 1, const coherence::Dialect& dialect = coherence::kOnDie, bool has_owned = false,
                 CoherentLatencies latencies = kNoLatencies, base::Ratio rate = base::Ratio(0))
      : lines(n, dialect.line_bytes == 0 ? 64 : dialect.line_bytes, 2, has_owned),
        link("link", dialect, rate, latencies) {
    lines.add(home, kBase, 4096, "device.home", link);
  }
  void hart(std::function<void(Hart&)> f) {
    const auto n = static_cast<unsigned>(harts.size());
    harts.push_back(std::make_unique<Hart>(("hart" + std::to_string(n)).c_str(), scheduler, lines, n, std::move(f)));
  }
  void run() { scheduler.run_until(base::Time::max()); }
  void at(base::Time t, std::function<void()> f) {
    base::calendar().at(t, base::path_key("test"),
                        [f = std::make_shared<std::function<void()>>(std::move(f))] { (*f)(); });
  }
};

struct Watcher : base::LineWatcher {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> told;
  void line_changed(std::uint64_t address, std::uint64_t length) override {
    told.emplace_back(address - kBase, length);
  }
};

}  // namespace sluice
