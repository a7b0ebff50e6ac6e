// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Reads the types that a parameter may have from a board file or from text, and writes them. Plain C++.

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "models/base/parameters/parameter.h"
#include "models/base/parameters/quantity.h"

namespace sluice::base {

/// How one type of value is read and written.
template <class T>
struct Codec;

#define SLUICE_BASE_CODEC(T)                    \
  template <>                                   \
  struct Codec<T> {                             \
    static const char* what(); /* "a time" */   \
    static const char* unit(); /* of value() */ \
    static T read(const Value&);                \
    static T read_text(std::string_view);       \
    static std::string text(const T&);          \
    static Value value(const T&);               \
  };
SLUICE_BASE_CODEC(bool)
SLUICE_BASE_CODEC(std::int64_t)
SLUICE_BASE_CODEC(std::uint64_t)
SLUICE_BASE_CODEC(double)
SLUICE_BASE_CODEC(std::string)
SLUICE_BASE_CODEC(Time)
SLUICE_BASE_CODEC(Bytes)
SLUICE_BASE_CODEC(BitRate)
SLUICE_BASE_CODEC(Frequency)
SLUICE_BASE_CODEC(Ratio)
#undef SLUICE_BASE_CODEC

template <class T>
requires(std::integral<T> && !std::same_as<T, bool>) struct Codec<T> {
  using Wide = std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>;
  static const char* what() { return Codec<Wide>::what(); }
  static const char* unit() { return ""; }
  static T read(const Value& v) { return narrow(Codec<Wide>::read(v)); }
  static T read_text(std::string_view s) { return narrow(Codec<Wide>::read_text(s)); }
  static std::string text(T v) { return Codec<Wide>::text(v); }
  static Value value(T v) { return Codec<Wide>::value(v); }

 private:
  static T narrow(Wide v) {
    using Limits = std::numeric_limits<T>;
    if (v < static_cast<Wide>(Limits::min()) || v > static_cast<Wide>(Limits::max())) {
      throw ValueError("must be " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max()));
    }
    return static_cast<T>(v);
  }
};

namespace schema_detail {
template <class T>
struct Element {
  using type = T;
  static constexpr bool is_list = false;
};
template <class E>
struct Element<std::vector<E>> {
  using type = E;
  static constexpr bool is_list = true;
};
std::string join(const std::vector<std::string>&, std::string_view separator, std::string_view last);
const Value::Array& array_of(const Value&);
std::string string_of(const Value&, const std::string& valid);
}  // namespace schema_detail

}  // namespace sluice::base
