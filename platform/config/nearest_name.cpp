// SPDX-License-Identifier: Apache-2.0
#include "platform/config/nearest_name.h"

#include <algorithm>

namespace sluice::config {

namespace {
// Most characters of a typed name that are compared, because the table of distances is quadratic.
constexpr std::size_t kLongest = 100;
}  // namespace

unsigned edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<unsigned>> d(a.size() + 1, std::vector<unsigned>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = static_cast<unsigned>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = static_cast<unsigned>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const unsigned replace = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::string nearest_name(std::string_view typed, const std::vector<std::string>& names) {
  if (typed.size() > kLongest) return {};
  unsigned limit = std::max(1u, static_cast<unsigned>(typed.size()) / 3);
  const std::string* nearest = nullptr;
  for (const std::string& name : names) {
    const unsigned distance = edit_distance(typed, name);
    if (distance < limit + (nearest == nullptr)) {
      limit = distance;
      nearest = &name;
    }
  }
  return nearest ? *nearest : std::string();
}

std::string suggestion(std::string_view typed, const std::vector<std::string>& names, const std::string& prefix) {
  if (names.empty()) return {};
  const std::string name = nearest_name(typed, names);
  if (!name.empty()) return "; did you mean " + prefix + name + "?";
  return "; valid: " + shortened(typed, names);
}

std::string shortened(std::string_view typed, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 12;
  std::vector<const std::string*> chosen;
  for (const std::string& n : names) chosen.push_back(&n);
  if (names.size() > kMost && !typed.empty()) {
    const std::string_view start = typed.substr(0, kLongest);
    std::stable_sort(chosen.begin(), chosen.end(), [start](const std::string* a, const std::string* b) {
      return edit_distance(start, *a) < edit_distance(start, *b);
    });
    chosen.resize(kMost);
  }
  std::string text;
  for (const std::string* n : chosen) text += (text.empty() ? "" : ", ") + *n;
  const std::size_t left = names.size() - chosen.size();
  return left > 0 ? text + " and " + std::to_string(left) + " more" : text;
}

}  // namespace sluice::config
