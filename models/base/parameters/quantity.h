// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Quantities that carry their unit: sizes, rates, frequencies and ratios as exact integers, and their text forms
/// ("379 ns", "64 KiB", "100 Gb/s", "3.1 GHz", "39 %"). No conversion here passes through binary fractions.

#include <compare>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>

#include "models/base/time/time.h"

namespace sluice::base {

/// A value that a parameter cannot take. what() is the end of a sentence: "must be 1 to 64".
class ValueError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// An exact fraction of two integers in lowest terms. The denominator is never 0.
class Ratio {
 public:
  constexpr Ratio() = default;
  constexpr Ratio(std::uint64_t numerator, std::uint64_t denominator = 1)
      : numerator_(numerator / divisor(numerator, denominator)),
        denominator_(denominator / divisor(numerator, denominator)) {}

  constexpr std::uint64_t numerator() const { return numerator_; }
  constexpr std::uint64_t denominator() const { return denominator_; }
  constexpr double real() const { return static_cast<double>(numerator_) / static_cast<double>(denominator_); }

  /// n x ratio rounded down or up; the result must fit 64 bits. Small products avoid the 128-bit division.
  constexpr std::uint64_t of(std::uint64_t n) const {
    std::uint64_t product = 0;
    if (!__builtin_mul_overflow(n, numerator_, &product)) [[likely]]
      return product / denominator_;
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(n) * numerator_ / denominator_);
  }
  constexpr std::uint64_t of_rounded_up(std::uint64_t n) const {
    std::uint64_t product = 0;
    if (!__builtin_mul_overflow(n, numerator_, &product)) [[likely]] {
      return product / denominator_ + (product % denominator_ != 0);
    }
    const auto wide = static_cast<unsigned __int128>(n) * numerator_;
    return static_cast<std::uint64_t>(wide / denominator_) + (wide % denominator_ != 0);
  }

  constexpr bool operator==(const Ratio&) const = default;
  constexpr std::strong_ordering operator<=>(const Ratio& o) const {
    return static_cast<unsigned __int128>(numerator_) * o.denominator_ <=>
           static_cast<unsigned __int128>(o.numerator_) * denominator_;
  }

 private:
  static constexpr std::uint64_t divisor(std::uint64_t a, std::uint64_t b) {
    if (b == 0) throw ValueError("must not divide by zero");
    return std::gcd(a, b);
  }
  std::uint64_t numerator_ = 0;
  std::uint64_t denominator_ = 1;
};

/// A number of bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(std::uint64_t n) : count_(n) {}
  constexpr std::uint64_t count() const { return count_; }
  constexpr auto operator<=>(const Bytes&) const = default;

 private:
  std::uint64_t count_ = 0;
};

/// Cycles to time and back by an exact ratio. Edge n of a clock is at time_of(n), the first femtosecond that is not
/// before the true edge, so that cycles_at(time_of(n)) == n for every n and every frequency below 1 PHz.
class Clock {
 public:
  constexpr Clock() = default;
  /// hertz must be 1 to 10^15.
  explicit constexpr Clock(std::uint64_t hertz) : Clock(Ratio(1'000'000'000'000'000, hertz)) {}
  /// period: femtoseconds per cycle, at least 1.
  explicit constexpr Clock(Ratio period) : period_(period), rate_(period.denominator(), period.numerator()) {}

  constexpr Time time_of(std::uint64_t cycles) const { return Time::fs(period_.of_rounded_up(cycles)); }
  /// Number of edges at or before t, without the one at time 0.
  constexpr std::uint64_t cycles_at(Time t) const { return rate_.of(t.femtoseconds()); }
  /// The number of the first edge at or after t.
  constexpr std::uint64_t next_cycle(Time t) const {
    // Edge n is at n periods rounded up: at or after t when n periods are more than t - 1 fs.
    return t == Time{} ? 0 : rate_.of(t.femtoseconds() - 1) + 1;
  }
  /// Femtoseconds per cycle, as a fraction.
  constexpr Ratio period() const { return period_; }

 private:
  Ratio period_{1'000'000};  // of a 1 GHz clock
  Ratio rate_{1, 1'000'000};
};

/// A clock's frequency in whole hertz.
class Frequency {
 public:
  constexpr Frequency() = default;
  explicit constexpr Frequency(std::uint64_t hertz) : hertz_(hertz) {}
  constexpr std::uint64_t hertz() const { return hertz_; }
  constexpr Clock clock() const { return Clock(hertz_); }
  constexpr auto operator<=>(const Frequency&) const = default;

 private:
  std::uint64_t hertz_ = 0;
};

/// A data rate in whole bits per second.
class BitRate {
 public:
  constexpr BitRate() = default;
  explicit constexpr BitRate(std::uint64_t bits_per_second) : bits_per_second_(bits_per_second) {}
  constexpr std::uint64_t bits_per_second() const { return bits_per_second_; }
  /// Femtoseconds per byte, as a fraction: keep it and call of_rounded_up(bytes) where many sizes are converted.
  /// The rate must not be 0.
  constexpr Ratio femtoseconds_per_byte() const { return {8'000'000'000'000'000, bits_per_second_}; }
  /// Time that n bytes occupy a link of this rate, rounded up to 1 fs. The rate must not be 0.
  constexpr Time time_of(Bytes n) const { return Time::fs(femtoseconds_per_byte().of_rounded_up(n.count())); }
  constexpr auto operator<=>(const BitRate&) const = default;

 private:
  std::uint64_t bits_per_second_ = 0;
};

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes(n); }
constexpr Bytes operator""_KiB(unsigned long long n) { return Bytes(n << 10); }
constexpr Bytes operator""_MiB(unsigned long long n) { return Bytes(n << 20); }
constexpr Bytes operator""_GiB(unsigned long long n) { return Bytes(n << 30); }
constexpr Frequency operator""_Hz(unsigned long long n) { return Frequency(n); }
constexpr Frequency operator""_MHz(unsigned long long n) { return Frequency(n * 1'000'000); }
constexpr Frequency operator""_GHz(unsigned long long n) { return Frequency(n * 1'000'000'000); }
constexpr BitRate operator""_Mbps(unsigned long long n) { return BitRate(n * 1'000'000); }
constexpr BitRate operator""_Gbps(unsigned long long n) { return BitRate(n * 1'000'000'000); }
}  // namespace literals

/// Each parses an exact non-negative decimal number and its unit; a space between them is optional. Throws ValueError,
/// which names the valid units where the unit is missing or wrong. parse_ratio() needs no unit.
Time parse_time(std::string_view text);            ///< fs, ps, ns, us, ms, s
Bytes parse_bytes(std::string_view text);          ///< B, kB, MB, GB, TB, KiB, MiB, GiB, TiB
BitRate parse_bit_rate(std::string_view text);     ///< b/s, kb/s, Mb/s, Gb/s, Tb/s; also Gbps, Gbit/s and so on
Frequency parse_frequency(std::string_view text);  ///< Hz, kHz, MHz, GHz, THz
Ratio parse_ratio(std::string_view text);          ///< "0.39", "39 %", "1e-7", "128/130"

/// The exact text in the natural unit: the parse function of the same type gives the same value back.
std::string to_text(Time);
std::string to_text(Bytes);
std::string to_text(BitRate);
std::string to_text(Frequency);
std::string to_text(Ratio);
/// An address or a mask: "0x8000_0000".
std::string hexadecimal(std::uint64_t);

}  // namespace sluice::base
