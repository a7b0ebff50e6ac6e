// SPDX-License-Identifier: Apache-2.0
/// Lists of sizes as a person writes them.
#include <catch2/catch.hpp>

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/size_list.h"

using sluice::base::parse_sizes;
using Sizes = std::vector<std::uint32_t>;

namespace {
std::string refusal(const char* text) {
  try {
    parse_sizes(text, 4096);
  } catch (const sluice::base::ValueError& e) {
    return e.what();
  }
  return "accepted";
}
}  // namespace

TEST_CASE("sizes are single, doubling, in steps, and lists of these", "[size_list]") {
  REQUIRE(parse_sizes("64", 4096) == Sizes{64});
  REQUIRE(parse_sizes("8..64", 4096) == Sizes{8, 16, 32, 64});
  REQUIRE(parse_sizes("8..100", 4096) == Sizes{8, 16, 32, 64});
  REQUIRE(parse_sizes("7..7", 4096) == Sizes{7});
  REQUIRE(parse_sizes("64..256:64", 4096) == Sizes{64, 128, 192, 256});
  REQUIRE(parse_sizes("64..200:64", 4096) == Sizes{64, 128, 192});
  REQUIRE(parse_sizes("8, 64,2048", 4096) == Sizes{8, 64, 2048});
  REQUIRE(parse_sizes("1,8..32,100..300:100,4096", 4096) == Sizes{1, 8, 16, 32, 100, 200, 300, 4096});
}

TEST_CASE("what is no list of sizes is refused with what would be one", "[size_list]") {
  for (const char* text :
       {"", "x", "8..", "..8", "8...64", "8,,64", "8,", "8..64:", "8:64", "8-64", "-8", "8 16", "8B"})
    CHECK_THAT(refusal(text), Catch::StartsWith("must be sizes in bytes such as 8..2048 (doubling)"));
  CHECK(refusal("0") == "must be sizes of 1 to 4096 bytes, not 0");
  CHECK(refusal("8..5000") == "must be sizes of 1 to 4096 bytes, not 5000");
  CHECK(refusal("99999999999999999999999") == "must be sizes of 1 to 4096 bytes, not 99999999999999999999999");
  CHECK(refusal("8..64:0") == "must be sizes of 1 to 4096 bytes, not 0");
  CHECK(refusal("64..8") == "must not descend: 64 is more than 8");
  CHECK(refusal("64,8") == "must ascend: 8 follows 64");
  CHECK(refusal("8,8") == "must ascend: 8 follows 8");
  CHECK(refusal("1..4096:1") == "must be at most 1024 sizes");
}
