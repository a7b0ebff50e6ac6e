// SPDX-License-Identifier: Apache-2.0
#include "models/base/parameters/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "models/base/parameters/list_text.h"
#include "models/base/parameters/number.h"

namespace sluice::base {
namespace {

constexpr std::array<std::pair<std::string_view, Provenance::Kind>, 5> kKinds{
    {{"measured", Provenance::Kind::kMeasured},
     {"stated", Provenance::Kind::kStated},
     {"derived", Provenance::Kind::kDerived},
     {"fitted", Provenance::Kind::kFitted},
     {"assumed", Provenance::Kind::kAssumed}}};

[[noreturn]] void wrong(const char* what) { throw ValueError("must be " + std::string(what)); }

/// Shortest decimal text that reads back as the same double; independent of the locale.
std::string shortest(double v) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v).ptr;
  return {buffer.data(), end};
}

template <class T>
T read_quantity(const Value& v, T (*parse)(std::string_view)) {
  const auto* text = std::get_if<std::string>(&v.data);
  return parse(text ? std::string_view(*text) : std::string_view());  // the parser's error names the units
}

}  // namespace

std::string_view to_text(Provenance::Kind kind) {
  for (const auto& [name, k] : kKinds) {
    if (k == kind) return name;
  }
  return "assumed";
}

Ratio default_uncertainty(Provenance::Kind kind) {
  switch (kind) {
    case Provenance::Kind::kStated:
      return Ratio(0);
    case Provenance::Kind::kMeasured:
      return Ratio(5, 100);
    case Provenance::Kind::kDerived:
    case Provenance::Kind::kFitted:
      return Ratio(10, 100);
    case Provenance::Kind::kAssumed:
      break;
  }
  return Ratio(25, 100);
}

Ratio Provenance::effective_uncertainty() const { return uncertainty.value_or(default_uncertainty(kind)); }

Ratio checked_uncertainty(Ratio share) {
  if (Ratio(1) < share) throw ValueError("must be 0 % to 100 % of the value");
  return share;
}

Provenance::Kind parse_kind(std::string_view text) {
  for (const auto& [name, kind] : kKinds) {
    if (name == text) return kind;
  }
  throw ValueError("must be measured, stated, derived, fitted or assumed");
}

const Parameter* SchemaBase::find(std::string_view key) const {
  for (const auto& p : parameters_) {
    if (p->key() == key) return p.get();
  }
  return nullptr;
}

Parameter& SchemaBase::keep(std::unique_ptr<Parameter> parameter, std::string key, std::string meaning) {
  parameter->key_ = std::move(key);
  parameter->meaning_ = std::move(meaning);
  parameters_.push_back(std::move(parameter));
  return *parameters_.back();
}

void SchemaBase::verify() const {
  const std::shared_ptr<void> values = defaults();
  for (const auto& p : parameters_) {
    const auto fail = [&](const std::string& what) { throw std::logic_error("parameter " + p->key() + " " + what); };
    if (find(p->key()) != p.get()) fail("is declared twice");
    for (const auto& other : parameters_) {
      if (other->key().starts_with(p->key() + ".")) fail("is a value and a table");
    }
    if (p->key().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos) {
      fail("must be lower case");
    }
    if (const std::string dotted = "." + p->key() + "."; dotted.find("..") != std::string::npos)
      throw std::logic_error("a parameter's key is words joined by dots, not \"" + p->key() + "\"");
    if (const std::string what = p->mistake(); !what.empty()) fail(what);
    if (p->meaning().empty()) fail("has no meaning");
    if (!p->has_provenance()) fail("does not say where its default comes from");
    const Provenance& from = p->default_provenance();
    if (from.source.empty()) fail("names no source");
    if ((from.kind == Provenance::Kind::kFitted) == from.points.empty()) fail("must name points exactly if fitted");
    if (p->required()) continue;
    try {
      p->assign_text(values.get(), p->text(values.get()));
    } catch (const ValueError& e) {
      fail("has a default that is not valid: " + std::string(e.what()));
    }
  }
  for (const Rule& r : rules_) {
    if (!find(r.key)) throw std::logic_error("a rule is about " + r.key + ", which is no parameter");
  }
}

const char* Codec<bool>::what() { return "true or false"; }
const char* Codec<bool>::unit() { return ""; }
bool Codec<bool>::read(const Value& v) {
  if (const auto* b = std::get_if<bool>(&v.data)) return *b;
  if (const auto* text = std::get_if<std::string>(&v.data)) return read_text(*text);
  wrong(what());
}
bool Codec<bool>::read_text(std::string_view s) {
  if (s == "true") return true;
  if (s == "false") return false;
  wrong(what());
}
std::string Codec<bool>::text(const bool& v) { return v ? "true" : "false"; }
Value Codec<bool>::value(const bool& v) { return {v}; }

const char* Codec<std::int64_t>::what() { return "a whole number"; }
const char* Codec<std::int64_t>::unit() { return ""; }
std::int64_t Codec<std::int64_t>::read(const Value& v) {
  if (const auto* i = std::get_if<std::int64_t>(&v.data)) return *i;
  if (const auto* d = std::get_if<double>(&v.data)) return whole_of(*d);
  wrong(what());
}
std::int64_t Codec<std::int64_t>::read_text(std::string_view s) { return parse_signed(s); }
std::string Codec<std::int64_t>::text(const std::int64_t& v) { return std::to_string(v); }
Value Codec<std::int64_t>::value(const std::int64_t& v) { return {v}; }

const char* Codec<std::uint64_t>::what() { return "a whole number"; }
const char* Codec<std::uint64_t>::unit() { return ""; }
std::uint64_t Codec<std::uint64_t>::read(const Value& v) {
  if (const auto* u = std::get_if<std::uint64_t>(&v.data)) return *u;
  const std::int64_t i = Codec<std::int64_t>::read(v);
  if (i < 0) throw ValueError("must not be negative");
  return static_cast<std::uint64_t>(i);
}
std::uint64_t Codec<std::uint64_t>::read_text(std::string_view s) { return parse_unsigned(s); }
std::string Codec<std::uint64_t>::text(const std::uint64_t& v) { return std::to_string(v); }
Value Codec<std::uint64_t>::value(const std::uint64_t& v) { return {v}; }

const char* Codec<double>::what() { return "a number"; }
const char* Codec<double>::unit() { return ""; }
double Codec<double>::read(const Value& v) {
  if (const auto* i = std::get_if<std::int64_t>(&v.data)) return static_cast<double>(*i);
  const auto* d = std::get_if<double>(&v.data);
  if (d && std::isfinite(*d)) return *d;
  wrong(what());
}
double Codec<double>::read_text(std::string_view s) {
  double v = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error != std::errc() || end != s.data() + s.size() || !std::isfinite(v)) wrong(what());
  return v;
}
std::string Codec<double>::text(const double& v) { return shortest(v); }
Value Codec<double>::value(const double& v) { return {v}; }

const char* Codec<std::string>::what() { return "a string"; }
const char* Codec<std::string>::unit() { return ""; }
std::string Codec<std::string>::read(const Value& v) { return schema_detail::string_of(v, what()); }
std::string Codec<std::string>::read_text(std::string_view s) { return unquoted(s); }
std::string Codec<std::string>::text(const std::string& v) { return string_text(v); }
Value Codec<std::string>::value(const std::string& v) { return {v}; }

const char* Codec<Time>::what() { return "a time"; }
const char* Codec<Time>::unit() { return "ns"; }
Time Codec<Time>::read(const Value& v) {
  // The form in a dump, a plain number of nanoseconds, is not accepted: a time in a board file carries its unit.
  return read_quantity(v, parse_time);
}
Time Codec<Time>::read_text(std::string_view s) { return parse_time(s); }
std::string Codec<Time>::text(const Time& v) { return to_text(v); }
Value Codec<Time>::value(const Time& v) {
  const std::uint64_t fs = v.femtoseconds();
  if (fs % 1'000'000 == 0) return {fs / 1'000'000};
  return {v.nanoseconds()};
}

const char* Codec<Bytes>::what() { return "a size"; }
const char* Codec<Bytes>::unit() { return "B"; }
Bytes Codec<Bytes>::read(const Value& v) { return read_quantity(v, parse_bytes); }
Bytes Codec<Bytes>::read_text(std::string_view s) { return parse_bytes(s); }
std::string Codec<Bytes>::text(const Bytes& v) { return to_text(v); }
Value Codec<Bytes>::value(const Bytes& v) { return {v.count()}; }

const char* Codec<BitRate>::what() { return "a data rate"; }
const char* Codec<BitRate>::unit() { return "b/s"; }
BitRate Codec<BitRate>::read(const Value& v) { return read_quantity(v, parse_bit_rate); }
BitRate Codec<BitRate>::read_text(std::string_view s) { return parse_bit_rate(s); }
std::string Codec<BitRate>::text(const BitRate& v) { return to_text(v); }
Value Codec<BitRate>::value(const BitRate& v) { return {v.bits_per_second()}; }

const char* Codec<Frequency>::what() { return "a frequency"; }
const char* Codec<Frequency>::unit() { return "Hz"; }
Frequency Codec<Frequency>::read(const Value& v) { return read_quantity(v, parse_frequency); }
Frequency Codec<Frequency>::read_text(std::string_view s) { return parse_frequency(s); }
std::string Codec<Frequency>::text(const Frequency& v) { return to_text(v); }
Value Codec<Frequency>::value(const Frequency& v) { return {v.hertz()}; }

const char* Codec<Ratio>::what() { return "a ratio"; }
const char* Codec<Ratio>::unit() { return ""; }
Ratio Codec<Ratio>::read(const Value& v) {
  // A TOML float is read through its shortest text, which is what the file says.
  if (const auto* i = std::get_if<std::int64_t>(&v.data)) return parse_ratio(std::to_string(*i));
  if (const auto* d = std::get_if<double>(&v.data)) return parse_ratio(shortest(*d));
  return read_quantity(v, parse_ratio);
}
Ratio Codec<Ratio>::read_text(std::string_view s) { return parse_ratio(s); }
std::string Codec<Ratio>::text(const Ratio& v) { return to_text(v); }
Value Codec<Ratio>::value(const Ratio& v) { return {v.real()}; }

namespace schema_detail {

std::string join(const std::vector<std::string>& parts, std::string_view separator, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? last : separator;
    text += parts[i];
  }
  return text;
}

const Value::Array& array_of(const Value& v) {
  if (const auto* array = std::get_if<Value::Array>(&v.data)) return *array;
  throw ValueError("must be a list");
}

std::string string_of(const Value& v, const std::string& valid) {
  if (const auto* s = std::get_if<std::string>(&v.data)) return *s;
  throw ValueError("must be " + valid);
}

}  // namespace schema_detail
}  // namespace sluice::base
