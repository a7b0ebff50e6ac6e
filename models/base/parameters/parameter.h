// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A model's parameters without the model's type: platform/config reads boards through these classes.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/base/parameters/quantity.h"

namespace sluice::base {

/// Where a value comes from. A fitted value names the published points it was fitted to.
struct Provenance {
  enum class Kind { kMeasured, kStated, kDerived, kFitted, kAssumed };
  Kind kind = Kind::kAssumed;
  std::string source;
  std::vector<std::string> points;  ///< only of kFitted
  /// Half the width of the interval around the value in which the true one is believed to lie, as a share of the value,
  /// 0 to 1. Nothing: the source gives none.
  std::optional<Ratio> uncertainty;
  /// That of the source, or what its kind has by default.
  Ratio effective_uncertainty() const;
};
/// What stands for an uncertainty that the source does not give.
Ratio default_uncertainty(Provenance::Kind);
/// Throws ValueError for what is no ratio from 0 to 1, and returns the argument.
Ratio checked_uncertainty(Ratio);
std::string_view to_text(Provenance::Kind);
/// Throws ValueError that names the five kinds.
Provenance::Kind parse_kind(std::string_view);

/// A value as a board file writes it, or as a dump shows it.
struct Value {
  using Array = std::vector<Value>;
  std::variant<bool, std::int64_t, std::uint64_t, double, std::string, Array> data;
};

/// The ends of a value's uncertainty.
enum class Side { kLess, kMore };

/// A value at one end of its uncertainty.
struct Variation {
  std::string text;      ///< as assign_text() takes it; empty: there is none
  std::string why_none;  ///< then, as the end of a sentence about the parameter: "is 0"
  bool clipped = false;  ///< the parameter's range ended before the uncertainty did
};

/// One parameter of a model, without the model's type.
class Parameter {
 public:
  virtual ~Parameter() = default;

  const std::string& key() const { return key_; }
  const std::string& meaning() const { return meaning_; }
  const Provenance& default_provenance() const { return provenance_; }
  bool has_provenance() const { return has_provenance_; }
  bool required() const { return required_; }
  /// True for a choice that a board makes, false for a property of a part.
  bool is_setting() const { return setting_; }
  /// The kind of instance ("pcie") whose path the value must be ("pcie.slot0"); empty: the value is no such path.
  const std::string& refers_to() const { return refers_to_; }
  /// Whether the value may be empty although refers_to() names a kind.
  bool may_refer_to_none() const { return may_refer_to_none_; }
  /// The value is the path of a file that a run reads, or empty.
  bool names_file() const { return names_file_; }

  /// What values are valid: "a time, 0 fs to 1 us".
  virtual std::string valid() const = 0;
  /// Unit of value(): ns, B, b/s, Hz, or what the model said for a plain number; empty where there is none.
  virtual std::string unit() const = 0;
  /// The unit that text() leaves out: what the model said for a plain number.
  const std::string& plain_unit() const { return unit_; }
  /// Both throw ValueError for a value that is not valid, and then leave the parameters unchanged.
  virtual void assign(void* parameters, const Value&) const = 0;
  virtual void assign_text(void* parameters, std::string_view) const = 0;
  /// The value as a person writes it ("379 ns", "16", "plic"); assign_text() accepts it.
  virtual std::string text(const void* parameters) const = 0;
  virtual Value value(const void* parameters) const = 0;
  /// Whether it is a number, a quantity, or a list of them, and not just the name of something, as an address is. Only
  /// these have an uncertainty, and only where they are no settings.
  virtual bool is_number() const = 0;
  bool has_uncertainty() const { return is_number() && !setting_; }
  /// The value less or more a share of itself: whole numbers at least 1, powers of two and choices to the next one,
  /// clipped to the range; of a list every element. Rules between parameters are not looked at.
  virtual Variation varied(const void* parameters, Ratio share, Side) const = 0;
  /// Why the value has no effect beside the other values of its instance, as a reason ("kind is closed-loop"). Empty:
  /// it has, as far as these say.
  virtual std::string why_without_effect(const void* /*parameters*/) const { return {}; }
  /// Counters without which the value does not act, by their names in the groups of its instance and below, or where
  /// those have none of the name, in any group. Empty: no such condition is known.
  const std::vector<std::string>& acts_with() const { return acts_with_; }
  /// The reason why the value did not act, where none of them has counted: "no TLP waited for credits".
  const std::string& why_not_counted() const { return why_not_counted_; }
  /// What is wrong with the declaration, as the end of a sentence; empty: nothing.
  virtual std::string mistake() const { return {}; }

 protected:
  std::string key_;
  std::string meaning_;
  std::string unit_;
  std::string refers_to_;
  bool may_refer_to_none_ = false;
  bool names_file_ = false;
  std::vector<std::string> acts_with_;
  std::string why_not_counted_;
  Provenance provenance_;
  bool has_provenance_ = false;
  bool required_ = false;
  bool setting_ = false;
  bool hexadecimal_ = false;
  bool identifier_ = false;

  friend class SchemaBase;
};

/// A model's parameters, without the model's type.
class SchemaBase {
 public:
  virtual ~SchemaBase() = default;
  SchemaBase() = default;
  SchemaBase(const SchemaBase&) = delete;
  SchemaBase& operator=(const SchemaBase&) = delete;

  const std::string& summary() const { return summary_; }
  const std::vector<std::unique_ptr<Parameter>>& parameters() const { return parameters_; }
  const Parameter* find(std::string_view key) const;

  /// A new set of parameters with every default.
  virtual std::shared_ptr<void> defaults() const = 0;
  /// A copy of a set of parameters.
  virtual std::shared_ptr<void> copy_of(const void* parameters) const = 0;

  /// A rule between parameters. broken() returns the end of a sentence about `key` ("must be at most rx_fifo"), or an
  /// empty string.
  struct Rule {
    std::string key;
    std::function<std::string(const void*)> broken;
  };
  const std::vector<Rule>& rules() const { return rules_; }

 protected:
  static void acts_with(Parameter& p, const std::vector<std::string>& counters, std::string_view why_not) {
    p.acts_with_ = counters;
    p.why_not_counted_ = why_not;
  }
  Parameter& keep(std::unique_ptr<Parameter>, std::string key, std::string meaning);
  /// Throws std::logic_error at a mistake in describe(): an invalid or repeated key, a missing kind, limits that no
  /// value meets, a default outside its own range.
  void verify() const;

  std::string summary_;
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::vector<Rule> rules_;
};

}  // namespace sluice::base
