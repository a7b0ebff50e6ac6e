// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Values a share of themselves less or more than they are, for sensitivity analyses. schema.h calls this for each
/// element of a parameter.

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/parameters/parameter.h"
#include "models/base/parameters/quantity.h"

namespace sluice::base::schema_detail {

/// Which whole numbers an element may be.
struct Grid {
  std::uint64_t multiple_of = 1;
  bool power_of_two = false;
};

/// n less or more a share of itself, rounded to the nearest number of the grid and at least one away: of powers of two
/// the next one. Nothing where n or the share is 0, or no such number has 64 bits.
std::optional<std::uint64_t> moved(std::uint64_t n, Ratio share, Side, const Grid&);
std::optional<double> moved(double, Ratio share, Side);
/// Exact; nothing, too, where terms of 64 bits do not hold the result.
std::optional<Ratio> moved(const Ratio&, Ratio share, Side);

constexpr Side opposite(Side side) { return side == Side::kLess ? Side::kMore : Side::kLess; }

/// A quantity as the whole number that it is made of.
constexpr std::uint64_t count_of(Time v) { return v.femtoseconds(); }
constexpr std::uint64_t count_of(Bytes v) { return v.count(); }
constexpr std::uint64_t count_of(BitRate v) { return v.bits_per_second(); }
constexpr std::uint64_t count_of(Frequency v) { return v.hertz(); }
template <class E>
E made_of(std::uint64_t count) {
  if constexpr (std::same_as<E, Time>)
    return Time::fs(count);
  else
    return E(count);
}

template <class E>
std::optional<E> moved_element(const E& e, Ratio share, Side side, const Grid& grid) {
  if constexpr (std::same_as<E, double> || std::same_as<E, Ratio>) {
    return moved(e, share, side);
  } else if constexpr (std::integral<E>) {
    const bool negative = e < E{0};
    const auto magnitude = negative ? std::uint64_t{0} - static_cast<std::uint64_t>(e) : static_cast<std::uint64_t>(e);
    const auto found = moved(magnitude, share, negative ? opposite(side) : side, grid);
    const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<E>::max());
    if (!found || *found > most) return {};
    return negative ? static_cast<E>(std::uint64_t{0} - *found) : static_cast<E>(*found);
  } else {
    const auto found = moved(count_of(e), share, side, grid);
    return found ? std::optional(made_of<E>(*found)) : std::nullopt;
  }
}

/// What an element of a parameter may be.
template <class E>
struct Limits {
  std::optional<std::pair<E, E>> range;  ///< inclusive
  Grid grid;
  std::vector<E> choices;  ///< empty: no list of them
};

template <class E>
struct Moved {
  std::optional<E> value;  ///< nothing: there is none on this side
  bool clipped = false;    ///< the range ended before the share did
};

/// The value of an element at one end of its uncertainty: of choices the next one, of a range at most its end.
template <class E>
Moved<E> move(const E& e, Ratio share, Side side, const Limits<E>& limits) {
  const bool less = side == Side::kLess;
  if (!limits.choices.empty()) {
    std::optional<E> next;
    for (const E& c : limits.choices) {
      const bool beyond = less ? c < e : e < c;
      if (beyond && (!next || (less ? *next < c : c < *next))) next = c;
    }
    return {share == Ratio(0) ? std::nullopt : next};
  }
  std::optional<E> value = moved_element(e, share, side, limits.grid);
  if (!value || !limits.range) return {value};
  const E& end = less ? limits.range->first : limits.range->second;
  if (less ? !(*value < end) : !(end < *value)) return {value};
  if (e == end) return {};
  return {end, true};
}

template <class E, class Change>
void for_each_element(std::vector<E>& list, const Change& change) {
  for (E& e : list) change(e);
}
template <class E, class Change>
void for_each_element(E& single, const Change& change) {
  change(single);
}

}  // namespace sluice::base::schema_detail
