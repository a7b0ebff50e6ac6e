// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/base/parameters/schema.h"

using namespace sluice::base;
using namespace sluice::base::literals;
using Catch::Matchers::Contains;
using Catch::Matchers::Message;

namespace {

enum class Duplex { kFull, kHalf };

struct Part {
  Time flight = 10_ns;
  static void describe(Schema<Part>& s) {
    s.add("flight", &Part::flight, "one way").range(0_ns, 12_ns).assumed("2 m").uncertainty("10 %");
  }
};

struct Everything {
  Time latency = 85_ns;
  Time none;
  Bytes buffer = 64_KiB;
  Bytes payload{256};
  Bytes boundary{64};
  BitRate rate = 100_Gbps;
  Frequency clock = 3_GHz;
  Ratio share{39, 100};
  double gain = -2;
  unsigned entries = 2;
  unsigned batch = 96;
  int small = -3;
  std::uint8_t lanes = 4;
  std::vector<Time> exits{2_us, 0_ns, 133_us};
  std::vector<unsigned> empty;
  std::vector<unsigned> ports{0, 1};
  std::uint64_t address = 0x8000'0000;
  bool enabled = true;
  Duplex duplex = Duplex::kFull;
  std::string name = "a";
  Part part;
  static void describe(Schema<Everything>& s) {
    using E = Everything;
    s.add("latency", &E::latency, "m").range(0_ns, 1_us).assumed("80 to 100 ns").uncertainty("18 %");
    s.add("none", &E::none, "m").assumed("s");
    s.add("buffer", &E::buffer, "m").range(2_KiB, 80_KiB).stated("s");
    s.add("payload", &E::payload, "m").range(128_B, 256_B).power_of_two().assumed("s");
    s.add("boundary", &E::boundary, "m").choices({64_B, 128_B}).assumed("s");
    s.add("rate", &E::rate, "m").measured("s");
    s.add("clock", &E::clock, "m").derived("s");
    s.add("share", &E::share, "m").range(0, 1).fitted("s", {"V1"});
    s.add("gain", &E::gain, "m").assumed("s");
    s.add("entries", &E::entries, "m").range(1, 64).assumed("s");
    s.add("batch", &E::batch, "m").multiple_of(32).assumed("s");
    s.add("small", &E::small, "m").assumed("s");
    s.add("lanes", &E::lanes, "m").choices({1, 2, 4, 8, 16}).setting();
    s.add("exits", &E::exits, "m").assumed("s");
    s.add("empty", &E::empty, "m").assumed("s");
    s.add("ports", &E::ports, "m").identifier().assumed("s");
    s.add("address", &E::address, "m").hexadecimal().assumed("s");
    s.add("enabled", &E::enabled, "m").assumed("s");
    s.add("duplex", &E::duplex, "m").choices({{"full", Duplex::kFull}, {"half", Duplex::kHalf}}).assumed("s");
    s.add("name", &E::name, "m").assumed("s");
    s.include("part", &E::part);
  }
};

struct Bench {
  const SchemaBase& schema = schema_of<Everything>();
  std::shared_ptr<void> values = schema.defaults();
  /// Both ends of a value's uncertainty as texts; in brackets where there is none, with a star where it is clipped.
  std::pair<std::string, std::string> ends(const char* key, Ratio share) {
    const auto text = [](const Variation& v) {
      return v.text.empty() ? "(" + v.why_none + ")" : v.text + (v.clipped ? "*" : "");
    };
    const Parameter& p = *schema.find(key);
    return {text(p.varied(values.get(), share, Side::kLess)), text(p.varied(values.get(), share, Side::kMore))};
  }
  void set(const char* key, const char* text) { schema.find(key)->assign_text(values.get(), text); }
};

using Ends = std::pair<std::string, std::string>;
const Ratio kQuarter(1, 4);

}  // namespace

TEST_CASE("every quantity is varied by a share of itself, exactly", "[variation]") {
  Bench b;
  CHECK(b.ends("latency", Ratio(18, 100)) == Ends{"69.7 ns", "100.3 ns"});
  CHECK(b.ends("buffer", kQuarter) == Ends{"48 KiB", "80 KiB"});
  CHECK(b.ends("rate", Ratio(5, 100)) == Ends{"95 Gb/s", "105 Gb/s"});
  CHECK(b.ends("clock", Ratio(1, 10)) == Ends{"2.7 GHz", "3.3 GHz"});
  CHECK(b.ends("share", Ratio(1, 10)) == Ends{"0.351", "0.429"});
  CHECK(b.ends("gain", kQuarter) == Ends{"-2.5", "-1.5"});
  CHECK(b.ends("part.flight", Ratio(1, 10)) == Ends{"9 ns", "11 ns"});
}

TEST_CASE("whole numbers are rounded to their grid and move by at least one", "[variation]") {
  Bench b;
  CHECK(b.ends("entries", Ratio(1, 100)) == Ends{"1", "3"});
  CHECK(b.ends("small", Ratio(1, 100)) == Ends{"-4", "-2"});
  CHECK(b.ends("batch", kQuarter) == Ends{"64", "128"});
  CHECK(b.ends("batch", Ratio(1, 2)) == Ends{"32", "160"});
  CHECK(b.ends("batch", Ratio(49, 100)) == Ends{"64", "128"});  // 47.04 is nearer to 32 than to 64
  b.set("entries", "10");
  CHECK(b.ends("entries", kQuarter) == Ends{"7", "13"});  // 2.5 is rounded up
  CHECK(b.ends("entries", Ratio(24, 100)) == Ends{"8", "12"});
}

TEST_CASE("powers of two and choices go to the next one", "[variation]") {
  Bench b;
  CHECK(b.ends("payload", kQuarter) == Ends{"128 B", "(has no greater value)"});
  CHECK(b.ends("boundary", kQuarter) == Ends{"(has no less value)", "128 B"});
  CHECK(b.ends("lanes", kQuarter) == Ends{"2", "8"});
  b.set("payload", "128 B");
  CHECK(b.ends("payload", kQuarter) == Ends{"(has no less value)", "256 B"});
}

TEST_CASE("a range clips what goes beyond it", "[variation]") {
  Bench b;
  CHECK(b.ends("part.flight", kQuarter) == Ends{"7.5 ns", "12 ns*"});
  CHECK(b.ends("buffer", Ratio(1)) == Ends{"2 KiB*", "80 KiB*"});
  b.set("buffer", "80 KiB");
  CHECK(b.ends("buffer", kQuarter) == Ends{"60 KiB", "(has no greater value)"});
  b.set("entries", "1");
  CHECK(b.ends("entries", kQuarter) == Ends{"(has no less value)", "2"});
}

TEST_CASE("the elements of a list are varied together", "[variation]") {
  Bench b;
  CHECK(b.ends("exits", kQuarter) == Ends{"[1.5 us, 0 ns, 99.75 us]", "[2.5 us, 0 ns, 166.25 us]"});
  CHECK(b.ends("empty", kQuarter) == Ends{"(has no less value)", "(has no greater value)"});
}

TEST_CASE("what is 0, certain or no number has no other value", "[variation]") {
  Bench b;
  const Ends none{"(has no less value)", "(has no greater value)"};
  CHECK(b.ends("none", kQuarter) == none);
  CHECK(b.ends("latency", Ratio(0)) == none);
  CHECK(b.ends("payload", Ratio(0)) == none);
  CHECK(b.ends("boundary", Ratio(0)) == none);
  for (const char* key : {"enabled", "duplex", "name"}) CHECK(b.ends(key, kQuarter) == none);
  for (const char* key : {"enabled", "duplex", "name", "ports", "address", "lanes"})
    CHECK_FALSE(b.schema.find(key)->has_uncertainty());
  for (const char* key : {"latency", "none", "gain", "exits", "part.flight"})
    CHECK(b.schema.find(key)->has_uncertainty());
}

TEST_CASE("a text that a variation has is one that the parameter takes", "[variation]") {
  Bench b;
  for (const auto& p : b.schema.parameters())
    for (const Side side : {Side::kLess, Side::kMore}) {
      const Variation v = p->varied(b.values.get(), kQuarter, side);
      if (v.text.empty()) continue;
      const std::shared_ptr<void> copy = b.schema.copy_of(b.values.get());
      p->assign_text(copy.get(), v.text);
      CHECK(p->text(copy.get()) == v.text);
    }
}

TEST_CASE("an uncertainty is the source's, else its kind's", "[variation]") {
  Bench b;
  const auto of = [&](const char* key) { return b.schema.find(key)->default_provenance().effective_uncertainty(); };
  CHECK(of("latency") == Ratio(18, 100));
  CHECK(of("part.flight") == Ratio(1, 10));
  CHECK(of("buffer") == Ratio(0));
  CHECK(of("rate") == Ratio(5, 100));
  CHECK(of("clock") == Ratio(1, 10));
  CHECK(of("share") == Ratio(1, 10));
  CHECK(of("none") == Ratio(25, 100));
}

namespace {

template <int which>
struct Wrong {
  unsigned n = 4;
  std::string name;
  static void describe(Schema<Wrong>& s) {
    if (which == 0) s.add("n", &Wrong::n, "m").setting().uncertainty("10 %");
    if (which == 1) s.add("name", &Wrong::name, "m").assumed("s").uncertainty("10 %");
    if (which == 2) s.add("n", &Wrong::n, "m").assumed("s").uncertainty("101 %");
  }
};

}  // namespace

TEST_CASE("a declaration cannot have an uncertainty without effect", "[variation]") {
  const std::string without = " has an uncertainty, which only a number has that is no setting";
  CHECK_THROWS_MATCHES(schema_of<Wrong<0>>(), std::logic_error, Message("parameter n" + without));
  CHECK_THROWS_MATCHES(schema_of<Wrong<1>>(), std::logic_error, Message("parameter name" + without));
  CHECK_THROWS_MATCHES(schema_of<Wrong<2>>(), std::logic_error, Message("must be 0 % to 100 % of the value"));
}
