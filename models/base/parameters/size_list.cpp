// SPDX-License-Identifier: Apache-2.0
#include "models/base/parameters/size_list.h"

#include <charconv>
#include <string>

#include "models/base/parameters/quantity.h"

namespace sluice::base {
namespace {

constexpr std::size_t kMostSizes = 1024;
constexpr const char* kForms = "sizes in bytes such as 8..2048 (doubling), 64..1024:64 (in steps) or 8,64,2048";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

class Parser {
 public:
  explicit Parser(std::uint32_t most) : most_(most) {}

  std::vector<std::uint32_t> parse(std::string_view text) {
    for (;;) {
      const std::size_t comma = text.find(',');
      item(trimmed(text.substr(0, comma)));
      if (comma == std::string_view::npos) return std::move(sizes_);
      text.remove_prefix(comma + 1);
    }
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) { throw ValueError(why); }

  std::uint32_t number(std::string_view text) const {
    std::uint64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size())
      refuse(std::string("must be ") + kForms);
    if (error != std::errc{} || n < 1 || n > most_)
      refuse("must be sizes of 1 to " + std::to_string(most_) + " bytes, not " + std::string(text));
    return static_cast<std::uint32_t>(n);
  }

  void item(std::string_view text) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) return add(number(text));
    const std::size_t colon = text.find(':');
    const std::uint32_t first = number(text.substr(0, dots));
    const std::uint32_t last =
        number(text.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2));
    if (last < first) refuse("must not descend: " + std::to_string(first) + " is more than " + std::to_string(last));
    if (colon == std::string_view::npos) {
      for (std::uint64_t n = first; n <= last; n *= 2) add(n);
      return;
    }
    const std::uint32_t step = number(text.substr(colon + 1));
    for (std::uint64_t n = first; n <= last; n += step) add(n);
  }

  void add(std::uint64_t n) {
    const auto size = static_cast<std::uint32_t>(n);
    if (!sizes_.empty() && size <= sizes_.back())
      refuse("must ascend: " + std::to_string(size) + " follows " + std::to_string(sizes_.back()));
    if (sizes_.size() == kMostSizes) refuse("must be at most " + std::to_string(kMostSizes) + " sizes");
    sizes_.push_back(size);
  }

  std::uint32_t most_;
  std::vector<std::uint32_t> sizes_;
};

}  // namespace

std::vector<std::uint32_t> parse_sizes(std::string_view text, std::uint32_t most) { return Parser(most).parse(text); }

std::string wrong_frame_sizes(std::string_view text, std::uint32_t least, std::uint32_t most) {
  try {
    if (parse_sizes(text, most).front() < least)
      return "must be at least " + std::to_string(least) + " B: shorter frames are padded";
  } catch (const ValueError& e) {
    return e.what();
  }
  return {};
}

}  // namespace sluice::base
