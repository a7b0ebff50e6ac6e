// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/base/measure/mistakes.h"
#include "models/base/time/calendar.h"

using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

struct Fresh {
  Fresh() {
    calendar().clear();
    mistakes().clear();
  }
};

}  // namespace

TEST_CASE("a mistake knows the instruction that it came from", "[mistakes]") {
  const Fresh fresh;
  const std::string hart = "cluster.host.hart0";
  {
    const AccessSiteScope outer({&hart, 0x100});
    mistakes().report("a");
    {
      const AccessSiteScope inner({nullptr, 0});
      mistakes().report("b");
    }
    mistakes().report("a");
  }
  mistakes().report("a");
  const auto& list = mistakes().list();
  REQUIRE(list.size() == 3);
  CHECK((list[0].hart == hart && list[0].pc == 0x100 && list[0].times == 2));
  CHECK((list[1].what == "b" && list[1].hart.empty()));
  CHECK((list[2].what == "a" && list[2].hart.empty() && list[2].times == 1));
}

TEST_CASE("what happens while an access waits is not its doing", "[mistakes]") {
  const Fresh fresh;
  const std::string hart = "cluster.host.hart0";
  calendar().at(5_ns, 1, [] { mistakes().report("by a device"); });
  {
    const AccessSiteScope by({&hart, 0x100});
    calendar().dispatch();
    CHECK(access_site().hart == nullptr);
  }
  REQUIRE(mistakes().list().size() == 1);
  CHECK((mistakes().list()[0].hart.empty() && mistakes().list()[0].at == 5_ns));
}

TEST_CASE("what is muted is no mistake, but has been reported", "[mistakes]") {
  const Fresh fresh;
  {
    const MistakesMuted outer;
    { const MistakesMuted inner; }
    mistakes().report("a");
  }
  CHECK(mistakes().list().empty());
  CHECK(mistakes().unlisted() == 0);
  CHECK(mistakes().reports() == 1);
  mistakes().report("b");
  CHECK(mistakes().list().size() == 1);
}

TEST_CASE("the list of mistakes has an end, the counting has none", "[mistakes]") {
  const Fresh fresh;
  for (unsigned i = 0; i < Mistakes::kMost + 10; ++i) mistakes().report("device" + std::to_string(i));
  for (unsigned i = 0; i < 5; ++i) mistakes().report("device7");
  CHECK(mistakes().list().size() == Mistakes::kMost);
  CHECK(mistakes().list()[7].times == 6);
  CHECK(mistakes().unlisted() == 10);
}

TEST_CASE("mistakes that differ in numbers only leave room for others", "[mistakes]") {
  const Fresh fresh;
  const std::string hart = "cluster.host.hart0";
  const Site loop{&hart, 0x100}, elsewhere{&hart, 0x104};
  for (unsigned i = 0; i < 1000; ++i) mistakes().report("nic.eth0: read at 0x" + std::to_string(1000 + i) + "c", loop);
  mistakes().report("nic.eth0: read at 0x1000c", elsewhere);
  mistakes().report("nic.eth1: read at 0x1000c", loop);
  mistakes().report("nic.eth0: read at 0x1002c", loop);
  const auto& list = mistakes().list();
  REQUIRE(list.size() == Mistakes::kAlike + 2);
  CHECK((list[0].what == "nic.eth0: read at 0x1000c" && list[0].times == 1 && list[0].others == 996));
  CHECK((list[2].what == "nic.eth0: read at 0x1002c" && list[2].times == 2 && list[2].others == 0));
  CHECK((list[Mistakes::kAlike].pc == 0x104 && list[Mistakes::kAlike].others == 0));
  CHECK(list[Mistakes::kAlike + 1].what == "nic.eth1: read at 0x1000c");
  CHECK(mistakes().unlisted() == 0);
}

TEST_CASE("a transfer counts once, however many of its packets are refused", "[mistakes]") {
  const Fresh fresh;
  for (std::uint64_t transfer = 1; transfer <= 3; ++transfer)
    for (unsigned packet = 0; packet < 16; ++packet) mistakes().report("nic.eth0: DMA to 0x1000", {}, transfer);
  mistakes().report("nic.eth0: DMA to 0x1000");
  REQUIRE(mistakes().list().size() == 1);
  CHECK(mistakes().list()[0].times == 4);
  CHECK(mistakes().reports() == 49);
  for (std::uint64_t transfer = 101; transfer <= 200; ++transfer)
    for (unsigned packet = 0; packet < 2; ++packet)
      mistakes().report("nic.eth0: DMA to " + std::to_string(transfer), {}, transfer);
  REQUIRE(mistakes().list().size() == Mistakes::kAlike);
  CHECK(mistakes().list()[0].others == 100 - (Mistakes::kAlike - 1));
}

TEST_CASE("a transfer counts once, whatever each of its packets finds", "[mistakes]") {
  const Fresh fresh;
  for (std::uint64_t transfer = 1; transfer <= 2; ++transfer)
    for (unsigned packet = 0; packet < 16; ++packet)
      mistakes().report("nic.eth0: DMA to 0x1000: clint: write at " + std::to_string(packet), {}, transfer);
  mistakes().report("nic.eth0: DMA to 0x1000: nothing is there", {}, 2);
  REQUIRE(mistakes().list().size() == 1);
  CHECK((mistakes().list()[0].what == "nic.eth0: DMA to 0x1000: clint: write at 0" && mistakes().list()[0].times == 2));
}

TEST_CASE("what is caught is not listed, and the first of it is known", "[mistakes]") {
  const Fresh fresh;
  {
    const CaughtReport outer;
    mistakes().report("a");
    {
      const CaughtReport inner;
      CHECK(inner.what().empty());
      mistakes().report("b");
      CHECK(inner.what() == "b");
    }
    mistakes().report("c");
    CHECK(outer.what() == "a");
  }
  CHECK(mistakes().reports() == 0);
  mistakes().report("d");
  REQUIRE(mistakes().list().size() == 1);
  CHECK(mistakes().list()[0].what == "d");
}

namespace {

/// Calls sites by their numbers.
struct Names : SiteNames {
  Names() { mistakes().name_by(this); }
  ~Names() override { mistakes().name_by(nullptr); }
  std::string process_at(const Site& site) override { return prefix + std::to_string(site.user_space); }
  std::string function_at(const Site& site) override { return "f" + std::to_string(site.pc); }
  std::string prefix = "p";
};

}  // namespace

TEST_CASE("a mistake has the names of its time, and one of each process is listed", "[mistakes]") {
  const Fresh fresh;
  Names names;
  const std::string hart = "cluster.host.hart0";
  const auto report = [&hart](std::uint64_t space) {
    mistakes().report("a", {.hart = &hart, .pc = 5, .user_space = space});
  };
  report(0);
  report(7);
  report(8);
  report(7);
  names.prefix = "q";  // another process has the address space now
  report(7);
  mistakes().report("b", {});
  const auto& list = mistakes().list();
  REQUIRE(list.size() == 5);
  CHECK((list[0].process.empty() && list[0].function == "f5" && list[0].user_space == 0));
  CHECK((list[1].process == "p7" && list[1].function == "f5" && list[1].user_space == 7 && list[1].times == 2));
  CHECK((list[2].process == "p8" && list[2].times == 1));
  CHECK((list[3].process == "q7" && list[3].times == 1));
  CHECK((list[4].process.empty() && list[4].function.empty()));
}
