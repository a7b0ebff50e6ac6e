#pragma once
/// Register accesses that must succeed, for tests of devices.

#include <cstdint>

#include <catch2/catch.hpp>

#include "models/base/register_bank.h"

namespace sluice::test {

inline std::uint64_t read(base::RegisterBank& bank, std::uint64_t offset, unsigned size = 4) {
  std::uint64_t value = 0;
  REQUIRE(bank.read(offset, &value, size) == base::Answer::ok);
  return value;
}

inline void write(base::RegisterBank& bank, std::uint64_t offset, std::uint64_t value, unsigned size = 4) {
  REQUIRE(bank.write(offset, &value, size) == base::Answer::ok);
}

}  // namespace sluice::test
