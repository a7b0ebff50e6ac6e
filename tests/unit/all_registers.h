// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The registers of all devices that exist, for tests of resets.

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_banks.h"
#include "models/base/registers/register_view.h"

namespace sluice::test {

/// Every register that a debugger sees, with its value.
inline std::string all_registers() {
  std::ostringstream text;
  for (const base::RegisterView* view : base::register_views())
    view->look([&](const base::RegisterValue& r) {
      text << fmt::format("{}.{}[{}] {:#x}\n", view->owner(), r.name, r.element, r.value);
    });
  return text.str();
}

/// Writes the pattern to every register of every bank, as software would.
inline void write_everywhere(std::uint64_t pattern) {
  for (base::RegisterBank* bank : base::register_banks()) {
    std::vector<std::pair<std::uint64_t, unsigned>> places;
    bank->view().look([&](const base::RegisterValue& r) { places.emplace_back(r.offset, r.width); });
    for (const auto& [offset, width] : places) bank->write(offset, &pattern, width);
  }
}

}  // namespace sluice::test
