#include <vector>

#include <catch2/catch.hpp>

#include "models/base/port.h"

using namespace sluice::base;

namespace {
struct Bench {
  Bench() {
    sender.bind(receiver);
    receiver.on_receive = [this](int&& m) { received.push_back(m); };
    sender.on_credit = [this] { ++told; };
  }
  std::vector<int> received;
  int told = 0;
  Receiver<int> receiver{"nic", 2};
  Sender<int> sender{"link"};
};
}  // namespace

TEST_CASE("a sender is refused when the receiver's credits are spent, and told once when there is one", "[port]") {
  Bench b;
  REQUIRE(b.sender.try_send(1));
  REQUIRE(b.sender.try_send(2));
  REQUIRE_FALSE(b.sender.try_send(3));
  REQUIRE_FALSE(b.sender.try_send(3));
  REQUIRE(b.received == std::vector<int>{1, 2});
  b.receiver.release();
  REQUIRE(b.told == 1);
  b.receiver.release();
  REQUIRE(b.told == 1);
  REQUIRE(b.sender.credits() == 2);
}

TEST_CASE("a sender without credits is listed as waiting for its receiver until it has one", "[port]") {
  Bench b;
  while (b.sender.try_send(0)) {
  }
  REQUIRE(describe_waits().find("link waits for nic: message credit") != std::string::npos);
  b.receiver.release();
  REQUIRE(describe_waits().empty());
}

TEST_CASE("a line tells changes of its level only", "[port]") {
  Line line;
  std::vector<bool> seen;
  line.on_change = [&](bool level) { seen.push_back(level); };
  for (const bool level : {false, true, true, false}) line.set(level);
  REQUIRE(seen == std::vector<bool>{true, false});
}
