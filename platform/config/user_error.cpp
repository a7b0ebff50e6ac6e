// SPDX-License-Identifier: Apache-2.0
#include "platform/config/user_error.h"

#include <algorithm>
#include <string_view>

namespace sluice::config {
namespace {

// Longer than every path and name that a person types.
constexpr std::size_t kLongestWord = 300, kLongestSentence = 4000;
constexpr std::size_t kShownOfWord = 60, kShownOfSentence = 1000;

/// At most n bytes of the start, without a part of a character.
std::string_view start_of(std::string_view text, std::size_t n) {
  while (n > 0 && n < text.size() && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) --n;
  return text.substr(0, n);
}

std::string shortened_to(std::string_view text, std::size_t n) {
  return std::string(start_of(text, n)) + "... (" + std::to_string(text.size()) + " characters)";
}

/// Punctuation behind a long word stays: it belongs to the sentence.
void append_word(std::string& text, std::string_view word) {
  const std::size_t last = word.find_last_not_of(":;,?\"");
  const std::size_t size = last == std::string_view::npos ? word.size() : last + 1;
  if (size <= kLongestWord)
    text += word.substr(0, size);
  else
    text += shortened_to(word.substr(0, size), kShownOfWord);
  text += start_of(word.substr(size), kShownOfWord);
}

}  // namespace

std::string UserError::in_one_line(std::string s) {
  for (char& c : s)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  std::string text;
  for (std::string_view rest = s; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    append_word(text, rest.substr(0, end));
    if (end < rest.size()) text += ' ';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (text.size() <= kLongestSentence) return text;
  // What is wrong stands at the end.
  std::size_t tail = text.size() - kShownOfSentence;
  while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xc0) == 0x80) ++tail;
  return shortened_to(text, kShownOfSentence) + " ..." + text.substr(tail);
}

}  // namespace sluice::config
