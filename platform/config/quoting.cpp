// SPDX-License-Identifier: Apache-2.0
#include "platform/config/quoting.h"

namespace sluice::config {
namespace {

/// In quotes; a quote within becomes `inner`.
std::string in_quotes(const std::string& text, char quote, const char* inner) {
  std::string result(1, quote);
  for (const char c : text) result += c == quote ? inner : std::string(1, c);
  return result + quote;
}

}  // namespace

std::string csv_cell(const std::string& text) {
  return text.find_first_of(",\"\r\n") == std::string::npos ? text : in_quotes(text, '"', "\"\"");
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i ? "," : "") + csv_cell(cells[i]);
  return line + "\n";
}

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,@%-") ==
                                          std::string::npos;
  return plain ? text : in_quotes(text, '\'', "'\\''");
}

}  // namespace sluice::config
