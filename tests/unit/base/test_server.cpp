// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/fabric/server.h"
#include "models/base/parameters/random.h"
#include "models/base/time/calendar.h"

using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

/// The first gap by the definition: every reservation is kept, and every time at which a gap could begin is tried.
class Book {
 public:
  Reservation reserve_at(Time asked, Time duration) {
    std::vector<Time> candidates{asked};
    for (const Reservation& r : all_)
      if (r.end > asked) candidates.push_back(r.end);
    std::sort(candidates.begin(), candidates.end());
    const auto fits = [&](Time start) {
      return std::none_of(all_.begin(), all_.end(),
                          [&](const Reservation& r) { return start < r.end && r.start < start + duration; });
    };
    const Time start = *std::find_if(candidates.begin(), candidates.end(), fits);
    all_.push_back({start, start + duration});
    return all_.back();
  }

 private:
  std::vector<Reservation> all_;
};

}  // namespace

TEST_CASE("a server serves in order and keeps its rate", "[server]") {
  calendar().clear();
  Server s(100'000'000'000);  // 100 Gb/s: 84 B take 6.72 ns
  const auto a = s.reserve(84);
  const auto b = s.reserve(84);
  REQUIRE(a.start == 0_ns);
  REQUIRE(a.end == 6720_ps);
  REQUIRE(b.start == a.end);
  calendar().set_now(1_us);
  REQUIRE(s.reserve(84).start == 1_us);
  REQUIRE(s.busy() == 20160_ps);
  REQUIRE(s.bytes() == 252);
}

TEST_CASE("a gap server gives a late caller the gap before an early one", "[server]") {
  GapServer s(1_us);
  REQUIRE(s.reserve_at(100_ns, 10_ns).start == 100_ns);
  REQUIRE(s.reserve_at(20_ns, 10_ns).start == 20_ns);
  REQUIRE(s.reserve_at(95_ns, 10_ns).start == 110_ns);
  REQUIRE(s.reserve_at(20_ns, 10_ns).start == 30_ns);
  REQUIRE(s.reserve_at(0_ns, 20_ns).start == 0_ns);
  REQUIRE(s.reserve_at(0_ns, 10_ns).start == 40_ns);
}

TEST_CASE("a gap server without a window knows everything until it may forget", "[server]") {
  GapServer s({});
  REQUIRE(s.reserve_at(10_ns, 10_ns).start == 10_ns);
  REQUIRE(s.reserve_at(1000_us, 10_ns).start == 1000_us);
  REQUIRE(s.reserve_at(5_ns, 10_ns).start == 20_ns);
  s.forget(29_ns);
  REQUIRE(s.reserve_at(29_ns, 10_ns).start == 30_ns);
  s.forget(40_ns);
  REQUIRE(s.reserve_at(29_ns, 10_ns).start == 29_ns);  // which a caller has said not to ask
}

TEST_CASE("a gap server takes the first gap that is long enough, whatever the order of asking", "[server]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomStream random({seed, 0}, "test.server", "asks");
    constexpr Time kWindow = 300_ns;
    GapServer server(kWindow);
    Book book;
    Time latest;
    for (int i = 0; i < 500; ++i) {
      // Asks as harts do: at most a window before the latest request of all.
      const Time ahead = Time::ns(random.below(40));
      const Time back = std::min(latest, Time::ns(random.below(300)));
      const Time asked = random.chance(1, 2) ? latest + ahead : latest - back;
      latest = std::max(latest, asked);
      const Time duration = Time::ns(1 + random.below(25));
      const Reservation got = server.reserve_at(asked, duration);
      const Reservation wanted = book.reserve_at(asked, duration);
      REQUIRE(got.start == wanted.start);
      REQUIRE(got.end == wanted.end);
    }
  }
}
