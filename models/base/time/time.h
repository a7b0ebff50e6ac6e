// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Simulated time: an integer count of femtoseconds, so that clocks of any frequency add up exactly.

#include <compare>
#include <cstdint>

namespace sluice::base {

/// A point in simulated time, or a duration. Range 0 to 18,446 s; subtraction below zero is a program error.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time fs(std::uint64_t n) { return Time(n); }
  static constexpr Time ps(std::uint64_t n) { return Time(n * 1'000); }
  static constexpr Time ns(std::uint64_t n) { return Time(n * 1'000'000); }
  static constexpr Time us(std::uint64_t n) { return Time(n * 1'000'000'000); }
  static constexpr Time ms(std::uint64_t n) { return Time(n * 1'000'000'000'000); }
  static constexpr Time s(std::uint64_t n) { return Time(n * 1'000'000'000'000'000); }
  static constexpr Time max() { return Time(~std::uint64_t{0}); }

  constexpr std::uint64_t femtoseconds() const { return fs_; }
  constexpr double nanoseconds() const { return static_cast<double>(fs_) / 1e6; }
  constexpr double seconds() const { return static_cast<double>(fs_) / 1e15; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time operator+(Time o) const { return Time(fs_ + o.fs_); }
  constexpr Time operator-(Time o) const { return Time(fs_ - o.fs_); }
  constexpr Time operator*(std::uint64_t n) const { return Time(fs_ * n); }
  constexpr Time operator/(std::uint64_t n) const { return Time(fs_ / n); }
  constexpr std::uint64_t operator/(Time o) const { return fs_ / o.fs_; }
  constexpr Time operator%(Time o) const { return Time(fs_ % o.fs_); }
  constexpr Time& operator+=(Time o) {
    fs_ += o.fs_;
    return *this;
  }
  constexpr Time& operator-=(Time o) {
    fs_ -= o.fs_;
    return *this;
  }

 private:
  explicit constexpr Time(std::uint64_t n) : fs_(n) {}
  std::uint64_t fs_ = 0;
};

namespace literals {
constexpr Time operator""_fs(unsigned long long n) { return Time::fs(n); }
constexpr Time operator""_ps(unsigned long long n) { return Time::ps(n); }
constexpr Time operator""_ns(unsigned long long n) { return Time::ns(n); }
constexpr Time operator""_us(unsigned long long n) { return Time::us(n); }
constexpr Time operator""_ms(unsigned long long n) { return Time::ms(n); }
constexpr Time operator""_s(unsigned long long n) { return Time::s(n); }
}  // namespace literals

}  // namespace sluice::base
