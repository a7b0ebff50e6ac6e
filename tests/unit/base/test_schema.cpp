// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/base/parameters/schema.h"

using namespace sluice::base;
using namespace sluice::base::literals;
using Catch::Matchers::Contains;
using Catch::Matchers::Message;

namespace {

enum class Duplex { kFull, kHalf };

struct Wire {
  Time flight = 5_ns;
  static void describe(Schema<Wire>& s) {
    s.add("flight", &Wire::flight, "one way").range(0_ns, 1_us).assumed("1 m of trace");
    s.rule("flight", [](const Wire& w) { return w.flight == 13_ns ? "must not be 13 ns" : ""; });
  }
};

struct Everything {
  int lanes = 16;
  unsigned queues = 1;
  std::int8_t small = -3;
  std::uint64_t base = 0x8000'0000;
  bool enabled = false;
  double gain = 0.1;
  std::string name = "eth";
  Duplex duplex = Duplex::kFull;
  Bytes payload{256};
  BitRate rate{100'000'000'000};
  Frequency clock{3'100'000'000};
  Ratio share{39, 100};
  std::vector<int> weights{1, 2};
  std::vector<std::string> names{"a"};
  std::vector<Duplex> modes;
  std::string slot;
  std::string script;
  std::string code = "a1";
  Wire wire;
  static void describe(Schema<Everything>& s) {
    s.summary("one of each");
    s.add("lanes", &Everything::lanes, "width").choices({1, 2, 4, 8, 16}).setting();
    s.add("queues", &Everything::queues, "queues").range(1, 64).setting();
    s.add("small", &Everything::small, "a small number").setting();
    s.add("base", &Everything::base, "first byte").hexadecimal().multiple_of(4096).setting();
    s.add("enabled", &Everything::enabled, "on").setting();
    s.add("gain", &Everything::gain, "gain").range(0, 1).measured("bench");
    s.add("name", &Everything::name, "name").setting();
    s.add("duplex", &Everything::duplex, "both ways")
        .choices({{"full", Duplex::kFull}, {"half", Duplex::kHalf}})
        .setting();
    s.add("payload", &Everything::payload, "MPS").range(128_B, 4_KiB).power_of_two().stated("PCIe 3.0");
    s.add("rate", &Everything::rate, "line rate").range(1_Mbps, 1000_Gbps).stated("IEEE 802.3");
    s.add("clock", &Everything::clock, "core clock").range(1_MHz, 10_GHz).stated("thesis");
    s.add("share", &Everything::share, "share").range(0, 1).fitted("echo rate", {"V2"});
    s.add("weights", &Everything::weights, "weights").range(1, 4).length(1, 3).unit("packets").setting();
    s.add("names", &Everything::names, "names").setting();
    s.add("modes", &Everything::modes, "modes").choices({{"full", Duplex::kFull}, {"half", Duplex::kHalf}}).setting();
    s.add("slot", &Everything::slot, "where it is plugged in").required().refers_to("pcie");
    s.add("script", &Everything::script, "what is said").names_file().setting();
    s.add("code", &Everything::code, "two characters").setting();
    s.include("wire", &Everything::wire);
    s.rule("lanes", [](const Everything& e) {
      return e.lanes == 1 && e.duplex == Duplex::kHalf ? "must be at least 2 in half duplex" : "";
    });
    s.rule("code", &Everything::code, [](const std::string& code) {
      if (code.size() != 2) throw ValueError("must have two characters");
    });
  }
};

/// Assigns to one parameter of Everything, as a board file and as --set.
struct Bench {
  const SchemaBase& schema = schema_of<Everything>();
  std::shared_ptr<void> values = schema.defaults();
  Everything& p = *static_cast<Everything*>(values.get());
  const Parameter& at(const char* key) { return *schema.find(key); }
  void file(const char* key, Value v) { at(key).assign(values.get(), v); }
  void set(const char* key, const char* text) { at(key).assign_text(values.get(), text); }
};

Value text(const char* s) { return {std::string(s)}; }
Value whole(std::int64_t n) { return {n}; }

}  // namespace

TEST_CASE("a schema knows its parameters by key, its parts' ones included", "[schema]") {
  Bench b;
  CHECK(b.schema.summary() == "one of each");
  CHECK(b.schema.parameters().size() == 19);
  CHECK(b.schema.find("wire.flight")->meaning() == "one way");
  CHECK(b.schema.find("wire.flight")->default_provenance().source == "1 m of trace");
  CHECK(b.schema.find("wire") == nullptr);
  CHECK(b.at("slot").required());
  CHECK(b.at("slot").refers_to() == "pcie");
  CHECK(b.at("script").names_file());
  CHECK_FALSE(b.at("name").names_file());
  CHECK(b.at("lanes").is_setting());
  CHECK_FALSE(b.at("payload").is_setting());
  CHECK(b.at("share").default_provenance().kind == Provenance::Kind::kFitted);
  CHECK(b.at("share").default_provenance().points == std::vector<std::string>{"V2"});
}

TEST_CASE("every type is assigned from a board file's value and from text", "[schema]") {
  Bench b;
  b.file("lanes", whole(8));
  b.file("small", whole(-128));
  b.file("enabled", {true});
  b.file("gain", whole(1));
  b.file("duplex", text("half"));
  b.file("payload", text("512 B"));
  b.file("share", {0.1});
  b.file("weights", {Value::Array{whole(4), whole(1), whole(2)}});
  b.file("modes", {Value::Array{text("half"), text("full")}});
  b.file("wire.flight", text("7.5 ns"));
  CHECK(b.p.lanes == 8);
  CHECK(b.p.small == -128);
  CHECK(b.p.enabled);
  CHECK(b.p.gain == 1.0);
  CHECK(b.p.duplex == Duplex::kHalf);
  CHECK(b.p.payload == 512_B);
  CHECK(b.p.share == Ratio(1, 10));  // exactly, though no double is 0.1
  CHECK(b.p.weights == std::vector<int>{4, 1, 2});
  CHECK(b.p.modes == std::vector<Duplex>{Duplex::kHalf, Duplex::kFull});
  CHECK(b.p.wire.flight == 7'500_ps);

  b.set("lanes", "4");
  b.set("base", "0x1_0000");
  b.set("enabled", "false");
  b.set("gain", "0.25");
  b.set("duplex", "full");
  b.set("rate", "25 Gb/s");
  b.set("clock", "2 GHz");
  b.set("weights", "[3,1]");
  b.set("names", "[\"x\", \"y z\"]");
  CHECK(b.p.names == std::vector<std::string>{"x", "y z"});
  b.set("names", "x, y");
  b.set("wire.flight", "1 ns");
  CHECK(b.p.lanes == 4);
  CHECK(b.p.base == 0x1'0000);
  CHECK_FALSE(b.p.enabled);
  CHECK(b.p.gain == 0.25);
  CHECK(b.p.duplex == Duplex::kFull);
  CHECK(b.p.rate == 25_Gbps);
  CHECK(b.p.clock == 2_GHz);
  CHECK(b.p.weights == std::vector<int>{3, 1});
  CHECK(b.p.names == std::vector<std::string>{"x", "y"});
  CHECK(b.p.wire.flight == 1_ns);
}

TEST_CASE("a number may be a string with a factor and its unit, and a float that is whole", "[schema]") {
  Bench b;
  b.file("lanes", text("8"));
  b.file("queues", {4.0});
  b.file("base", text("0x1_0000"));
  b.file("enabled", text("true"));
  b.file("gain", text("0.5"));
  b.file("weights", {Value::Array{text("1 packet"), text("3 packets"), {2.0}}});
  CHECK(b.p.lanes == 8);
  CHECK(b.p.queues == 4);
  CHECK(b.p.base == 0x1'0000);
  CHECK(b.p.enabled);
  CHECK(b.p.gain == 0.5);
  CHECK(b.p.weights == std::vector<int>{1, 3, 2});
  b.set("base", "4.096k");
  CHECK(b.p.base == 4096);
  b.set("weights", "4 packets, '1'");
  CHECK(b.p.weights == std::vector<int>{4, 1});
  b.set("gain", "0.0002 k");
  CHECK(b.p.gain == 0.2);
  CHECK_THROWS_MATCHES(b.set("weights", "1 frame"), ValueError,
                       Message("must be a whole number; only k, M or G and its unit, packets, may follow it"));
  CHECK_THROWS_MATCHES(b.set("gain", "0.1 x"), ValueError, Message("must be a number; only k, M or G may follow it"));
  CHECK_THROWS_MATCHES(b.set("base", "1 M"), ValueError, Message("must be a multiple of 4096"));
}

TEST_CASE("every string and list reads back from the text that a parameter has for it", "[schema]") {
  Bench b;
  for (const char* s : {"", "a", "a, b", "\"x\"", "'x'", "[a]", "[", " a ", "a\\", "\"\\", "x\"", "it's"}) {
    CAPTURE(s);
    b.file("name", text(s));
    b.file("names", {Value::Array{text(s), text("z"), text(s)}});
    const std::string one = b.at("name").text(b.values.get()), list = b.at("names").text(b.values.get());
    CAPTURE(one, list);
    b.set("name", "other");
    b.set("names", "other");
    b.set("name", one.c_str());
    b.set("names", list.c_str());
    CHECK(b.p.name == s);
    CHECK(b.p.names == std::vector<std::string>{s, "z", s});
  }
}

TEST_CASE("what a parameter cannot take is answered with what it can, and changes nothing", "[schema]") {
  Bench b;
  const auto file_error = [&](const char* key, Value v, const char* message) {
    CAPTURE(key, message);
    CHECK_THROWS_MATCHES(b.file(key, v), ValueError, Message(message));
  };
  file_error("lanes", whole(3), "must be 1, 2, 4, 8 or 16");
  file_error("lanes", text("8 lanes"), "must be a whole number; only k, M or G may follow it");
  file_error("lanes", {8.5}, "must be a whole number");
  file_error("queues", {1e6}, "must be 1 to 64");
  file_error("lanes", whole(std::int64_t{1} << 40), "must be 1, 2, 4, 8 or 16");
  file_error("small", whole(128), "must be -128 to 127");
  file_error("base", whole(-1), "must not be negative");
  file_error("queues", whole(-1), "must be 1 to 64");
  file_error("queues", whole(std::int64_t{1} << 40), "must be 1 to 64");
  file_error("queues", text("two"), "must be a whole number");
  CHECK_THROWS_MATCHES(b.set("queues", "-1"), ValueError, Message("must be 1 to 64"));
  CHECK_THROWS_MATCHES(b.set("queues", "65"), ValueError, Message("must be 1 to 64"));
  CHECK_THROWS_MATCHES(b.set("queues", "many"), ValueError, Message("must be a whole number"));
  CHECK_THROWS_MATCHES(b.set("base", "-1"), ValueError, Message("must not be negative"));
  file_error("base", whole(4095), "must be a multiple of 4096");
  file_error("enabled", whole(1), "must be true or false");
  file_error("gain", {1.5}, "must be 0 to 1");
  file_error("gain", {std::numeric_limits<double>::quiet_NaN()}, "must be a number");
  file_error("duplex", text("both"), "must be full or half");
  file_error("duplex", whole(1), "must be full or half");
  file_error("payload", whole(256), "must be a size with a unit (B, kB, MB, GB, TB, KiB, MiB, GiB or TiB)");
  file_error("payload", text("64 B"), "must be a power of two, 128 B to 4 KiB");
  file_error("payload", text("384 B"), "must be a power of two, 128 B to 4 KiB");
  file_error("rate", text("1 kb/s"), "must be 1 Mb/s to 1 Tb/s");
  file_error("weights", whole(5), "must be 1 to 4");
  file_error("weights", {Value::Array{}}, "must have 1 to 3 elements");
  file_error("weights", {Value::Array{whole(5)}}, "must be 1 to 4");
  file_error("names", {Value::Array{whole(5)}}, "must be a string");
  file_error("wire.flight", text("2 us"), "must be 0 ns to 1 us");

  for (const char* bad : {"", "x", "1x", "0x", "0x-1", "1 2", "99999999999999999999", "1.5", "--1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(b.set("lanes", bad), ValueError);
    CHECK_THROWS_AS(b.set("base", bad), ValueError);
  }
  CHECK(b.p.lanes == 16);
  CHECK(b.p.payload == 256_B);
  CHECK(b.p.weights == std::vector<int>{1, 2});
}

TEST_CASE("a parameter is shown as a person writes it and as a program reads it", "[schema]") {
  Bench b;
  const auto shown = [&](const char* key) { return b.at(key).text(b.values.get()); };
  CHECK(shown("base") == "0x8000_0000");
  CHECK(shown("gain") == "0.1");
  CHECK(shown("wire.flight") == "5 ns");
  CHECK(shown("weights") == "[1, 2]");
  CHECK(shown("duplex") == "full");
  CHECK(std::get<std::uint64_t>(b.at("wire.flight").value(b.values.get()).data) == 5);
  CHECK(b.at("wire.flight").unit() == "ns");
  b.set("wire.flight", "2.5 ns");
  CHECK(std::get<double>(b.at("wire.flight").value(b.values.get()).data) == 2.5);
  CHECK(std::get<std::uint64_t>(b.at("payload").value(b.values.get()).data) == 256);
  CHECK(b.at("payload").unit() == "B");
  CHECK(b.at("weights").unit() == "packets");
  CHECK(b.at("payload").valid() == "a size, a power of two, 128 B to 4 KiB");
  CHECK(b.at("lanes").valid() == "1, 2, 4, 8 or 16");
  CHECK(b.at("weights").valid() == "a list, each a whole number, 1 to 4");
}

TEST_CASE("rules between parameters hold, a part's own included", "[schema]") {
  Bench b;
  const auto broken = [&] {
    std::string text;
    for (const auto& rule : b.schema.rules()) {
      const std::string what = rule.broken(b.values.get());
      if (!what.empty()) text += rule.key + " " + what + ";";
    }
    return text;
  };
  CHECK(broken().empty());
  b.set("wire.flight", "13 ns");
  CHECK(broken() == "wire.flight must not be 13 ns;");
  b.set("wire.flight", "5 ns");
  b.set("lanes", "1");
  b.set("duplex", "half");
  CHECK(broken() == "lanes must be at least 2 in half duplex;");
  b.set("code", "abc");
  CHECK(broken() == "lanes must be at least 2 in half duplex;code must have two characters;");
}

namespace {
/// What a board adds to a model's own parameters.
struct Placed {
  Wire wire;
  std::string end;
  static void describe(Schema<Placed>& s) {
    s.include("", &Placed::wire);
    s.add("end", &Placed::end, "where it ends").required();
  }
};
}  // namespace

TEST_CASE("a part's parameters can stand beside the owner's own", "[schema]") {
  const SchemaBase& schema = schema_of<Placed>();
  const auto values = schema.defaults();
  schema.find("flight")->assign_text(values.get(), "3 ns");
  CHECK(static_cast<Placed*>(values.get())->wire.flight == 3_ns);
  CHECK(schema.rules().front().key == "flight");
}

// A mistake in a model's declaration is found when the schema is first made: in the model's own unit test.
template <int kMistake>
struct Mistaken {
  int a = 100;
  int b = 0;
  static void describe(Schema<Mistaken>& s) {
    if (kMistake == 0) s.add("a", &Mistaken::a, "out of its own range").range(1, 64).setting();
    if (kMistake == 1) s.add("a", &Mistaken::a, "of unknown origin");
    if (kMistake == 2) s.add("a", &Mistaken::a, "fitted to nothing").fitted("by hand", {});
    if (kMistake == 3) s.add("a", &Mistaken::a, "twice").setting(), s.add("a", &Mistaken::b, "twice").setting();
    if (kMistake == 4) s.add("A", &Mistaken::a, "upper case").setting();
    if (kMistake == 5)
      s.add("a", &Mistaken::a, "a value").setting(), s.add("a.b", &Mistaken::b, "in a value").setting();
    if (kMistake == 6) s.rule("nothing", [](const Mistaken&) { return ""; });
    if (kMistake == 7) s.add("a", &Mistaken::a, "no source").measured("");
    if (kMistake == 8) s.add("a", &Mistaken::a, "of nothing").multiple_of(0).setting();
    if (kMistake == 9) s.add("", &Mistaken::a, "without a key").setting();
    if (kMistake == 10) s.add("a..b", &Mistaken::a, "without a word").setting();
    if (kMistake == 11) s.add("a", &Mistaken::a, "one of none").choices({}).setting();
    if (kMistake == 12) s.add("a", &Mistaken::a, "from high to low").range(64, 1).required();
    if (kMistake == 13) s.add("a", &Mistaken::a, "a value").setting(), s.rule("a", nullptr);
  }
};

TEST_CASE("a mistaken declaration is refused", "[schema]") {
  CHECK_THROWS_WITH(schema_of<Mistaken<0>>(), Contains("must be 1 to 64"));
  CHECK_THROWS_WITH(schema_of<Mistaken<1>>(), Contains("does not say where its default comes from"));
  CHECK_THROWS_WITH(schema_of<Mistaken<2>>(), Contains("points"));
  CHECK_THROWS_WITH(schema_of<Mistaken<3>>(), Contains("declared twice"));
  CHECK_THROWS_WITH(schema_of<Mistaken<4>>(), Contains("lower case"));
  CHECK_THROWS_WITH(schema_of<Mistaken<5>>(), Contains("a value and a table"));
  CHECK_THROWS_WITH(schema_of<Mistaken<6>>(), Contains("no parameter"));
  CHECK_THROWS_WITH(schema_of<Mistaken<7>>(), Contains("no source"));
  CHECK_THROWS_WITH(schema_of<Mistaken<8>>(), "parameter a must be a multiple of 0, which nothing is");
  CHECK_THROWS_WITH(schema_of<Mistaken<9>>(), "a parameter's key is words joined by dots, not \"\"");
  CHECK_THROWS_WITH(schema_of<Mistaken<10>>(), "a parameter's key is words joined by dots, not \"a..b\"");
  CHECK_THROWS_WITH(schema_of<Mistaken<11>>(), "parameter a has no choices");
  CHECK_THROWS_WITH(schema_of<Mistaken<12>>(), Contains("the low end is above the high one"));
  CHECK_THROWS_WITH(schema_of<Mistaken<13>>(), "the rule about a has no function");
}
