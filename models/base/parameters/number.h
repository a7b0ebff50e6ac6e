// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Plain numbers as a person writes them. Plain C++.

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::base {

/// Reads a whole number of 64 bits: "1000000", "1_000_000", "1e6", "1.5e3", "0x8000_0000". Throws ValueError for what
/// is no whole number, such as "1.5", or does not fit.
std::uint64_t parse_unsigned(std::string_view text);
/// As parse_unsigned(), for a number with a sign.
std::int64_t parse_signed(std::string_view text);
/// A float is a whole number where it has no fraction, up to 2^53: above, it stands for several. Throws ValueError.
std::int64_t whole_of(double);

/// The number in a text that may also have a factor (k, M or G: 1000, 10^6 and 10^9) and the number's unit, if it has
/// one, behind it: "2e6" for "2 M/s" with the unit 1/s, "100" for "100 calls" or "1" for "1 call" with the unit calls.
/// A text that does not begin with a digit stays as it is. Throws ValueError, whose sentence begins with what must be
/// there ("a whole number"), for anything else behind the number, and for a factor of bytes, which could be 1000 or
/// 1024.
std::string without_unit(std::string_view text, std::string_view unit, std::string_view what);

/// The singular of a unit: "hart" for "harts", "entry" for "entries"; a rate such as "1/s" stays.
std::string singular(std::string_view unit);

}  // namespace sluice::base
