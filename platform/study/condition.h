// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The condition of a grid, an expression over what it sweeps: "pcie.slot0.lanes * 2 <= nic.eth0.queues".

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/config/user_error.h"

namespace sluice::study {

class Condition {
 public:
  /// names: of the variables, "board" among them. Throws config::UserError, which begins with `where`, for an
  /// expression that is none, or that has another name.
  Condition(const std::string& expression, const std::vector<std::string>& names, const config::Location& where);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  /// Whether the expression has this variable.
  bool uses(std::size_t variable) const;

  /// The value of a variable, by its place in the list of names: a number where it is one, else a text.
  void set(std::size_t variable, const std::optional<double>& number, const std::string& text);

  /// Whether the expression is true. Throws config::UserError where it is neither true nor false, or compares a text
  /// with a number.
  bool holds() const;

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void refuse_for(int code, const std::string& token, const std::string& message) const;
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::string expression_;
  std::vector<std::string> names_;
  config::Location where_;
};

}  // namespace sluice::study
