// SPDX-License-Identifier: Apache-2.0
// The RPC encoder in RTL and its model as parts of a NIC: the same frames leave them at the same times.
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "models/nic/rpc_encoder/message_encoder.h"
#include "models/part/catalogue.h"
#include "tests/rtl/rpc_packets.h"

using namespace sluice;
using namespace sluice::nic::rpc;
using test::RpcPackets;

namespace sluice::part {
void add_rtl_rpc_encoder(Catalogue&);
}

namespace {

struct NoCatalogue final : part::Catalogue {
  void add_model(std::string_view, Model) override {}
};

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
    NoCatalogue none;
    part::add_rtl_rpc_encoder(none);
    encoders[0] = make_encoder_model("model", 7, take(0));
    encoders[1] = encoder_rtl_factory()("rtl", 8, take(1));
  }
  void set(const std::vector<std::optional<Schema>>& schemas) {
    for (unsigned entry = 0; entry < schemas.size(); ++entry)
      for (auto& e : encoders) ::set(*e, entry, schemas[entry]);
  }
  void compare_registers() {
    for (unsigned offset = 0; offset < RPCE_SIZE; offset += 4) {
      INFO("register " << offset);
      CHECK(encoders[0]->read(offset) == encoders[1]->read(offset));
    }
  }
  /// Both get the packet now, and what has left a microsecond later is the same.
  void require_same(const test::EncoderInput& packet) {
    for (auto& e : encoders) e->put(packet.data, packet.request);
    run_to(base::calendar().now() + base::Time::us(1));
    REQUIRE(left[0].size() == left[1].size());
    if (left[0].empty()) return;
    REQUIRE(left[0].back().at == left[1].back().at);
    REQUIRE(left[0].back().encoded.verdict == left[1].back().encoded.verdict);
    REQUIRE(left[0].back().encoded.frame == left[1].back().encoded.frame);
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
  both.set(random.schemas());
  std::deque<test::EncoderInput> packets;
  base::Time when = both.after(base::Time::us(1));
  for (unsigned i = 0; i < kPackets; ++i) {
    // Some together, some at an edge of the clock, some when both have long been empty. Then counters are the same, and
    // the table may change.
    if (random.random().one_in(20)) {
      when += base::Time::us(20);
      run_to(when);
      both.compare_registers();
      if (random.random().one_in(2)) both.set(random.schemas());
    } else if (random.random().one_in(3))
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
  both.compare_registers();
  // Packets of which nothing has left are counted, too.
  std::uint32_t all = 0;
  for (unsigned verdict = 0; verdict < RPCE_VERDICTS; ++verdict) {
    const std::uint32_t value = both.encoders[1]->read(RPCE_COUNTERS + 4 * verdict);
    CHECK(value != 0);
    all += value;
  }
  CHECK(all == kPackets);
}

TEST_CASE("both encoders refuse the same entries, say so, and keep what they had") {
  Both both;
  base::calendar().set_now(both.after(base::Time::us(1)));
  Schema scalar, s;
  scalar.parts[0].words = 1;
  test::EncoderInput packet;
  packet.data.assign(4, 1);
  const auto error_after = [&](unsigned entry, const Schema& schema) {
    both.require_same(packet);
    for (auto& e : both.encoders) set(*e, entry, schema);
    both.require_same(packet);
    CHECK(both.left[1].back().encoded.verdict == RPCE_REPLY);
    CHECK(both.encoders[1]->read(RPCE_ERROR) == both.encoders[0]->read(RPCE_ERROR));
    return both.encoders[0]->read(RPCE_ERROR);
  };
  CHECK(error_after(0, scalar) == 0);
  CHECK(error_after(kSchemas, s) == RPCE_ERROR_ENTRY);
  s.parts[3].words = RPCE_PART_WORDS_MOST + 1;
  CHECK(error_after(0, s) == (RPCE_ERROR_ENTRY | RPCE_ERROR_SCHEMA));
  for (auto& e : both.encoders) e->write(RPCE_ERROR, RPCE_ERROR_ENTRY);
  CHECK(error_after(0, scalar) == RPCE_ERROR_SCHEMA);
  for (auto& e : both.encoders) e->write(RPCE_ERROR, RPCE_ERROR_SCHEMA);
  scalar.arms[3].entry = kSchemas;
  CHECK(error_after(0, scalar) == 0);  // the arm is not valid
  scalar.arms[3].valid = true;
  CHECK(error_after(0, scalar) == RPCE_ERROR_SCHEMA);
  for (auto& e : both.encoders) e->reset();
  CHECK(both.encoders[0]->read(RPCE_ERROR) == 0);
  CHECK(both.encoders[1]->read(RPCE_ERROR) == 0);
}

TEST_CASE("packets of which nothing leaves keep an encoder awake until the last one has ended") {
  Both both;
  base::calendar().set_now(both.after(base::Time::us(1)));
  Schema scalar;
  scalar.parts[0].words = 1;
  for (auto& e : both.encoders) set(*e, 0, scalar);
  Schema array;
  array.parts[0] = {0, 0, Part::Array::opaque, true, 0xffff};
  for (auto& e : both.encoders) set(*e, 1, array);
  std::vector<std::uint8_t> longest(9000, 7);
  longest[0] = 9000 % 256 - 4;
  longest[1] = 9000 / 256;
  longest[2] = longest[3] = 0;
  for (auto& e : both.encoders) {
    Request r;
    r.schema = 1;
    for (int i = 0; i < 2; ++i) e->put(longest, r);
    r.is_call = true;
    r.schema = 2;  // of which there is none
    for (int i = 0; i < 30; ++i) e->put({}, r);
    r = {};
    e->put(std::vector<std::uint8_t>(4, 1), r);
  }
  run_to(base::calendar().now() + base::Time::us(20));
  for (unsigned i = 0; i < 2; ++i) {
    INFO("encoder " << i);
    REQUIRE(both.left[i].size() == 3);
    CHECK(both.left[i][2].encoded.verdict == RPCE_REPLY);
    CHECK(both.encoders[i]->read(RPCE_COUNTERS + 4 * RPCE_NO_SCHEMA) == 30);
  }
  CHECK(both.left[0][2].at == both.left[1][2].at);
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
