// SPDX-License-Identifier: Apache-2.0
#include "platform/study/expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>

#include <fmt/format.h>
#include <muparserx/mpParser.h>

namespace sluice::study {
namespace {

constexpr std::array kConstants = {"pi", "e", "true", "false"};

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// The library would assign to the variables of an expression. Returns whether an = does so: it is none of ==, !=, <=,
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

/// The library would read the last line of several only.
std::string in_one_line(std::string text) {
  for (char& c : text)
    if (std::isspace(static_cast<unsigned char>(c)) != 0) c = ' ';
  return text;
}

/// Parentheses nest a call each in the library.
bool nests_deeply(const std::string& expression) {
  constexpr int kMost = 100;
  return std::count_if(expression.begin(), expression.end(), [](char c) { return c == '(' || c == '?' || c == '['; }) >
         kMost;
}

}  // namespace

struct Expression::Parser {
  mup::ParserX library{mup::pckCOMMON | mup::pckNON_COMPLEX | mup::pckSTRING};
  std::deque<mup::Value> values;  ///< of the variables; they may not move
  std::vector<bool> used;
};

Expression::Expression(Use use, const std::string& text, const std::vector<std::string>& names,
                       const config::Location& where)
    : parser_(std::make_unique<Parser>()), use_(use), text_(in_one_line(text)), names_(names), where_(where) {
  if (text.size() > kLongestExpression) refuse(fmt::format("has more than {} characters", kLongestExpression));
  if (assigns(text)) refuse("assigns with =; == compares");
  if (nests_deeply(text)) refuse("has more than 100 parentheses");
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
    parser_->library.SetExpr(text_);
    const auto& used = parser_->library.GetExprVar();
    for (const std::string& name : names) parser_->used.push_back(used.contains(name));
  } catch (const mup::ParserError& e) {
    refuse_for(e.GetCode(), e.GetToken(), e.GetMsg());
  }
}

Expression::~Expression() = default;

bool Expression::uses(std::size_t variable) const { return parser_->used.at(variable); }

void Expression::set(std::size_t variable, const std::optional<double>& number, const std::string& text) {
  mup::Value& value = parser_->values.at(variable);
  if (number)
    value = *number;
  else if (text == "true" || text == "false")
    value = text == "true";
  else
    value = text;
}

void Expression::set_all() {
  for (mup::Value& value : parser_->values) value = 1.5;
}

double Expression::number() const {
  try {
    const mup::IValue& result = parser_->library.Eval();
    if (result.GetType() != 'f' && result.GetType() != 'i') refuse("gives no number");
    return result.GetFloat();
  } catch (const mup::ParserError& e) {
    refuse_for(e.GetCode(), e.GetToken(), e.GetMsg());
  }
}

bool Expression::holds() const {
  try {
    const mup::IValue& result = parser_->library.Eval();
    if (result.GetType() != 'b') refuse("is neither true nor false");
    return result.GetBool();
  } catch (const mup::ParserError& e) {
    refuse_for(e.GetCode(), e.GetToken(), e.GetMsg());
  }
}

/// The library finds some mistakes only when it evaluates.
void Expression::refuse_for(int code, const std::string& token, const std::string& message) const {
  const bool is_name = !token.empty() && std::all_of(token.begin(), token.end(), continues_name);
  if (code == mup::ecUNASSIGNABLE_TOKEN && !is_name)
    refuse(fmt::format("cannot be read from {} on; operators are + - * / ^ == != < <= > >= && ||", token));
  if (code == mup::ecUNASSIGNABLE_TOKEN)
    refuse(
        fmt::format("has {}, {}{}{}", token, use_.unknown, names_.empty() ? "" : "; it has ", fmt::join(names_, ", ")));
  refuse(fmt::format("cannot be decided: {}", message));
}

void Expression::refuse(const std::string& why) const {
  const std::string shown = text_.size() > 80 ? text_.substr(0, 80) + "..." : text_;
  throw config::UserError(where_, fmt::format("{} = '{}' {}", use_.key, shown, why));
}

std::vector<std::string> texts_in(const std::string& expression) {
  std::vector<std::string> texts;
  for (std::size_t begin = expression.find('"'); begin != std::string::npos;) {
    const std::size_t end = expression.find('"', begin + 1);
    if (end == std::string::npos) break;
    texts.push_back(expression.substr(begin + 1, end - begin - 1));
    begin = expression.find('"', end + 1);
  }
  return texts;
}

bool is_name(const std::string& text) {
  if (names_in(text) != std::vector<std::string>{text}) return false;
  try {
    Expression({"name", ""}, text + " + 1", {text}, {}).number();
    return true;
  } catch (const config::UserError&) {
    return false;
  }
}

std::vector<std::string> names_in(const std::string& expression) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < expression.size();) {
    const std::size_t first = i;
    if (expression[i] == '"') {
      i = std::min(expression.find('"', i + 1), expression.size() - 1) + 1;
    } else if (continues_name(expression[i])) {
      while (i < expression.size() && continues_name(expression[i])) ++i;
      const std::string name = expression.substr(first, i - first);
      const std::size_t next = expression.find_first_not_of(' ', i);
      const bool is_function = next != std::string::npos && expression[next] == '(';
      if (begins_name(name[0]) && !is_function &&
          std::find(kConstants.begin(), kConstants.end(), name) == kConstants.end() &&
          std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    } else {
      ++i;
    }
  }
  return names;
}

}  // namespace sluice::study
