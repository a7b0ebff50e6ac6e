// SPDX-License-Identifier: Apache-2.0
/// Lines with a home of their own under stress, with every access checked.
#include <cstdlib>
#include <map>
#include <set>

#include <catch2/catch.hpp>

#include "models/base/parameters/random.h"
#include "tests/unit/coherence/homed_bench.h"

using namespace sluice;

TEST_CASE("the checker finds each kind of incoherence", "[homed]") {
  coherence::LineChecker checker([](std::uint64_t) { return "who"; });
  const std::vector<std::uint8_t> old(64, 1);
  std::vector<std::uint8_t> line = old;
  const auto told = [](auto f) {
    try {
      f();
    } catch (const coherence::Incoherence& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  checker.granted(kBase, old, true);
  checker.used(0, kBase, line, true);
  line[5] = 9;  // the store
  // What another hart reads, what a home gets back, and what it grants must all be that.
  REQUIRE(told([&] { checker.used(1, kBase, old, false); }) ==
          "line 0x10000000: hart 1 has 0x01 in byte 5, where 0x09 was written last; who");
  REQUIRE(told([&] { checker.written(kBase, old); }) ==
          "line 0x10000000: what comes back to the home has 0x01 in byte 5, where 0x09 was written last; who");
  REQUIRE_FALSE(told([&] { checker.granted(kBase, old, false); }).empty());
  REQUIRE(told([&] { checker.used(1, kBase, line, false); }).empty());
  REQUIRE(told([&] { checker.granted(kBase, old, true); }).empty());  // nobody has it: the device may change it
  REQUIRE(told([&] { checker.used(1, kBase, old, false); }).empty());
  REQUIRE(told([&] { checker.held(kBase, 1, 2); }) == "line 0x10000000: 1 harts may write it, and 2 may read it; who");
  for (const auto& [writers, readers] : {std::pair{0u, 3u}, std::pair{1u, 1u}, std::pair{0u, 0u}})
    REQUIRE(told([&, w = writers, r = readers] { checker.held(kBase, w, r); }).empty());
  checker.reset();
  REQUIRE(told([&] { checker.used(1, kBase, line, false); }).empty());
}

TEST_CASE("a home that changes bytes that caches have is found", "[homed]") {
  Bench b(2);
  b.lines.check();
  b.home.alone = false;
  std::string component, what;
  b.hart([&](Hart& h) { h.load(kBase); });
  b.hart([&](Hart& h) {
    h.at(3_us);
    b.home.value = 2;
    h.load(kBase);
  });
  try {
    b.run();
  } catch (const base::ComponentError& e) {
    what = e.what();
  }
  REQUIRE(what ==
          "line 0x10000000: what the home grants, though caches hold the line, has 0x02 in byte 0, where 0x01 was "
          "written last; hart 0 has it shared, hart 1 has it asked for to read, its home takes hart 0 to hold "
          "shared, hart 1 to hold shared");
}

namespace {

/// Answers after a while that is drawn, and recalls lines at times that are.
struct DrawnHome : base::LineHome {
  base::LineCaches* caches = nullptr;
  base::RandomStream random{{1, 0}, "home", "stress"};
  std::map<std::uint64_t, std::vector<std::uint8_t>> bytes;
  std::set<std::uint64_t> recalled;
  unsigned recalls = 0, most = 0;

  void attach(base::LineCaches& c, std::uint64_t) override { caches = &c; }
  std::vector<std::uint8_t>& of(std::uint64_t line) {
    return bytes.try_emplace(line, caches->line_bytes(), std::uint8_t{0}).first->second;
  }
  void later(std::function<void()> f) {
    base::calendar().after(base::Time::ns(random.below(300)), base::path_key("home"),
                           [f = std::make_shared<std::function<void()>>(std::move(f))] { (*f)(); });
  }
  void line_requested(const base::LineRequest& r) override { try_answer(r); }
  /// A request for a line that it has recalled is answered when the line is unlocked.
  void try_answer(const base::LineRequest& r) {
    later([this, r] {
      if (recalled.contains(r.line)) return try_answer(r);
      caches->grant(r.number, of(r.line), random.below(2) == 0);
      const std::uint64_t line = kBase + random.below(6) * caches->line_bytes();
      if (recalls == most || !recalled.insert(line).second) return;
      ++recalls;
      caches->recall(line, random.below(2) == 0 ? base::Recall::nothing : base::Recall::to_read);
    });
  }
  void line_written(const base::LineWritten& w) override { of(w.line).assign(w.bytes.begin(), w.bytes.end()); }
  void line_recalled(std::uint64_t line) override {
    later([this, line] {
      recalled.erase(line);
      caches->unlock(line);
    });
  }
};

/// Four harts add to bytes of six lines; each holds two of them at most. Returns the sum of all bytes of the lines.
/// tight: one credit in each channel, and a slow link, so that messages of different channels pass each other.
std::uint64_t stress(const coherence::Dialect& dialect, bool has_owned, bool tight, unsigned seed, unsigned accesses,
                     std::uint64_t& additions) {
  const FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 50_ns};
  HomedLines lines(4, dialect.line_bytes == 0 ? 64 : dialect.line_bytes, 2, has_owned);
  CoherentLink link("link", dialect, base::Ratio(tight ? 300'000 : 100'000),
                    {7_ns, 5_ns, 11_ns, 3_ns, 2_ns, 0_ns, 0_ns, tight ? 1u : 4u, tight ? 90_ns : 13_ns});
  DrawnHome home;
  home.random = base::RandomStream({seed, 0}, "home", "stress");
  home.most = accesses / 3;
  lines.check();
  lines.add(home, kBase, 4096, "device.home", link);
  std::deque<std::unique_ptr<Hart>> harts;
  unsigned ended = 0;
  std::uint64_t sum = 0;
  for (unsigned n = 0; n < 4; ++n)
    harts.push_back(std::make_unique<Hart>(("hart" + std::to_string(n)).c_str(), scheduler, lines, n, [&, n](Hart& h) {
      base::RandomStream random({seed, n}, "hart", "stress");
      for (unsigned i = 0; i < accesses; ++i) {
        h.at(h.runner.time() + base::Time::ns(random.below(40)));
        const std::uint64_t address = kBase + random.below(6) * lines.line_bytes() + random.below(8);
        if (random.below(3) == 0) {
          h.load(address);
          continue;
        }
        // An atomic addition: nobody else comes between.
        std::uint8_t* bytes = lines.hold(n, address, true);
        ++*bytes;
        ++additions;
        lines.let_go(n);
      }
      if (++ended < 4) return;
      h.at(h.runner.time() + 10_us);
      for (std::uint64_t line = 0; line < 6; ++line)
        for (std::uint64_t byte = 0; byte < 8; ++byte)
          sum += static_cast<unsigned>(h.load(kBase + line * lines.line_bytes() + byte));
    }));
  scheduler.run_until(base::Time::max());
  REQUIRE(ended == 4);
  REQUIRE(lines.checked() > 4 * accesses);
  return sum;
}

}  // namespace

TEST_CASE("harts that write the same lines lose no write, whatever the home recalls", "[homed]") {
  const unsigned accesses = std::getenv("SLUICE_FULL") ? 100'000 : 1'000;
  for (const auto* dialect : {&coherence::kEci, &coherence::kCxl, &coherence::kOnDie})
    for (const bool has_owned : {false, true})
      for (const unsigned seed : {1u, 2u}) {
        std::uint64_t additions = 0;
        const std::uint64_t sum = stress(*dialect, has_owned, seed == 2, seed, accesses, additions);
        INFO(dialect->name << (has_owned ? ", MOESI" : ", MESI") << ", seed " << seed);
        // Bytes wrap.
        REQUIRE(additions % 256 == sum % 256);
      }
}
