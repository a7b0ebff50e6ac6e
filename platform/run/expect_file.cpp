// SPDX-License-Identifier: Apache-2.0
#include "platform/run/expect_file.h"

#include <filesystem>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "models/base/parameters/quantity.h"
#include "platform/board/instances.h"
#include "platform/config/files/board_file.h"

namespace sluice::platform {
namespace {

using Step = uart::ExpectScript::Step;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The text between the quotes that enclose `word`; nothing if `word` is not such a text.
std::optional<std::string> unquoted(std::string_view word) {
  if (word.size() < 2 || word.front() != '"' || word.back() != '"') return {};
  word = word.substr(1, word.size() - 2);
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '"') return {};
    if (word[i] != '\\') {
      text += word[i];
      continue;
    }
    if (++i == word.size()) return {};
    switch (word[i]) {
      case 'n':
        text += '\n';
        break;
      case 'r':
        text += '\r';
        break;
      case 't':
        text += '\t';
        break;
      case '"':
      case '\\':
        text += word[i];
        break;
      case 'x': {
        if (i + 2 >= word.size() || hex_digit(word[i + 1]) < 0 || hex_digit(word[i + 2]) < 0) return {};
        text += static_cast<char>(hex_digit(word[i + 1]) << 4 | hex_digit(word[i + 2]));
        i += 2;
        break;
      }
      default:
        return {};
    }
  }
  return text;
}

class Parser {
 public:
  /// Throws base::ValueError.
  void line(std::string_view line) {
    constexpr std::string_view kBlank = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    line = line.substr(0, line.find_last_not_of(kBlank) + 1);
    if (line.empty() || line.front() == '#') return;
    const std::string_view word = line.substr(0, line.find_first_of(kBlank));
    std::string_view rest = line.substr(word.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlank), rest.size()));
    if (word == "timeout") {
      timeout_ = base::parse_time(rest);
    } else if (word == "expect") {
      steps.push_back({text(word, rest), {}, timeout_});
      if (steps.back().expect.empty()) throw base::ValueError("expect needs a text that is not empty");
    } else if (word == "send") {
      if (steps.empty()) steps.push_back({});
      steps.back().send += text(word, rest);
    } else {
      throw base::ValueError("must begin with expect, send, timeout or #");
    }
  }

  std::vector<Step> steps;

 private:
  static std::string text(std::string_view word, std::string_view quoted) {
    auto text = unquoted(quoted);
    if (!text)
      throw base::ValueError(
          fmt::format("{} needs one text in double quotes; \\n, \\r, \\t, \\\", \\\\ and \\xNN may stand in it", word));
    return *text;
  }

  base::Time timeout_ = base::Time::max();
};

}  // namespace

std::vector<Step> parse_expect(const std::string& text, const std::string& name) {
  Parser parser;
  std::istringstream lines(text);
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      parser.line(line);
    } catch (const base::ValueError& e) {
      throw config::UserError(fmt::format("{}:{}: {}", name, number, e.what()));
    }
  }
  if (parser.steps.empty()) throw config::UserError(name + ": has no step");
  return std::move(parser.steps);
}

std::vector<Step> expect_steps(const config::BoardConfig& board) {
  const config::Instance& uart = board.the("uart");
  const std::string& path = uart.parameters<UartParameters>().expect;
  if (path.empty()) return {};
  const std::string name = std::get<std::string>(uart.schema().find("expect")->value(uart.values()).data);
  try {
    return parse_expect(config::read_text_file(path, name), name);
  } catch (const config::UserError& e) {
    throw board.error(uart, "expect", std::string("cannot be used: ") + e.what());
  }
}

}  // namespace sluice::platform
