// SPDX-License-Identifier: Apache-2.0
#pragma once
/// sw/test --full: the acceptance counts.

#include <cstdlib>
#include <string_view>

namespace sluice::tests {

inline bool is_full() {
  const char* full = std::getenv("SLUICE_FULL");
  return full && std::string_view(full) == "1";
}

}  // namespace sluice::tests
