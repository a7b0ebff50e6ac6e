// SPDX-License-Identifier: Apache-2.0
#include "models/base/parameters/list_text.h"

#include "models/base/parameters/quantity.h"

namespace sluice::base {
namespace {

std::string_view trim_blanks(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Takes a string in quotes off the front of a text. In double quotes, \" and \\ are a quote and a backslash.
std::string take_quoted(std::string_view& text) {
  const char quote = text.front();
  std::string content;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote) {
      text.remove_prefix(i + 1);
      return content;
    }
    const bool escapes = quote == '"' && text[i] == '\\' && i + 1 < text.size();
    if (escapes && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    content += text[i];
  }
  throw ValueError(std::string("has a quote (") + quote + ") without an end");
}

bool begins_with_quote(std::string_view text) { return text.starts_with('"') || text.starts_with('\''); }

/// Whether a text without quotes around it would be read as another string, or as none.
bool needs_quotes(std::string_view s) {
  return trim_blanks(s) != s || begins_with_quote(s) || s.starts_with('[') || s.ends_with('"') || s.ends_with('\'');
}

/// In double quotes.
std::string in_quotes(std::string_view s) {
  std::string text = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

}  // namespace

std::vector<std::string> split_list(std::string_view s) {
  s = trim_blanks(s);
  if (s.starts_with('[')) {
    if (!s.ends_with(']')) throw ValueError("has a bracket ([) without an end");
    s = trim_blanks(s.substr(1, s.size() - 2));
  }
  std::vector<std::string> parts;
  while (!s.empty()) {
    if (begins_with_quote(s)) {
      parts.push_back(take_quoted(s));
      s = trim_blanks(s);
      if (!s.empty() && s.front() != ',') throw ValueError("must have a comma behind a value in quotes");
    } else {
      const std::string_view part = s.substr(0, s.find(','));
      parts.emplace_back(trim_blanks(part));
      s.remove_prefix(part.size());
    }
    if (!s.empty()) s = trim_blanks(s.substr(1));
  }
  return parts;
}

std::string string_text(std::string_view s) { return needs_quotes(s) ? in_quotes(s) : std::string(s); }

std::string unquoted(std::string_view s) {
  if (!begins_with_quote(s)) return std::string(s);
  std::string content = take_quoted(s);
  if (!s.empty()) throw ValueError("has something behind its closing quote");
  return content;
}

std::string list_element(std::string_view s) {
  // With a bracket or a # inside, TOML would read another list.
  return s.empty() || s.find_first_of(",[]#") != std::string_view::npos ? in_quotes(s) : string_text(s);
}

}  // namespace sluice::base
