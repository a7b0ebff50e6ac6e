// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/measure/statistics.h"

using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

/// A visitor that writes what it is told in one line.
class Recorder : public StatisticsVisitor {
 public:
  void enter(const StatisticsGroup& g) override { text += g.name() + "{"; }
  void leave(const StatisticsGroup&) override { text += "}"; }
  void integer(const StatisticsLabel& l, std::uint64_t v) override { text += l.name + "=" + std::to_string(v) + ";"; }
  void real(const StatisticsLabel& l, double v) override { text += l.name + "~" + std::to_string(v) + ";"; }
  void histogram(const StatisticsLabel& l, const Histogram& h) override {
    text += l.name + "#" + std::to_string(h.count()) + ";";
  }
  std::string text;
};

std::string walk(StatisticsGroup& group, Time now = {}) {
  Recorder r;
  group.walk(r, now);
  return r.text;
}

}  // namespace

TEST_CASE("a walk shows values in order of registration, then the groups below", "[statistics]") {
  StatisticsGroup root("board");
  std::uint64_t z = 3, a = 4;
  StatisticsGroup second("zeta", &root), first("alpha", &root);
  root.counter("z", "frames", "", z);
  root.counter("a", "frames", "", a);
  first.counter("x", "1", "", a);
  REQUIRE(walk(root) == "board{z=3;a=4;zeta{}alpha{x=4;}}");
  ++z;
  REQUIRE(walk(root) == "board{z=4;a=4;zeta{}alpha{x=4;}}");
}

TEST_CASE("after the warm-up counters count from the snapshot and levels do not", "[statistics]") {
  StatisticsGroup root("board");
  StatisticsGroup nic("nic", &root);
  std::uint64_t frames = 100, fill = 7, bytes = 50;
  Histogram latency;
  latency.add(5);
  nic.counter("frames", "frames", "", frames);
  nic.level("fill", "entries", "", fill);
  nic.counter_of("bytes", "bytes", "", [&] { return 2 * bytes; });
  nic.histogram("latency", "fs", "", latency);
  REQUIRE(walk(root) == "board{nic{frames=100;fill=7;bytes=100;latency#1;}}");

  root.start_measuring(1_us);
  REQUIRE(frames == 100);
  REQUIRE(walk(root) == "board{nic{frames=0;fill=7;bytes=0;latency#0;}}");
  frames += 11;
  bytes += 1;
  latency.add(9);
  REQUIRE(walk(root) == "board{nic{frames=11;fill=7;bytes=2;latency#1;}}");
  REQUIRE(root.value("nic.frames") == 11);
}

TEST_CASE("derived values see what was measured, not the raw counters", "[statistics]") {
  StatisticsGroup core("core");
  std::uint64_t hits = 90, misses = 10, foreign = 0;
  core.counter("hits", "1", "", hits);
  core.counter("misses", "1", "", misses);
  core.derived("ratio", "1", "", [&](const Measured& m) { return m.ratio(m(misses), m(misses) + m(hits)); });
  core.derived("rate", "1/ns", "",
               [&](const Measured& m) { return static_cast<double>(m(hits)) / m.elapsed().nanoseconds(); });
  REQUIRE(walk(core, 9_ns) == "core{hits=90;misses=10;ratio~0.100000;rate~10.000000;}");
  core.start_measuring(10_ns);
  hits += 1;
  misses += 1;
  REQUIRE(walk(core, 12_ns) == "core{hits=1;misses=1;ratio~0.500000;rate~0.500000;}");
  REQUIRE(Measured::ratio(5, 0) == 0);

  core.derived("wrong", "1", "", [&](const Measured& m) { return static_cast<double>(m(foreign)); });
  REQUIRE_THROWS_AS(walk(core), std::logic_error);
}

TEST_CASE("a value that cannot be had is told, and hides no other", "[statistics]") {
  struct Broken : Recorder {
    void broken(const StatisticsLabel& l, const std::string& why) override { text += l.name + ": it " + why + ";"; }
  };
  StatisticsGroup nic("nic");
  std::uint64_t falling = 1000, good = 3;
  bool throws = false;
  nic.counter("falling", "1", "", falling);
  nic.counter_of("asked", "1", "", [&]() -> std::uint64_t {
    if (throws) throw std::runtime_error("no luck");
    return 1;
  });
  nic.derived("thrown", "1", "", [&](const Measured&) -> double {
    if (throws) throw 5;
    return 0.5;
  });
  nic.counter("good", "1", "", good);
  const auto walked = [&nic] {
    Broken b;
    nic.walk(b, {});
    return b.text;
  };
  nic.start_measuring(1_us);
  REQUIRE(walked() == "nic{falling=0;asked=0;thrown~0.500000;good=0;}");
  falling = 900;
  throws = true;
  const std::string all =
      "nic{falling: it fell from 1000 to 900, and a counter only grows;asked: it threw an exception: no luck;"
      "thrown: it threw something that is no std::exception;good=0;}";
  REQUIRE(walked() == all);
  REQUIRE(statistics_text(nic, {}).find("none: it threw an exception: no luck") != std::string::npos);
  REQUIRE_THROWS_WITH(walk(nic), "statistic 'falling' fell from 1000 to 900, and a counter only grows");

  // `asked` throws when measuring starts: it has no value to count from until measuring starts again.
  nic.start_measuring(2_us);
  throws = false;
  REQUIRE(walked() == "nic{falling=0;asked: it threw an exception: no luck;thrown~0.500000;good=0;}");
  nic.start_measuring(3_us);
  REQUIRE(walked() == "nic{falling=0;asked=0;thrown~0.500000;good=0;}");
}

TEST_CASE("a value without its function is refused", "[statistics]") {
  StatisticsGroup nic("nic");
  REQUIRE_THROWS_WITH(nic.counter_of("n", "1", "", nullptr), "statistic 'n' of 'nic' has no function");
  REQUIRE_THROWS_WITH(nic.derived("n", "1", "", nullptr), "statistic 'n' of 'nic' has no function");
}

TEST_CASE("a name used twice is refused", "[statistics]") {
  StatisticsGroup root("board");
  std::uint64_t n = 0;
  root.counter("n", "1", "", n);
  REQUIRE_THROWS_AS(root.level("n", "1", "", n), std::logic_error);
  StatisticsGroup nic("nic", &root);
  REQUIRE_THROWS_AS(StatisticsGroup("nic", &root), std::logic_error);
  REQUIRE(walk(root) == "board{n=0;nic{}}");
}

TEST_CASE("groups leave the tree when they end, in any order", "[statistics]") {
  StatisticsGroup root("board");
  { StatisticsGroup gone("gone", &root); }
  REQUIRE(walk(root) == "board{}");
  auto parent = std::make_unique<StatisticsGroup>("parent", &root);
  StatisticsGroup orphan("orphan", parent.get());
  parent.reset();
  REQUIRE(walk(root) == "board{}");
  REQUIRE(walk(orphan) == "orphan{}");
}

TEST_CASE("values are found by path, also below groups whose names hold dots", "[statistics]") {
  StatisticsGroup root("");
  StatisticsGroup nic("nic", &root), eth("nic.eth0", &root), queue("queue0", &eth);
  std::uint64_t n = 42;
  queue.counter("frames", "frames", "", n);
  REQUIRE(root.value("nic.eth0.queue0.frames") == 42);
  REQUIRE_THROWS_AS(root.value("nic.eth0.queue0.bytes"), std::out_of_range);
  REQUIRE_THROWS_AS(root.value(""), std::out_of_range);
}

TEST_CASE("the text has path, value, unit and meaning", "[statistics]") {
  StatisticsGroup root("");
  StatisticsGroup nic("nic.eth0", &root);
  std::uint64_t n = 1234;
  nic.counter("frames", "frames", "Frames received.", n);
  const std::string text = statistics_text(root, {});
  REQUIRE(text.find("nic.eth0.frames ") == 0);
  REQUIRE(text.find(" 1234 frames ") != std::string::npos);
  REQUIRE(text.find("Frames received.\n") != std::string::npos);
}

TEST_CASE("between two readings, a walk shows what was counted between them, whatever comes later", "[statistics]") {
  StatisticsGroup root("board");
  StatisticsGroup nic("nic", &root);
  std::uint64_t frames = 10, fill = 7;
  nic.counter("frames", "frames", "", frames);
  nic.level("fill", "entries", "", fill);
  nic.derived("rate", "1/us", "", [&](const Measured& m) {
    return Measured::ratio(m(frames), m.elapsed().femtoseconds() / 1'000'000'000);
  });
  root.start_measuring(1_us);
  const StatisticsReading begin = root.read(1_us);
  frames = 16, fill = 3;
  const StatisticsReading first = root.read(3_us);
  frames = 40, fill = 5;
  const StatisticsReading second = root.read(5_us);
  frames = 99, fill = 9;
  CHECK(walk(root, 9_us) == "board{nic{frames=89;fill=9;rate~11.125000;}}");
  root.show_between(begin, first);
  CHECK(walk(root, 9_us) == "board{nic{frames=6;fill=3;rate~3.000000;}}");
  root.show_between(first, second);
  CHECK(walk(root, 9_us) == "board{nic{frames=24;fill=5;rate~12.000000;}}");
}

TEST_CASE("what was counted between two readings is listed by path, and a level as it was at the second",
          "[statistics]") {
  StatisticsGroup root("");
  StatisticsGroup nic("nic.eth0", &root), mac("mac", &nic);
  std::uint64_t frames = 10, fill = 4, busy = 3, met = 1;
  Histogram latency;
  nic.counter("frames", "frames", "", frames);
  nic.histogram("latency", "fs", "", latency);
  nic.level("fill", "entries", "", fill);
  nic.hidden_level("met", met);
  mac.counter_of("busy", "fs", "", [&] { return busy; });
  const StatisticsReading from = root.read(1_us);
  frames = 16, fill = 9, busy = 3;
  const auto list = root.counted_between(from, root.read(2_us));
  REQUIRE(list.size() == 4);
  CHECK((list[0].path == "nic.eth0.frames" && list[0].before == 10 && list[0].value == 6));
  CHECK((list[1].path == "nic.eth0.fill" && list[1].before == 0 && list[1].value == 9));
  CHECK((list[2].path == "nic.eth0.met" && list[2].before == 0 && list[2].value == 1));
  CHECK((list[3].path == "nic.eth0.mac.busy" && list[3].before == 3 && list[3].value == 0));
  CHECK(walk(root).find("met") == std::string::npos);
}

TEST_CASE("resources are counters of time that are listed by their groups", "[statistics]") {
  StatisticsGroup root("");
  StatisticsGroup slot("pcie.slot0", &root), wire("net.wire0", &root), one_way("a_to_b", &wire);
  std::uint64_t up = 5, tlps = 1, line = 6;
  slot.counter("tlps", "TLPs", "", tlps);
  slot.resource("up_busy", "upstream", "serialising", [&] { return up; });
  one_way.resource("busy", "", "occupied", [&] { return line; });
  CHECK(walk(root) == "{pcie.slot0{tlps=1;up_busy=5;}net.wire0{a_to_b{busy=6;}}}");
  const StatisticsReading reading = root.read({});
  up = 50;
  std::vector<Resource> list;
  root.read_resources(list);
  REQUIRE(list.size() == 2);
  CHECK((list[0].group == "pcie.slot0" && list[0].title == "upstream" && list[0].busy_fs == 50));
  CHECK((list[1].group == "net.wire0.a_to_b" && list[1].title.empty() && list[1].busy_fs == 6));
  CHECK(root.resources_in(reading) == std::vector<std::uint64_t>{5, 6});
}
