// SPDX-License-Identifier: Apache-2.0
// A cache's tags and states against a model that keeps each set as a list, in order of last use.

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/memory/line_state.h"
#include "models/base/parameters/random.h"

using namespace sluice::base;

namespace {

constexpr unsigned kLine = 64;

struct Reference {
  Reference(std::uint64_t set_count, unsigned ways) : sets(set_count, std::vector<LineState::Line>(ways)) {}

  std::vector<LineState::Line>& set_of(std::uint64_t line) { return sets[line / kLine % sets.size()]; }
  auto find(std::uint64_t line) {
    auto& set = set_of(line);
    return std::find_if(set.begin(), set.end(),
                        [&](const auto& l) { return l.state != LineState::kInvalid && l.address == line; });
  }
  LineState::Line fill(std::uint64_t line, LineState::State state, unsigned most) {
    auto& set = set_of(line);
    auto last = find(line);
    LineState::Line displaced;
    const bool is_new = last == set.end();
    if (is_new) {
      std::vector<std::size_t> limited;
      for (std::size_t w = 0; w < set.size(); ++w)
        if (set[w].state != LineState::kInvalid && is_limited.count(set[w].address)) limited.push_back(w);
      last = std::find_if(set.begin(), set.end() - 1, [](const auto& l) { return l.state == LineState::kInvalid; });
      if (most != 0 && limited.size() >= most) last = set.begin() + static_cast<std::ptrdiff_t>(limited.back());
      if (last->state != LineState::kInvalid) displaced = *last;
      if (displaced.state != LineState::kInvalid) is_limited.erase(displaced.address);
      if (most != 0) is_limited.insert(line);
    }
    std::rotate(set.begin(), last, last + 1);
    set.front() = {line, state};
    return displaced;
  }
  bool hit(std::uint64_t line, bool write) {
    const auto at = find(line);
    if (at == set_of(line).end()) return false;
    auto& set = set_of(line);
    std::rotate(set.begin(), at, at + 1);
    if (!write) return true;
    if (set.front().state < LineState::kExclusive) return false;
    set.front().state = LineState::kModified;
    return true;
  }
  LineState::State state(std::uint64_t line) {
    const auto at = find(line);
    return at == set_of(line).end() ? LineState::kInvalid : at->state;
  }
  LineState::State downgrade(std::uint64_t line, LineState::State to) {
    const auto at = find(line);
    if (at == set_of(line).end()) return LineState::kInvalid;
    const LineState::State was = at->state;
    at->state = std::min(was, to);
    if (to == LineState::kInvalid) {
      std::rotate(at, at + 1, set_of(line).end());
      set_of(line).back() = {};
      is_limited.erase(line);
    }
    return was;
  }

  std::vector<std::vector<LineState::Line>> sets;
  std::set<std::uint64_t> is_limited;  ///< lines that a writer with a few ways has brought
};

}  // namespace

TEST_CASE("any sequence of operations leaves the lines, states and order of last use that a list has", "[line_state]") {
  const auto sets = GENERATE(1u, 3u, 4u, 6u, 7u, 12u, 48u, 64u);
  const auto ways = GENERATE(1u, 2u, 3u, 4u, 5u, 8u, 11u, 12u, 16u, 40u);
  CAPTURE(sets, ways);
  LineState cache(std::uint64_t{ways} * sets * kLine, ways, kLine);
  Reference reference(sets, ways);
  RandomStream random({1}, "lines", std::to_string(sets) + "x" + std::to_string(ways));
  for (unsigned n = 0; n < 5'000; ++n) {
    CAPTURE(n);
    const std::uint64_t line = random.below(std::uint64_t{sets} * (ways + ways / 2 + 2)) * kLine;
    const std::uint64_t address = line + random.below(kLine);
    const auto state = static_cast<LineState::State>(1 + random.below(3));
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2: {
        const auto limit = static_cast<unsigned>(random.below(3) == 0 ? random.below(ways + 2) : 0);
        CAPTURE(limit);
        const LineState::Line expected = reference.fill(line, state, limit), got = cache.fill(address, state, limit);
        REQUIRE(got.state == expected.state);
        if (expected.state != LineState::kInvalid) REQUIRE(got.address == expected.address);
        break;
      }
      case 3:
        REQUIRE(cache.downgrade(address, LineState::kInvalid) == reference.downgrade(line, LineState::kInvalid));
        break;
      case 4:
        REQUIRE(cache.downgrade(address, LineState::kShared) == reference.downgrade(line, LineState::kShared));
        break;
      default: {
        const bool write = random.below(2) == 0;
        REQUIRE(cache.hit(address, write) == reference.hit(line, write));
      }
    }
    REQUIRE(cache.state(address) == reference.state(line));
  }
}

TEST_CASE("lines whose numbers are equal modulo the sets share a set, and no others, up to the last address",
          "[line_state]") {
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  RandomStream random({1}, "addresses", "");
  for (const std::uint64_t sets : {1ull, 2ull, 3ull, 5ull, 48ull, 49'152ull, 65'535ull, 65'537ull, 1'048'575ull}) {
    CAPTURE(sets);
    for (unsigned n = 0; n < 64; ++n) {
      const unsigned line_bytes = n % 2 == 0 ? 8 : kLine;
      LineState cache(sets * line_bytes, 1, line_bytes);
      const std::uint64_t lines = kLast / line_bytes;
      // The highest number with this remainder, or any one.
      const std::uint64_t remainder = random.below(sets);
      const std::uint64_t quotient = n < 8 ? (lines - remainder) / sets : random.below((lines - remainder) / sets);
      const std::uint64_t number = quotient * sets + remainder;
      CAPTURE(number, remainder, line_bytes);
      cache.fill(remainder * line_bytes, LineState::kShared);
      if (sets > 1) cache.fill((remainder + 1) % sets * line_bytes, LineState::kShared);
      const LineState::Line displaced = cache.fill(number * line_bytes, LineState::kModified);
      REQUIRE(displaced.state == (quotient == 0 ? LineState::kInvalid : LineState::kShared));
      if (quotient != 0) REQUIRE(displaced.address == remainder * line_bytes);
      REQUIRE(cache.state(number * line_bytes) == LineState::kModified);
      if (sets > 1) REQUIRE(cache.state((remainder + 1) % sets * line_bytes) == LineState::kShared);
    }
  }
}

TEST_CASE("a line behind an empty entry is found there and comes to the front", "[line_state]") {
  LineState cache(4 * kLine, 4, kLine);  // one set
  // A writer that is limited to one way fills the last one, behind three empty entries.
  cache.fill(0, LineState::kModified, 1);
  REQUIRE(cache.fill(0, LineState::kShared).state == LineState::kInvalid);
  REQUIRE(cache.state(0) == LineState::kShared);
  for (unsigned l = 1; l < 4; ++l) REQUIRE(cache.fill(l * kLine, LineState::kShared).state == LineState::kInvalid);
  const LineState::Line displaced = cache.fill(4 * kLine, LineState::kShared);
  REQUIRE(displaced.address == 0);
  REQUIRE(displaced.state == LineState::kShared);
  REQUIRE(cache.state(0) == LineState::kInvalid);
}
