// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <catch2/catch.hpp>

#include "models/base/parameters/list_text.h"
#include "models/base/parameters/number.h"
#include "models/base/parameters/quantity.h"

using namespace sluice::base;
using Catch::Matchers::Message;

namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};

std::string with(const char* text, const char* unit = "") { return without_unit(text, unit, "a whole number"); }

std::string random_text(std::mt19937_64& random, std::string_view alphabet, unsigned most) {
  std::string text(random() % (most + 1), ' ');
  for (char& c : text) c = alphabet[random() % alphabet.size()];
  return text;
}

}  // namespace

TEST_CASE("a whole number may have an exponent, a fraction that it makes whole, and underscores", "[number]") {
  CHECK(parse_unsigned("1000000") == 1'000'000);
  CHECK(parse_unsigned(" 1_000_000 ") == 1'000'000);
  CHECK(parse_unsigned("1e6") == 1'000'000);
  CHECK(parse_unsigned("1E+6") == 1'000'000);
  CHECK(parse_unsigned("1.5e3") == 1'500);
  CHECK(parse_unsigned("1500.0") == 1'500);
  CHECK(parse_unsigned("15000e-1") == 1'500);
  CHECK(parse_unsigned("0.000e-7") == 0);
  CHECK(parse_unsigned("0e999999999999") == 0);
  CHECK(parse_unsigned("0x8000_0000") == 0x8000'0000);
  CHECK(parse_unsigned("18446744073709551615") == kMost);
  CHECK(parse_unsigned("1844674407370955161.5e1") == kMost);
  CHECK(parse_unsigned("-0") == 0);
  CHECK(parse_signed("-1.5e3") == -1'500);
  CHECK(parse_signed("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("what is no whole number of 64 bits is refused", "[number]") {
  for (const char* text :
       {"",   " ",   "1.5", "1e-1", "15e-1", "0.1e0", "1.",  ".5e1", "1e",  "e6",  "1e6.0", "1e 6", "1 e6",
        "+1", "--1", "1_",  "_1",   "0x",    "0x-1",  "0xg", "1x",   "one", "inf", "nan",   "1,000"}) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(parse_unsigned(text), ValueError, Message("must be a whole number"));
    CHECK_THROWS_MATCHES(parse_signed(text), ValueError, Message("must be a whole number"));
  }
  for (const char* text : {"18446744073709551616", "1e20", "1e999999999999", "0x1_0000_0000_0000_0000"}) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(parse_unsigned(text), ValueError, Message("must be a whole number of at most 64 bits"));
  }
  CHECK_THROWS_MATCHES(parse_unsigned("-1e3"), ValueError, Message("must not be negative"));
}

TEST_CASE("a float of a file is a whole number where it can only be that one", "[number]") {
  CHECK(whole_of(1e6) == 1'000'000);
  CHECK(whole_of(-8.0) == -8);
  CHECK(whole_of(0x1p53) == 1ll << 53);
  for (const double value : {0.5, 1e-300, 0x1p53 + 2, 1e300, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(value);
    CHECK_THROWS_MATCHES(whole_of(value), ValueError, Message("must be a whole number"));
  }
}

TEST_CASE("a number may have a factor and its unit behind it", "[number]") {
  for (const char* text : {"2 M/s", "2M/s", "2 M 1/s", "2M", "2 M", " 2  M  "}) {
    CAPTURE(text);
    CHECK(with(text, "1/s") == "2e6");
  }
  CHECK(with("2_000_000 /s", "1/s") == "2000000");
  CHECK(with("2000000 1/s", "1/s") == "2000000");
  CHECK(with("2000000/s", "1/s") == "2000000");
  CHECK(with("1.5 k") == "1.5e3");
  CHECK(with("3G") == "3e9");
  CHECK(with("-3 k") == "-3e3");
  CHECK(with("1e6") == "1e6");
  CHECK(with("0x10 entries", "entries") == "0x10");
  CHECK(with("100 calls", "calls") == "100");
  CHECK(with("1 call", "calls") == "1");
  CHECK(with("1 entry", "entries") == "1");
  CHECK(with("5 keys", "keys") == "5");
  CHECK(with("1 k keys", "keys") == "1e3");
  CHECK(with("50%", "%") == "50");
  CHECK(with("64 B", "bytes") == "64");
  CHECK(with("64 bytes", "bytes") == "64");
  for (const char* text : {"", "many", "x 5", "-x"}) CHECK(with(text, "calls") == text);
}

TEST_CASE("anything else behind a number is answered with what may be there", "[number]") {
  for (const char* text : {"5 ns", "5 K", "5 m", "5 KiB", "1e3 M", "0x10 k", "5 k k", "5 calls", "5, 6", "5 /s"}) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(with(text), ValueError, Message("must be a whole number; only k, M or G may follow it"));
  }
  for (const char* text : {"5 call s", "5 kcalls", "5 M1/s", "5 calls M", "5 frames"}) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(with(text, "calls"), ValueError,
                         Message("must be a whole number; only k, M or G and its unit, calls, may follow it"));
  }
  for (const char* text : {"64k", "64 k", "1 M bytes", "64 KiB"}) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(
        with(text, "bytes"), ValueError,
        Message("must be a whole number of bytes, without k, M or G, which could mean powers of 1000 or of 1024"));
  }
}

TEST_CASE("every form of a whole number reads back", "[number]") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t n = random() >> (random() % 64);
    const std::string digits = std::to_string(n);
    CAPTURE(n);
    REQUIRE(parse_unsigned(digits) == n);
    // With its point at any place, and an exponent that takes it back.
    const std::size_t point = 1 + random() % digits.size();
    const std::size_t behind = digits.size() - point;
    const std::string fraction = behind == 0 ? "" : "." + digits.substr(point);
    REQUIRE(parse_unsigned(digits.substr(0, point) + fraction + "e" + std::to_string(behind)) == n);
    if (behind == 0 || digits.find_first_not_of('0', point) == std::string::npos)
      REQUIRE(parse_unsigned(digits.substr(0, point) + fraction) == parse_unsigned(digits.substr(0, point)));
    else
      REQUIRE_THROWS_AS(parse_unsigned(digits.substr(0, point) + fraction), ValueError);
    const std::uint64_t small = n % 18'446'744'073;
    REQUIRE(parse_unsigned(without_unit(std::to_string(small) + " G/s", "1/s", "")) == small * 1'000'000'000);
    REQUIRE(parse_unsigned(hexadecimal(n)) == n);
  }
}

TEST_CASE("random text is a number or a ValueError", "[number]") {
  std::mt19937_64 random(2);
  unsigned read = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = random_text(random, "0123456789._-+eEx kMG/1sab", 9);
    for (const char* unit : {"", "1/s", "bytes", "calls"}) {
      try {
        const std::uint64_t n = parse_unsigned(without_unit(text, unit, "a number"));
        CAPTURE(text, n);
        REQUIRE(parse_unsigned(std::to_string(n)) == n);
        ++read;
      } catch (const ValueError& e) {
        REQUIRE(std::string(e.what()).starts_with("must "));
      }
    }
  }
  CHECK(read > 1'000);
}

TEST_CASE("quotes hold together an element of a list", "[list]") {
  using Parts = std::vector<std::string>;
  CHECK(split_list("[a, b c,d]") == Parts{"a", "b c", "d"});
  CHECK(split_list(R"(["a, b", 'c "d"', e])") == Parts{"a, b", "c \"d\"", "e"});
  CHECK(split_list(R"(e, "f\"g\\")") == Parts{"e", "f\"g\\"});
  CHECK(split_list("[\"\"]") == Parts{""});
  CHECK(split_list("[]").empty());
  CHECK(split_list(" ").empty());
  CHECK_THROWS_MATCHES(split_list("a, \"b"), ValueError, Message("has a quote (\") without an end"));
  CHECK_THROWS_MATCHES(split_list("[a"), ValueError, Message("has a bracket ([) without an end"));
  CHECK_THROWS_MATCHES(split_list("'a"), ValueError, Message("has a quote (') without an end"));
  CHECK_THROWS_MATCHES(split_list("\"a\" b"), ValueError, Message("must have a comma behind a value in quotes"));
}

TEST_CASE("every string and every list of strings reads back from its text", "[list]") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 50'000; ++i) {
    const std::string s = random_text(random, "ab \"'\\,[]0#", 6);
    CAPTURE(s);
    REQUIRE(unquoted(string_text(s)) == s);
    std::vector<std::string> list(random() % 4);
    std::string text;
    for (std::string& e : list) {
      e = random_text(random, "ab \"'\\,[]0#", 6);
      text += (text.empty() ? "" : ", ") + list_element(e);
    }
    CAPTURE(text);
    REQUIRE(split_list("[" + text + "]") == list);
  }
}
