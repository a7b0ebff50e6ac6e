// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How a model declares its parameters. A model has
///
///   struct Parameters {
///     int lanes = 16;                 ///< 1, 2, 4, 8, 16
///     base::Time flight = 5_ns;       ///< one way, wire only
///     Duplex duplex = Duplex::kFull;
///     static void describe(base::Schema<Parameters>&);
///   };
///
///   void Link::Parameters::describe(base::Schema<Parameters>& s) {
///     s.summary("one PCIe link");
///     s.add("lanes", &Parameters::lanes, "width of the link").choices({1, 2, 4, 8, 16}).setting();
///     s.add("flight", &Parameters::flight, "one way, wire only").range(0_ns, 1_us).assumed("1 m of trace");
///     s.add("duplex", &Parameters::duplex, "...").choices({{"full", Duplex::kFull}, ...}).setting();
///   }
///
/// The member's initialiser is the default. The declaration must name its kind: measured, stated, derived, fitted,
/// assumed or setting. platform/config reads boards through parameter.h and never sees a model's type.

#include <concepts>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "models/base/parameters/codec.h"
#include "models/base/parameters/list_text.h"
#include "models/base/parameters/number.h"
#include "models/base/parameters/parameter.h"
#include "models/base/parameters/quantity.h"
#include "models/base/parameters/variation.h"

namespace sluice::base {

/// A parameter of P, with the attributes that its declaration may give it. T is bool, an integer, double, std::string,
/// an enum, Time, Bytes, BitRate, Frequency, Ratio, or a std::vector of one of them; ranges and choices hold for each
/// element.
template <class P, class T>
class Field final : public Parameter {
 public:
  using Element = typename schema_detail::Element<T>::type;
  static constexpr bool kList = schema_detail::Element<T>::is_list;

  explicit Field(T P::*member) : member_(member) {}

  /// Inclusive.
  Field& range(Element low, Element high) { return low_ = low, high_ = high, bounded_ = true, *this; }
  Field& power_of_two() { return power_of_two_ = true, *this; }
  Field& multiple_of(std::uint64_t n) { return multiple_of_ = n, *this; }
  /// Number of elements of a list, inclusive.
  Field& length(std::size_t low, std::size_t high) { return length_low_ = low, length_high_ = high, *this; }
  Field& choices(std::vector<Element> values) requires(!std::is_enum_v<Element>) {
    for (auto& v : values) choices_.emplace_back(Codec<Element>::text(v), v);
    return chosen_ = true, *this;
  }
  Field& choices(std::vector<std::pair<std::string, Element>> names) requires std::is_enum_v<Element> {
    return choices_ = std::move(names), chosen_ = true, *this;
  }
  /// Unit of a plain number: "entries", "cycles".
  Field& unit(std::string_view name) { return unit_ = name, *this; }
  /// For addresses: values are written as 0x8000_0000.
  Field& hexadecimal() { return hexadecimal_ = true, *this; }
  /// For numbers that name something, as that of a port does: they are no quantities, and have no uncertainty.
  Field& identifier() { return identifier_ = true, *this; }
  /// The board must set it.
  Field& required() { return required_ = true, setting(); }
  /// The value is the path of an instance of this kind ("pcie").
  Field& refers_to(std::string_view kind) requires std::same_as<Element, std::string> {
    return refers_to_ = kind, *this;
  }
  /// As refers_to(), but the value may be empty.
  Field& may_refer_to(std::string_view kind) requires std::same_as<Element, std::string> {
    return may_refer_to_none_ = true, refers_to(kind);
  }

  /// The value is the path of a file that a run reads, or empty. The file's content is a condition of the run. The
  /// model gets from the board a path that can be opened from the working directory; the board refuses a file that
  /// cannot be read.
  Field& names_file() requires std::same_as<T, std::string> { return names_file_ = true, *this; }

  /// For a value that has an effect only beside others. why(p) returns why it has none beside p, as a reason that
  /// begins with a key of the same schema ("kind is closed-loop"), or an empty string. Such a value is accepted, and a
  /// run says that it has no effect.
  Field& without_effect(std::function<std::string(const P&)> why) {
    why_without_effect_ = std::move(why);
    return *this;
  }
  /// For a value that acts only where one of these counters counts: a capacity, when it is used up; a timeout, when it
  /// expires. Where none has, a run gives `why_not` as the reason why the value has no effect.
  Field& acts_with(const std::vector<std::string>& counters, std::string_view why_not) {
    acts_with_ = counters;
    why_not_counted_ = why_not;
    return *this;
  }

  /// Where the default comes from.
  Field& measured(const std::string& source) { return from(Provenance::Kind::kMeasured, source); }
  Field& stated(const std::string& source) { return from(Provenance::Kind::kStated, source); }
  Field& derived(const std::string& source) { return from(Provenance::Kind::kDerived, source); }
  Field& assumed(const std::string& source) { return from(Provenance::Kind::kAssumed, source); }
  /// points: the names of the published points it was fitted to, such as "V2". At least one.
  Field& fitted(const std::string& source, const std::vector<std::string>& points) {
    from(Provenance::Kind::kFitted, source);
    provenance_.points = points;
    return *this;
  }
  /// How far the default may be off, by its source: "20 %". Half the width of the interval in which the true value is
  /// believed to lie, 0 % to 100 %. Without it, the kind's default holds (default_uncertainty()).
  Field& uncertainty(std::string_view share) {
    provenance_.uncertainty = checked_uncertainty(parse_ratio(share));
    return *this;
  }
  /// A choice that a board makes (how many queues, which firmware), not a property of a part.
  Field& setting() { return setting_ = true, from(Provenance::Kind::kAssumed, "choice of the board"); }

  std::string valid() const override {
    std::string limits = limits_text();
    if (!choices_.empty()) return kList ? "a list of " + limits : limits;
    std::string what = element_what();
    if (kList) what = "a list, each " + what;
    return limits.empty() ? what : what + ", " + limits;
  }
  std::string why_without_effect(const void* parameters) const override {
    return why_without_effect_ ? why_without_effect_(*static_cast<const P*>(parameters)) : std::string();
  }
  std::string mistake() const override {
    if (chosen_ && choices_.empty()) return "has no choices";
    if (multiple_of_ == 0) return "must be a multiple of 0, which nothing is";
    if (provenance_.uncertainty && !has_uncertainty())
      return "has an uncertainty, which only a number has that is no setting";
    if (length_low_ > length_high_) return "has lengths of which the least is above the most";
    if constexpr (kOrdered) {
      if (bounded_ && high_ < low_) return "has a range of which the low end is above the high one";
    }
    return {};
  }
  std::string unit() const override {
    if constexpr (!std::is_enum_v<Element>) {
      if (unit_.empty()) return Codec<Element>::unit();
    }
    return unit_;
  }
  void assign(void* parameters, const Value& v) const override {
    T value{};
    if constexpr (kList) {
      // A list of one element may be written as just this element.
      if (std::holds_alternative<Value::Array>(v.data))
        for (const Value& e : schema_detail::array_of(v)) value.push_back(read(e));
      else
        value.push_back(read(v));
    } else {
      value = read(v);
    }
    store(parameters, std::move(value));
  }
  void assign_text(void* parameters, std::string_view s) const override {
    T value{};
    if constexpr (kList) {
      for (std::string& e : split_list(s)) value.push_back(read({std::move(e)}));
    } else {
      value = read_text(s);
    }
    store(parameters, std::move(value));
  }
  std::string text(const void* parameters) const override {
    return text_of(static_cast<const P*>(parameters)->*member_);
  }
  Value value(const void* parameters) const override {
    const T& v = static_cast<const P*>(parameters)->*member_;
    if constexpr (kList) {
      Value::Array array;
      for (const auto& e : v) array.push_back(element_value(e));
      return {std::move(array)};
    } else {
      return element_value(v);
    }
  }
  bool is_number() const override { return kQuantity && !hexadecimal_ && !identifier_; }
  Variation varied(const void* parameters, Ratio share, Side side) const override {
    if constexpr (kQuantity) {
      T value = static_cast<const P*>(parameters)->*member_;
      bool any = false;
      bool clipped = false;
      try {
        schema_detail::for_each_element(value, [&](Element& e) {
          const auto moved = schema_detail::move(e, share, side, limits());
          if (moved.value) e = checked(*moved.value);
          any |= moved.value.has_value();
          clipped |= moved.clipped;
        });
      } catch (const ValueError& error) {
        return {{}, error.what()};
      }
      if (any) return {text_of(value), {}, clipped};
    }
    return {{}, side == Side::kLess ? "has no less value" : "has no greater value"};
  }

 private:
  static constexpr bool kQuantity =
      !std::is_enum_v<Element> && !std::same_as<Element, bool> && !std::same_as<Element, std::string>;
  static constexpr bool kOrdered = std::totally_ordered<Element> && !std::is_enum_v<Element>;
  static constexpr bool kNumber = std::is_arithmetic_v<Element> && !std::same_as<Element, bool>;

  Field& from(Provenance::Kind kind, const std::string& source) {
    provenance_.kind = kind;
    provenance_.source = source;
    has_provenance_ = true;
    return *this;
  }
  static std::string element_what() {
    if constexpr (std::is_enum_v<Element>)
      return "a name";
    else
      return Codec<Element>::what();
  }
  Element read(const Value& v) const {
    if constexpr (std::is_enum_v<Element>) {
      return chosen(schema_detail::string_of(v, limits_text()));
    } else {
      // In a file, a number with a factor or a unit is a string.
      const auto* text = kNumber ? std::get_if<std::string>(&v.data) : nullptr;
      return text ? read_text(*text) : decoded([&](auto codec) { return decltype(codec)::read(v); });
    }
  }
  Element read_text(std::string_view s) const {
    if constexpr (std::is_enum_v<Element>) {
      return chosen(s);
    } else if constexpr (kNumber) {
      const std::string number = without_unit(s, unit_, Codec<Element>::what());
      return decoded([&](auto codec) { return decltype(codec)::read_text(number); });
    } else {
      return decoded([&](auto codec) { return decltype(codec)::read_text(s); });
    }
  }
  /// Throws ValueError for what is no whole number of 64 bits, with or without a sign.
  template <class Read>
  static void check_whole(Read read_with) {
    try {
      read_with(Codec<std::uint64_t>{});
    } catch (const ValueError&) {
      read_with(Codec<std::int64_t>{});
    }
  }
  /// The error names the limits also for a whole number that Element cannot hold, such as -1 for an unsigned Element.
  template <class Read>
  Element decoded(Read read_with) const {
    if constexpr (std::integral<Element> && !std::same_as<Element, bool>) {
      try {
        return checked(read_with(Codec<Element>{}));
      } catch (const ValueError&) {
        if (!bounded_ && choices_.empty()) throw;
        check_whole(read_with);
      }
      throw ValueError("must be " + limits_text());
    } else {
      return checked(read_with(Codec<Element>{}));
    }
  }
  Element chosen(std::string_view name) const {
    for (const auto& [text, value] : choices_) {
      if (text == name) return value;
    }
    throw ValueError("must be " + limits_text());
  }
  Element checked(Element e) const {
    bool good = true;
    if (!choices_.empty()) {
      good = false;
      for (const auto& choice : choices_) good |= choice.second == e;
    }
    if constexpr (kOrdered) {
      if (bounded_) good &= e >= low_ && e <= high_;
    }
    if constexpr (std::integral<Element>) good &= shape_is_good(static_cast<std::uint64_t>(e));
    if constexpr (std::same_as<Element, Bytes>) good &= shape_is_good(e.count());
    if (!good) throw ValueError("must be " + limits_text());
    return e;
  }
  bool shape_is_good(std::uint64_t n) const {
    return (!power_of_two_ || (n != 0 && (n & (n - 1)) == 0)) && n % multiple_of_ == 0;
  }
  void store(void* parameters, T value) const {
    if constexpr (kList) {
      if (value.size() < length_low_ || value.size() > length_high_) {
        const std::string low = std::to_string(length_low_);
        const bool exact = length_low_ == length_high_;
        throw ValueError("must have " + (exact ? low : low + " to " + std::to_string(length_high_)) + " elements");
      }
    }
    static_cast<P*>(parameters)->*member_ = std::move(value);
  }
  std::string text_of(const T& v) const {
    if constexpr (kList) {
      std::vector<std::string> parts;
      parts.reserve(v.size());
      for (const auto& e : v) {
        if constexpr (std::same_as<Element, std::string>)
          parts.push_back(list_element(e));
        else
          parts.push_back(element_text(e));
      }
      return "[" + schema_detail::join(parts, ", ", ", ") + "]";
    } else {
      return element_text(v);
    }
  }
  schema_detail::Limits<Element> limits() const requires kQuantity {
    schema_detail::Limits<Element> limits;
    limits.grid = {multiple_of_, power_of_two_};
    if (bounded_) limits.range.emplace(low_, high_);
    for (const auto& choice : choices_) limits.choices.push_back(choice.second);
    return limits;
  }
  std::string element_text(const Element& e) const {
    if constexpr (std::is_enum_v<Element>) {
      for (const auto& choice : choices_) {
        if (choice.second == e) return choice.first;
      }
      return "?";
    } else {
      if constexpr (std::integral<Element>) {
        if (hexadecimal_) return base::hexadecimal(static_cast<std::uint64_t>(e));
      }
      return Codec<Element>::text(e);
    }
  }
  Value element_value(const Element& e) const {
    if constexpr (std::is_enum_v<Element>)
      return {element_text(e)};
    else
      return Codec<Element>::value(e);
  }
  /// "1 to 64", "a power of two, 128 B to 4 KiB", "1, 2 or 4"; empty without limits
  std::string limits_text() const {
    if (!choices_.empty()) {
      std::vector<std::string> names;
      for (const auto& choice : choices_) names.push_back(choice.first);
      return schema_detail::join(names, ", ", " or ");
    }
    std::string bounds;
    if constexpr (kOrdered) {
      if (bounded_) bounds = element_text(low_) + " to " + element_text(high_);
    }
    if (power_of_two_) return bounds.empty() ? "a power of two" : "a power of two, " + bounds;
    if (multiple_of_ > 1) {
      const std::string text = "a multiple of " + multiple_text();
      return bounds.empty() ? text : text + ", " + bounds;
    }
    return bounds;
  }
  std::string multiple_text() const {
    if constexpr (std::same_as<Element, Bytes>) return to_text(Bytes(multiple_of_));
    return std::to_string(multiple_of_);
  }

  T P::*member_;
  std::function<std::string(const P&)> why_without_effect_;
  bool bounded_ = false;
  Element low_{};
  Element high_{};
  bool power_of_two_ = false;
  std::uint64_t multiple_of_ = 1;
  std::size_t length_low_ = 0;
  std::size_t length_high_ = std::numeric_limits<std::size_t>::max();
  bool chosen_ = false;
  std::vector<std::pair<std::string, Element>> choices_;
};

/// The declaration of P's parameters. Made once per type by schema_of<P>().
template <class P>
class Schema final : public SchemaBase {
 public:
  Schema() {
    P::describe(*this);
    verify();
  }

  using SchemaBase::summary;
  /// What the model is, in a few words: "multi-queue descriptor NIC".
  void summary(std::string_view text) { summary_ = text; }

  /// key: lower case, words joined by _; a dot makes a sub-table (`call.bytes`).
  template <class T>
  Field<P, T>& add(std::string key, T P::*member, std::string meaning) {
    auto field = std::make_unique<Field<P, T>>(member);
    return static_cast<Field<P, T>&>(keep(std::move(field), std::move(key), std::move(meaning)));
  }

  /// Adds all parameters and rules of a part that P holds. Each key becomes "prefix.key", or stays as it is if prefix
  /// is empty. counters, why_not: of each, as acts_with() takes them.
  template <class Q>
  void include(const std::string& prefix, Q P::*part, const std::vector<std::string>& counters = {},
               std::string_view why_not = {});

  /// Adds a rule between parameters. If p breaks it, broken(p) returns the end of a sentence about `key`, or throws it
  /// as a ValueError; otherwise it returns an empty string.
  void rule(std::string key, std::function<std::string(const P&)> broken) {
    if (!broken) throw std::logic_error("the rule about " + key + " has no function");
    rules_.push_back({std::move(key), [broken = std::move(broken)](const void* p) -> std::string {
                        try {
                          return broken(*static_cast<const P*>(p));
                        } catch (const ValueError& e) {
                          return e.what();
                        }
                      }});
  }
  /// Adds a rule for one parameter: parse() accepts its text or throws a ValueError.
  template <class Parse>
  void rule(std::string key, std::string P::*member, Parse parse) {
    rule(std::move(key), [member, parse](const P& p) {
      parse(p.*member);
      return std::string();
    });
  }

  std::shared_ptr<void> defaults() const override { return std::make_shared<P>(); }
  std::shared_ptr<void> copy_of(const void* parameters) const override {
    return std::make_shared<P>(*static_cast<const P*>(parameters));
  }
};

/// The one schema of a parameter type.
template <class P>
const Schema<P>& schema_of() {
  static const Schema<P> schema;
  return schema;
}

namespace schema_detail {
/// A parameter of a part Q, seen as a parameter of the P that holds the part.
template <class P, class Q>
class Included final : public Parameter {
 public:
  Included(const Parameter& inner, Q P::*part, std::string before)
      : Parameter(inner), inner_(inner), part_(part), before_(std::move(before)) {}
  std::string valid() const override { return inner_.valid(); }
  std::string unit() const override { return inner_.unit(); }
  void assign(void* p, const Value& v) const override { inner_.assign(&(static_cast<P*>(p)->*part_), v); }
  void assign_text(void* p, std::string_view s) const override { inner_.assign_text(&(static_cast<P*>(p)->*part_), s); }
  std::string text(const void* p) const override { return inner_.text(&(static_cast<const P*>(p)->*part_)); }
  Value value(const void* p) const override { return inner_.value(&(static_cast<const P*>(p)->*part_)); }
  bool is_number() const override { return inner_.is_number(); }
  std::string why_without_effect(const void* p) const override {
    const std::string why = inner_.why_without_effect(&(static_cast<const P*>(p)->*part_));
    return why.empty() ? why : before_ + why;
  }
  Variation varied(const void* p, Ratio share, Side side) const override {
    return inner_.varied(&(static_cast<const P*>(p)->*part_), share, side);
  }

 private:
  const Parameter& inner_;
  Q P::*part_;
  std::string before_;
};
}  // namespace schema_detail

template <class P>
template <class Q>
void Schema<P>::include(const std::string& prefix, Q P::*part, const std::vector<std::string>& counters,
                        std::string_view why_not) {
  const Schema<Q>& inner = schema_of<Q>();
  const std::string before = prefix.empty() ? "" : prefix + ".";
  for (const auto& parameter : inner.parameters()) {
    Parameter& kept = keep(std::make_unique<schema_detail::Included<P, Q>>(*parameter, part, before),
                           before + parameter->key(), parameter->meaning());
    if (!counters.empty()) acts_with(kept, counters, why_not);
  }
  for (const Rule& r : inner.rules()) {
    rules_.push_back({before + r.key,
                      [part, broken = r.broken](const void* p) { return broken(&(static_cast<const P*>(p)->*part)); }});
  }
}

}  // namespace sluice::base
