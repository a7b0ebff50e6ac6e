// SPDX-License-Identifier: Apache-2.0
#include "platform/config/natural_order.h"

#include <cstddef>

#include "models/base/parameters/characters.h"

namespace sluice::config {

using base::is_digit;

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto number = [](std::string_view s, std::size_t& at) {
        while (at + 1 < s.size() && s[at] == '0' && is_digit(s[at + 1])) ++at;
        const std::size_t first = at;
        while (at < s.size() && is_digit(s[at])) ++at;
        return s.substr(first, at - first);
      };
      const std::string_view m = number(a, i);
      const std::string_view n = number(b, j);
      if (m.size() != n.size()) return m.size() < n.size();
      if (m != n) return m < n;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // equal but for leading zeros, such as eth1 and eth01
}

}  // namespace sluice::config
