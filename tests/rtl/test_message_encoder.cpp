// SPDX-License-Identifier: Apache-2.0
// The RPC encoder in RTL and its model as parts of a NIC: the same frames leave them at the same times.
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "models/nic/rpc_encoder/message_encoder.h"
#include "tests/rtl/rpc_packets.h"

using namespace sluice;
using namespace sluice::nic::rpc;
using test::RpcPackets;

namespace {

struct Left {
  base::Time at;
  Encoded encoded;
};

void set(MessageEncoder& e, unsigned entry, const std::optional<Schema>& schema) {
  test::enter_schema(entry, schema, [&e](std::uint32_t offset, std::uint32_t value) { e.write(offset, value); });
}

void run_to(base::Time end) {
  while (base::calendar().next() <= end) base::calendar().dispatch();
  base::calendar().set_now(end);
}

struct Both {
  Both() {
    const auto take = [this](unsigned i) {
      return [this, i](const Encoded& e) { left[i].push_back({base::calendar().now(), e}); };
    };
    encoders[0] = make_encoder_model(7, take(0));
    encoders[1] = make_encoder_rtl("nic", 8, take(1));
  }
  /// Cases in one process share the calendar.
  base::Time after(base::Time t) const { return start + t; }

  const base::Time start = base::calendar().now();
  std::unique_ptr<MessageEncoder> encoders[2];
  std::vector<Left> left[2];
};

}  // namespace

TEST_CASE("what the RTL and the model make of a packet leaves at the same time") {
  constexpr unsigned kPackets = 5000;
  Both both;
  RpcPackets random(1);
  const auto& schemas = random.schemas();
  for (unsigned i = 0; i < schemas.size(); ++i)
    for (auto& e : both.encoders) set(*e, i, schemas[i]);
  std::deque<test::EncoderInput> packets;
  base::Time when = both.after(base::Time::us(1));
  for (unsigned i = 0; i < kPackets; ++i) {
    // Some together, some at an edge of the clock, some long after the last.
    if (random.random().one_in(3))
      when = MessageEncoder::kCycle * (when / MessageEncoder::kCycle + 1 + random.random().upto(30));
    else if (random.random().one_in(2))
      when += base::Time::ps(random.random().upto(500'000));
    packets.push_back(random.packet().input);
    for (auto& e : both.encoders)
      base::calendar().at(when, 3, [&e, &p = packets.back()] { e->put(p.data, p.request); });
  }
  run_to(when + base::Time::ms(1));
  REQUIRE(both.left[0].size() > kPackets / 2);
  REQUIRE(both.left[0].size() == both.left[1].size());
  for (std::size_t i = 0; i < both.left[0].size(); ++i) {
    INFO("frame " << i);
    const Left &m = both.left[0][i], &r = both.left[1][i];
    REQUIRE(m.at.femtoseconds() == r.at.femtoseconds());
    REQUIRE(m.encoded.verdict == r.encoded.verdict);
    REQUIRE(m.encoded.frame == r.encoded.frame);
  }
  CHECK(both.encoders[1]->late() == 0);
  // Packets of which nothing has left are counted, too.
  std::uint32_t all = 0;
  for (unsigned offset = 0; offset < RPCE_SIZE; offset += 4) {
    INFO("register " << offset);
    const std::uint32_t value = both.encoders[0]->read(offset);
    CHECK(both.encoders[1]->read(offset) == value);
    if (offset >= RPCE_COUNTERS && offset < RPCE_COUNTERS + 4 * RPCE_VERDICTS) {
      CHECK(value != 0);
      all += value;
    }
  }
  CHECK(all == kPackets);
}

TEST_CASE("both encoders refuse the same entries, and say so") {
  Both both;
  for (auto& e : both.encoders) {
    Schema s;
    set(*e, kSchemas, s);
    CHECK(e->read(RPCE_ERROR) == RPCE_ERROR_ENTRY);
    s.parts[3].words = RPCE_PART_WORDS_MOST + 1;
    set(*e, 0, s);
    CHECK(e->read(RPCE_ERROR) == (RPCE_ERROR_ENTRY | RPCE_ERROR_SCHEMA));
    e->write(RPCE_ERROR, RPCE_ERROR_ENTRY);
    CHECK(e->read(RPCE_ERROR) == RPCE_ERROR_SCHEMA);
    e->write(RPCE_ERROR, RPCE_ERROR_SCHEMA);
    s.parts[3].words = RPCE_PART_WORDS_MOST;
    s.arms[3].entry = kSchemas;
    set(*e, 0, s);
    CHECK(e->read(RPCE_ERROR) == 0);  // the arm is not valid
    s.arms[3].valid = true;
    set(*e, 0, s);
    CHECK(e->read(RPCE_ERROR) == RPCE_ERROR_SCHEMA);
    e->reset();
    CHECK(e->read(RPCE_ERROR) == 0);
  }
}

TEST_CASE("an encoder that is reset forgets its table, its counters and the packets inside") {
  Both both;
  Request request;
  Schema scalar;
  scalar.parts[0].words = 1;
  const std::vector<std::uint8_t> data(4, 1);
  base::calendar().set_now(both.after(base::Time::us(1)));
  for (auto& e : both.encoders) {
    set(*e, 0, scalar);
    e->put(data, request);
  }
  run_to(both.after(base::Time::us(2)));
  for (auto& e : both.encoders) {
    CHECK(e->read(RPCE_COUNTERS + 4 * RPCE_REPLY) == 1);
    e->put(data, request);
    e->reset();
  }
  run_to(both.after(base::Time::us(3)));
  for (auto& e : both.encoders) e->put(data, request);
  run_to(both.after(base::Time::us(4)));
  for (unsigned i = 0; i < 2; ++i) {
    INFO("encoder " << i);
    REQUIRE(both.left[i].size() == 2);  // of the second one nothing
    CHECK(both.left[i][0].encoded.verdict == RPCE_REPLY);
    CHECK(both.left[i][1].encoded.verdict == RPCE_NO_SCHEMA);
    CHECK(both.encoders[i]->read(RPCE_COUNTERS + 4 * RPCE_REPLY) == 0);
    CHECK(both.encoders[i]->read(RPCE_COUNTERS + 4 * RPCE_NO_SCHEMA) == 1);
  }
  CHECK(both.left[0][0].at == both.left[1][0].at);
  CHECK(both.left[0][1].at == both.left[1][1].at);
}
