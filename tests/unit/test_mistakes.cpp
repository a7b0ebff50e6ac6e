#include <catch2/catch.hpp>

#include "models/base/calendar.h"
#include "models/base/mistakes.h"

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
    const AccessBy outer({&hart, 0x100});
    mistakes().report("a");
    {
      const AccessBy inner({nullptr, 0});
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
    const AccessBy by({&hart, 0x100});
    calendar().dispatch();
    CHECK(access_site().hart == nullptr);
  }
  REQUIRE(mistakes().list().size() == 1);
  CHECK((mistakes().list()[0].hart.empty() && mistakes().list()[0].at == 5_ns));
}

TEST_CASE("the list of mistakes has an end, the counting has none", "[mistakes]") {
  const Fresh fresh;
  for (unsigned i = 0; i < Mistakes::kMost + 10; ++i) mistakes().report(std::to_string(i));
  for (unsigned i = 0; i < 5; ++i) mistakes().report("7");
  CHECK(mistakes().list().size() == Mistakes::kMost);
  CHECK(mistakes().list()[7].times == 6);
  CHECK(mistakes().unlisted() == 10);
}
