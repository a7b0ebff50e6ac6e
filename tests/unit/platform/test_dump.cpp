// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "platform/config/dump.h"

using sluice::config::json_text;
using Json = nlohmann::ordered_json;

TEST_CASE("arrays of numbers are written in one line, and all else as before", "[dump]") {
  const auto json = Json::parse(
      R"({"b": [1, -2.5, 1e300], "a": [], "o": {}, "n": null, "mixed": [1, "two"], "deep": [[1, 2], {"k": [3]}]})");
  CHECK(json_text(json) == R"({
  "b": [1, -2.5, 1e+300],
  "a": [],
  "o": {},
  "n": null,
  "mixed": [
    1,
    "two"
  ],
  "deep": [
    [1, 2],
    {
      "k": [3]
    }
  ]
}
)");
  CHECK(json_text({{"broken", "\xff \"quoted\"\n"}}) == "{\n  \"broken\": \"\xEF\xBF\xBD \\\"quoted\\\"\\n\"\n}\n");
  CHECK(json_text(7) == "7\n");
}

TEST_CASE("what is written is what is read back", "[dump]") {
  const Json json = {
      {"max", ~0ull}, {"min", INT64_MIN}, {"real", {0.1, 1e-300}}, {"list", {{{"a", {{}}}}, nullptr, true}}};
  CHECK(Json::parse(json_text(json)) == json);
}
