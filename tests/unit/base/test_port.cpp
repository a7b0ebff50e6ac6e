// SPDX-License-Identifier: Apache-2.0
/// Message ports with a protocol of four virtual channels, as coherence links have them. Requests wait only for the
/// receiver's buffers of their own channel; acknowledgements may not overtake the data before them.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/fabric/line.h"
#include "models/base/fabric/link_direction.h"
#include "models/base/time/calendar.h"
#include "models/base/time/who_waits.h"

using namespace sluice::base;
using namespace sluice::base::literals;

namespace {

enum class Channel : std::uint8_t { kRequest, kForward, kData, kAcknowledgement };

struct LineMessage : Message {
  Channel channel = Channel::kRequest;
  int number = 0;
};

struct LineProtocol {
  using Message = LineMessage;
  using Pointer = std::unique_ptr<LineMessage>;
  using Channel = ::Channel;
  struct Statistics : DirectionStatistics {
    std::uint64_t messages = 0;
    void count(const LineMessage&) { ++messages; }
    void count_again(const LineMessage&) {}
  };
  static constexpr unsigned kChannels = 4;
  static Channel channel(const LineMessage& m) { return m.channel; }
  static unsigned data_units(const LineMessage& m) { return m.channel == Channel::kData ? 8 : 0; }
  static unsigned header_bytes(const LineMessage&) { return 8; }
  static unsigned wire_bytes(const LineMessage& m) { return m.channel == Channel::kData ? 136 : 8; }
  static constexpr bool may_pass(Channel younger, Channel older) {
    return younger != Channel::kAcknowledgement || older != Channel::kData;
  }
  static const char* name(const LineMessage&) { return "line"; }
  static RequestId shown_for(const LineMessage&) { return 0; }
  static void transmitted(LineMessage&, Time) {}
};

/// 1 B/ns, 10 ns of flight; a credit returns 20 ns after its buffer is free. There are buffers for two messages of each
/// channel but data, and for two lines of data.
struct Bench {
  Bench() {
    calendar().clear();
    calendar().set_now({});
    direction.connect(sender, receiver);
    receiver.on_receive = [this](std::unique_ptr<LineMessage> m) {
      received.push_back(m->number);
      at.push_back(now());
      held.push_back(std::move(m));
    };
  }
  void send(Channel channel, int number) {
    auto m = std::make_unique<LineMessage>();
    m->channel = channel;
    m->number = number;
    sender.send(std::move(m));
  }
  void free_buffer(int number) {
    for (auto& m : held)
      if (m->number == number) m->return_credits(static_cast<unsigned>(m->channel), LineProtocol::data_units(*m));
  }
  void run() {
    while (calendar().next() != Time::max()) calendar().dispatch();
  }

  std::vector<int> received;
  std::vector<Time> at;
  std::vector<std::unique_ptr<LineMessage>> held;
  Port<LineProtocol> sender{"cache"};
  Port<LineProtocol> receiver{"home"};
  LinkDirection<LineProtocol> direction{{"link",
                                         SLUICE_STAGE_coherence_message,
                                         0,
                                         Ratio(1'000'000, 1),
                                         10_ns,
                                         20_ns,
                                         {{{2, 0}, {2, 0}, {0, 16}, {2, 0}}}}};
};

}  // namespace

TEST_CASE("a channel without credits keeps its messages back in order, and no other channel's", "[port]") {
  Bench b;
  for (int i = 1; i <= 4; ++i) b.send(Channel::kRequest, i);
  b.send(Channel::kForward, 5);
  b.run();
  REQUIRE(b.received == std::vector<int>{1, 5, 2});  // channels take turns
  REQUIRE(b.sender.queued(Channel::kRequest) == 2);
  REQUIRE(b.direction.available(Channel::kRequest).messages == 0);
  REQUIRE(b.direction.available(Channel::kForward).messages == 1);

  const Time freed = now();
  b.free_buffer(1);
  b.run();
  REQUIRE(b.received.back() == 3);
  REQUIRE(b.at.back() == freed + 20_ns + 8_ns + 10_ns);
  b.free_buffer(2);
  b.run();
  REQUIRE(b.received == std::vector<int>{1, 5, 2, 3, 4});
  REQUIRE(b.direction.statistics().credit_stalls == 2);
  REQUIRE(b.direction.statistics().messages == 5);
}

TEST_CASE("data has credits of its own, counted in its units", "[port]") {
  Bench b;
  for (int i = 1; i <= 3; ++i) b.send(Channel::kData, i);
  b.run();
  REQUIRE(b.received == std::vector<int>{1, 2});
  REQUIRE(b.direction.available(Channel::kData).messages == ~0u);  // infinite
  REQUIRE(b.direction.available(Channel::kData).data == 0);
  b.free_buffer(2);
  b.run();
  REQUIRE(b.received == std::vector<int>{1, 2, 3});
}

TEST_CASE("a message passes older ones of other channels only where the protocol lets it", "[port]") {
  Bench b;
  for (int i = 1; i <= 3; ++i) b.send(Channel::kData, i);
  b.send(Channel::kAcknowledgement, 4);
  b.send(Channel::kRequest, 5);
  b.run();
  REQUIRE(b.received == std::vector<int>{1, 5, 2});  // 3 has no credits, 4 may not pass it
  b.free_buffer(1);
  b.run();
  REQUIRE(b.received == std::vector<int>{1, 5, 2, 3, 4});
}

TEST_CASE("all credits come back when all buffers are free", "[port]") {
  Bench b;
  for (int i = 0; i < 2; ++i)
    for (const Channel c : {Channel::kRequest, Channel::kForward, Channel::kData, Channel::kAcknowledgement})
      b.send(c, 4 * i + static_cast<int>(c));
  b.run();
  REQUIRE(b.received.size() == 8);
  for (int i = 0; i < 8; ++i) b.free_buffer(i);
  calendar().set_now(now() + 20_ns);
  for (const Channel c : {Channel::kRequest, Channel::kForward, Channel::kAcknowledgement})
    REQUIRE(b.direction.available(c).messages == 2);
  REQUIRE(b.direction.available(Channel::kData).data == 16);
}

TEST_CASE("buffers of before a link went down give nothing back, and go with their last message", "[port]") {
  Bench b;
  const auto round = [&](int number) {
    b.send(Channel::kData, number);
    b.send(Channel::kForward, number + 1);
    b.run();
    b.direction.set_up(false);
    b.direction.set_up(true);
  };
  round(1);  // buffers from before the link was first down are not counted
  REQUIRE(b.direction.old_buffers() == 0);
  round(3);
  round(5);
  REQUIRE(b.received == std::vector<int>{1, 2, 3, 4, 5, 6});
  REQUIRE(b.direction.old_buffers() == 2);
  b.free_buffer(1);
  b.free_buffer(3);
  REQUIRE(b.direction.old_buffers() == 2);
  b.free_buffer(4);
  REQUIRE(b.direction.old_buffers() == 1);
  b.free_buffer(6);
  b.free_buffer(5);
  REQUIRE(b.direction.old_buffers() == 0);
  REQUIRE(b.direction.available(Channel::kData).data == 16);
  REQUIRE(b.direction.available(Channel::kForward).messages == 2);
}

TEST_CASE("a link that goes down again and again keeps no buffers without messages", "[port]") {
  Bench b;
  for (int i = 0; i < 1000; ++i) {
    b.send(Channel::kRequest, i);
    if (i % 2 == 0) b.run();  // otherwise the message is lost on its way
    b.free_buffer(i);
    b.direction.set_up(false);
    b.direction.set_up(true);
  }
  REQUIRE(b.received.size() == 500);
  REQUIRE(b.direction.lost() == 500);
  REQUIRE(b.direction.old_buffers() == 0);
}

TEST_CASE("a port that cuts through has a message when its header is there", "[port]") {
  Bench b;
  b.receiver.cut_through = true;
  b.send(Channel::kData, 1);
  b.run();
  REQUIRE(b.at == std::vector<Time>{18_ns});
  REQUIRE(b.held[0]->tail == 146_ns);
}

TEST_CASE("a sender without credits is listed as waiting for its receiver until some are on their way", "[port]") {
  Bench b;
  for (int i = 1; i <= 3; ++i) b.send(Channel::kForward, i);
  b.run();
  REQUIRE(describe_waits().find("cache waits for home: flow-control credits") != std::string::npos);
  b.free_buffer(1);
  REQUIRE(describe_waits().empty());
}

TEST_CASE("a line tells changes of its level only", "[port]") {
  Line line;
  std::vector<bool> seen;
  line.on_change = [&](bool level) { seen.push_back(level); };
  for (const bool level : {false, true, true, false}) line.set(level);
  REQUIRE(seen == std::vector<bool>{true, false});
}

TEST_CASE("ordered sets wait for the message before them, and messages for their end", "[port]") {
  calendar().clear();
  calendar().set_now({});
  Port<LineProtocol> sender{"cache"}, receiver{"home"};
  LinkDirection<LineProtocol> direction{
      {"link", SLUICE_STAGE_coherence_message, 0, Ratio(1'000'000, 1), 10_ns, 20_ns, {}, {1_us, 100_ns, 50_ns}}};
  direction.connect(sender, receiver);
  std::vector<Time> at;
  receiver.on_receive = [&at](std::unique_ptr<LineMessage>) { at.push_back(now()); };
  const auto send_at = [&](Time t, Channel channel) {
    calendar().at(t, 1, [&sender, channel] {
      auto m = std::make_unique<LineMessage>();
      m->channel = channel;
      sender.send(std::move(m));
    });
  };
  send_at(0_ns, Channel::kRequest);   // before the first set
  send_at(60_ns, Channel::kRequest);  // in it: starts at 150 ns
  send_at(1040_ns, Channel::kData);   // to 1176 ns; the set that is due at 1050 ns comes behind it
  send_at(1100_ns, Channel::kRequest);
  send_at(10200_ns, Channel::kRequest);  // the set of 10050 ns is over, and those before are forgotten
  send_at(11149_ns, Channel::kRequest);  // in the last nanosecond of one
  while (calendar().next() != Time::max()) calendar().dispatch();
  REQUIRE(at == std::vector<Time>{18_ns, 168_ns, 1186_ns, 1294_ns, 10218_ns, 11168_ns});
}
