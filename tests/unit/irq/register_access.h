// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Register accesses that must succeed, for tests of devices.

#include <cstdint>
#include <map>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "models/base/registers/register_bank.h"

namespace sluice::test {

inline std::uint64_t read(base::RegisterBank& bank, std::uint64_t offset, unsigned size = 4) {
  std::uint64_t value = 0;
  REQUIRE(bank.read(offset, &value, size) == base::Answer::ok);
  return value;
}

inline void write(base::RegisterBank& bank, std::uint64_t offset, std::uint64_t value, unsigned size = 4) {
  REQUIRE(bank.write(offset, &value, size) == base::Answer::ok);
}

/// The registers that a debugger sees of a device, by name.
inline std::map<std::string, std::uint64_t> look(const std::string& owner) {
  std::map<std::string, std::uint64_t> seen;
  for (const base::RegisterView* view : base::register_views()) {
    if (view->owner() != owner) continue;
    view->look([&](const base::RegisterValue& r) {
      const bool element = r.element != base::RegisterValue::kNoElement;
      seen[element ? fmt::format("{}[{}]", r.name, r.element) : std::string(r.name)] = r.value;
    });
  }
  REQUIRE(!seen.empty());
  return seen;
}

}  // namespace sluice::test
