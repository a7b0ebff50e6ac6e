// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Expressions over named values: the condition of a grid, "pcie.slot0.lanes * 2 <= nic.eth0.queues", and what a claim
/// makes of quantities, "throughput_per_s / 1e6".

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/config/user_error.h"

namespace sluice::study {

/// Most characters of an expression.
inline constexpr std::size_t kLongestExpression = 4096;

class Expression {
 public:
  /// What an expression is to the file that has it, for messages.
  struct Use {
    const char* key;      ///< "where"
    const char* unknown;  ///< what is said of a name that is none: "which the grid does not sweep"
  };
  /// names: of the variables. Throws config::UserError, which begins with `where`, for an expression that is none, or
  /// that has another name.
  Expression(Use, const std::string& text, const std::vector<std::string>& names, const config::Location& where);
  ~Expression();
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  /// Whether the expression has this variable.
  bool uses(std::size_t variable) const;

  /// The value of a variable, by its place in the list of names: a number where it is one, else a text.
  void set(std::size_t variable, const std::optional<double>& number, const std::string& text = {});

  /// Gives every variable a number, to see what is wrong with the expression before there are values.
  void set_all();

  /// Whether the expression is true. Throws config::UserError where it is neither true nor false, or compares a text
  /// with a number.
  bool holds() const;
  /// The number that the expression gives, which may be infinite or none. Throws config::UserError where it is no
  /// number.
  double number() const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void refuse_for(int code, const std::string& token, const std::string& message) const;
  struct Parser;
  std::unique_ptr<Parser> parser_;
  Use use_;
  std::string text_;
  std::vector<std::string> names_;
  config::Location where_;
};

/// The names of variables in an expression, each once, in the order in which they stand there. Those of functions and
/// constants are none.
std::vector<std::string> names_in(const std::string& expression);

/// The texts in double quotes in an expression.
std::vector<std::string> texts_in(const std::string& expression);

/// Whether a variable may be called so: a name that no function or constant has.
bool is_name(const std::string& text);

}  // namespace sluice::study
