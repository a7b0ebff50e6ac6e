// SPDX-License-Identifier: Apache-2.0
#include "platform/study/condition.h"

#include <algorithm>
#include <cctype>
#include <deque>

#include <fmt/format.h>
#include <muparserx/mpParser.h>

namespace sluice::study {
namespace {

constexpr std::size_t kLongest = 4096;

/// The library would assign to the variables of a condition. Returns whether an = does so: it is none of ==, !=, <=,
/// >=, and not in a text.
bool assigns(const std::string& expression) {
  bool in_text = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c == '"') in_text = !in_text;
    if (in_text || c != '=') continue;
    const char before = i > 0 ? expression[i - 1] : ' ';
    const char behind = i + 1 < expression.size() ? expression[i + 1] : ' ';
    if (behind == '=')
      ++i;
    else if (before != '!' && before != '<' && before != '>')
      return true;
  }
  return false;
}

/// Parentheses nest a call each in the library.
bool nests_deeply(const std::string& expression) {
  constexpr int kMost = 100;
  return std::count_if(expression.begin(), expression.end(), [](char c) { return c == '(' || c == '?' || c == '['; }) >
         kMost;
}

}  // namespace

struct Condition::Parser {
  mup::ParserX library{mup::pckCOMMON | mup::pckNON_COMPLEX | mup::pckSTRING};
  std::deque<mup::Value> values;  ///< of the variables; they may not move
  std::vector<bool> used;
};

Condition::Condition(const std::string& expression, const std::vector<std::string>& names,
                     const config::Location& where)
    : parser_(std::make_unique<Parser>()), expression_(expression), names_(names), where_(where) {
  if (expression.size() > kLongest) refuse(fmt::format("has more than {} characters", kLongest));
  if (assigns(expression)) refuse("assigns with =; == compares");
  if (nests_deeply(expression)) refuse("has more than 100 parentheses");
  try {
    parser_->library.DefineNameChars("0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    for (const std::string& name : names) {
      parser_->values.emplace_back(0.0);
      // Names that the library cannot read, such as those with a -, cannot be in an expression.
      try {
        parser_->library.DefineVar(name, mup::Variable(&parser_->values.back()));
      } catch (const mup::ParserError&) {
      }
    }
    parser_->library.SetExpr(expression);
    const auto& used = parser_->library.GetExprVar();
    for (const std::string& name : names) parser_->used.push_back(used.contains(name));
  } catch (const mup::ParserError& e) {
    refuse_for(e.GetCode(), e.GetToken(), e.GetMsg());
  }
}

Condition::~Condition() = default;

bool Condition::uses(std::size_t variable) const { return parser_->used.at(variable); }

void Condition::set(std::size_t variable, const std::optional<double>& number, const std::string& text) {
  mup::Value& value = parser_->values.at(variable);
  if (number)
    value = *number;
  else if (text == "true" || text == "false")
    value = text == "true";
  else
    value = text;
}

bool Condition::holds() const {
  try {
    const mup::IValue& result = parser_->library.Eval();
    if (result.GetType() != 'b') refuse("is neither true nor false");
    return result.GetBool();
  } catch (const mup::ParserError& e) {
    refuse_for(e.GetCode(), e.GetToken(), e.GetMsg());
  }
}

/// The library finds some mistakes only when it evaluates.
void Condition::refuse_for(int code, const std::string& token, const std::string& message) const {
  const bool is_name = !token.empty() && std::all_of(token.begin(), token.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
  if (code == mup::ecUNASSIGNABLE_TOKEN && !is_name)
    refuse(fmt::format("cannot be read from {} on; operators are + - * / ^ == != < <= > >= && ||", token));
  if (code == mup::ecUNASSIGNABLE_TOKEN)
    refuse(fmt::format("has {}, which the grid does not sweep; it has {}", token, fmt::join(names_, ", ")));
  refuse(fmt::format("cannot be decided: {}", message));
}

void Condition::refuse(const std::string& why) const {
  const std::string shown = expression_.size() > 80 ? expression_.substr(0, 80) + "..." : expression_;
  throw config::UserError(where_, fmt::format("where = '{}' {}", shown, why));
}

}  // namespace sluice::study
