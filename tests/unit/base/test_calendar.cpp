// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/time/calendar.h"

using namespace sluice::base;
using namespace sluice::base::literals;

TEST_CASE("entries run by time, then component key, then order of making", "[calendar]") {
  Calendar c;
  std::string order;
  c.at(5_ns, 2, [&] { order += 'd'; });
  c.at(5_ns, 1, [&] { order += 'b'; });
  c.at(3_ns, 9, [&] { order += 'a'; });
  c.at(5_ns, 1, [&] { order += 'c'; });
  while (c.next() != Time::max()) c.dispatch();
  REQUIRE(order == "abcd");
  REQUIRE(c.now() == 5_ns);
}

TEST_CASE("a cancelled entry does not run, and its handle names nothing afterwards", "[calendar]") {
  Calendar c;
  int ran = 0;
  auto first = c.at(1_ns, 1, [&] { ++ran; });
  auto second = c.at(2_ns, 1, [&] { ++ran; });
  const auto copy = first;
  REQUIRE(c.cancel(first));
  REQUIRE_FALSE(c.cancel(first));
  c.dispatch();
  REQUIRE(ran == 1);
  REQUIRE_FALSE(c.pending(second));
  c.at(3_ns, 1, [&] { ++ran; });  // reuses the node
  REQUIRE_FALSE(c.pending(copy));
}

TEST_CASE("an entry may make and cancel entries", "[calendar]") {
  Calendar c;
  std::string order;
  Calendar::Handle later = c.at(10_ns, 1, [&] { order += 'x'; });
  c.at(1_ns, 1, [&] {
    for (int i = 0; i < 100; ++i) c.after(Time::ns(static_cast<unsigned>(100 - i)), 1, [&] { order += '.'; });
    c.cancel(later);
  });
  while (c.next() != Time::max()) c.dispatch();
  REQUIRE(order == std::string(100, '.'));
  REQUIRE(c.now() == 101_ns);
}

TEST_CASE("many entries, some cancelled, run in order whatever the order of making", "[calendar]") {
  struct Made {
    Time when;
    ComponentKey key;
    int number;
    Calendar::Handle handle;
  };
  Calendar c;
  std::vector<Made> expected;
  std::vector<int> ran;
  std::uint64_t draw = 1;
  const auto next_draw = [&draw](std::uint64_t below) {
    draw = draw * 6364136223846793005u + 1442695040888963407u;
    return (draw >> 33) % below;
  };
  int number = 0;
  // The number of entries grows and shrinks across what the calendar keeps sorted; it keeps the others in a heap.
  for (int round = 0; round < 40; ++round) {
    for (std::uint64_t n = next_draw(150); n > 0; --n) {
      Made m{c.now() + Time::ns(next_draw(round % 2 ? 40 : 4000)), next_draw(3), number, {}};
      m.handle = c.at(m.when, m.key, [&ran, number] { ran.push_back(number); });
      expected.push_back(m);
      ++number;
    }
    for (std::uint64_t n = next_draw(20); n > 0 && !expected.empty(); --n) {
      const auto chosen = expected.begin() + static_cast<std::ptrdiff_t>(next_draw(expected.size()));
      REQUIRE(c.cancel(chosen->handle));
      expected.erase(chosen);
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Made& a, const Made& b) { return std::tie(a.when, a.key) < std::tie(b.when, b.key); });
    const auto due = static_cast<std::ptrdiff_t>(next_draw(expected.size() + 1));
    ran.clear();
    for (std::ptrdiff_t i = 0; i < due; ++i) {
      REQUIRE(c.next() == expected[static_cast<std::size_t>(i)].when);
      c.dispatch();
    }
    REQUIRE(static_cast<std::ptrdiff_t>(ran.size()) == due);
    for (std::ptrdiff_t i = 0; i < due; ++i)
      REQUIRE(ran[static_cast<std::size_t>(i)] == expected[static_cast<std::size_t>(i)].number);
    expected.erase(expected.begin(), expected.begin() + due);
  }
  REQUIRE(number > 1000);
}

TEST_CASE("an entry in the past takes place now and is counted", "[calendar]") {
  Calendar c;
  c.set_now(10_ns);
  c.at(3_ns, 1, [] {});
  c.after(Time::max(), 2, [] {});
  REQUIRE(c.next() == 10_ns);
  REQUIRE(c.late() == 2);
  REQUIRE(c.first_late().key == 1);
  REQUIRE(c.first_late().when == 3_ns);
  REQUIRE(c.first_late().made == 10_ns);
}

TEST_CASE("whoever looks at the run does so every so many entries, wherever time is", "[calendar]") {
  Calendar c;
  std::vector<std::uint64_t> looks;
  ComponentKey last = 0;
  c.on_look([&](ComponentKey key) { looks.push_back(c.dispatched()), last = key; });
  std::uint64_t left = 2 * Calendar::kLookInterval + 5;
  struct Again {
    Calendar& c;
    std::uint64_t& left;
    void operator()() const {
      if (--left > 0) c.after(0_ns, 7, *this);
    }
  };
  c.at(1_ns, 7, Again{c, left});
  while (c.size() > 0) c.dispatch();
  REQUIRE(looks == std::vector<std::uint64_t>{Calendar::kLookInterval, 2 * Calendar::kLookInterval});
  REQUIRE(last == 7);
}

TEST_CASE("an action owns what it captures", "[calendar]") {
  Calendar c;
  auto owned = std::make_shared<int>(7);
  c.at(1_ns, 1, [owned] {});
  auto cancelled = c.at(2_ns, 1, [owned] {});
  REQUIRE(owned.use_count() == 3);
  c.cancel(cancelled);
  REQUIRE(owned.use_count() == 2);
  c.dispatch();
  REQUIRE(owned.use_count() == 1);
}
