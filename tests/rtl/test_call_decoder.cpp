// SPDX-License-Identifier: Apache-2.0
// The decoder in RTL and its model as parts of a NIC: the same frames leave them at the same times.
#include <array>
#include <deque>

#include <catch2/catch.hpp>

#include "models/nic/rpc_decoder/call_decoder.h"
#include "models/part/catalogue.h"
#include "tests/rtl/rpc_frames.h"

namespace sluice::part {
void add_rtl_rpc_decoder(Catalogue&);
}

using namespace sluice;
using namespace sluice::nic::rpc;
using test::FrameBytes;
using test::RpcFrames;

namespace {

struct NoCatalogue final : part::Catalogue {
  void add_model(std::string_view, Model) override {}
};

struct Left {
  base::Time at;
  Decoded decoded;
};

void set(CallDecoder& d, unsigned entry, const Service& s) {
  test::enter_service(entry, s, [&d](std::uint32_t offset, std::uint32_t value) { d.write(offset, value); });
}

void run_to(base::Time end) {
  while (base::calendar().next() <= end) base::calendar().dispatch();
  base::calendar().set_now(end);
}

struct Both {
  explicit Both(unsigned services = kServices) {
    NoCatalogue none;
    part::add_rtl_rpc_decoder(none);
    for (unsigned i = 0; i < 2; ++i) {
      DecoderFactory make = i == 0 ? &make_model : rtl_factory();
      decoders[i] = make("nic", 7 + i, services, [this, i](const Decoded& d) {
        left[i].push_back({base::calendar().now(), d});
      });
    }
  }
  /// Cases in one process share the calendar.
  base::Time after(base::Time t) const { return start + t; }

  const base::Time start = base::calendar().now();
  std::unique_ptr<CallDecoder> decoders[2];
  std::vector<Left> left[2];
};

}  // namespace

TEST_CASE("what the RTL and the model make of a frame leaves at the same time") {
  Both both;
  RpcFrames random(1);
  std::deque<FrameBytes> frames;
  std::vector<Service> services;
  for (unsigned i = 0; i < kServices; ++i) {
    services.push_back(random.service(i));
    for (auto& d : both.decoders) set(*d, i, services.back());
  }
  base::Time when = both.after(base::Time::us(1));
  for (unsigned i = 0; i < 5000; ++i) {
    const Service& s = services[random.upto(kServices - 1)];
    const FrameBytes frame = random.one_in(2) ? random.call(s) : random.changed(s);
    // Some together, some at an edge of the clock, some long after the last.
    if (random.one_in(3))
      when = CallDecoder::kCycle * (when / CallDecoder::kCycle + 1 + random.upto(30));
    else if (random.one_in(2))
      when += base::Time::ps(random.upto(500'000));
    frames.push_back(frame);
    for (auto& d : both.decoders) base::calendar().at(when, 3, [&d, &f = frames.back()] { d->put(f); });
  }
  run_to(when + base::Time::ms(1));
  REQUIRE(both.left[0].size() == 5000);
  REQUIRE(both.left[1].size() == 5000);
  for (unsigned i = 0; i < 5000; ++i) {
    INFO("frame " << i);
    const Left &m = both.left[0][i], &r = both.left[1][i];
    REQUIRE(m.at.femtoseconds() == r.at.femtoseconds());
    REQUIRE(m.decoded.verdict == r.decoded.verdict);
    if (m.decoded.verdict != RPCD_CALL) continue;
    REQUIRE(m.decoded.line == r.decoded.line);
    REQUIRE(m.decoded.owner == r.decoded.owner);
    REQUIRE(m.decoded.source == r.decoded.source);
    REQUIRE(m.decoded.destination == r.decoded.destination);
    REQUIRE(m.decoded.source_port == r.decoded.source_port);
    REQUIRE(m.decoded.port == r.decoded.port);
  }
  // The counters of the blocks' ends, of which each has the frames of its verdict.
  std::array<std::uint32_t, RPCD_VERDICTS> verdicts{};
  for (const Left& l : both.left[0]) ++verdicts[l.decoded.verdict];
  for (unsigned v = 0; v < RPCD_VERDICTS; ++v) {
    INFO("verdict " << v);
    for (auto& d : both.decoders) CHECK(d->read(RPCD_COUNTERS + 4 * v) == verdicts[v]);
  }
  for (unsigned offset = 0; offset < RPCD_SIZE; offset += 4) {
    INFO("register " << offset);
    if (offset < RPCD_PROGRAM || offset >= RPCD_COUNTERS)
      CHECK(both.decoders[0]->read(offset) == both.decoders[1]->read(offset));
  }
}

TEST_CASE("both decoders refuse the same entries, and say so") {
  Both both;
  Service s = RpcFrames(2).service(0);
  for (auto& d : both.decoders) {
    set(*d, kServices, s);
    CHECK(d->read(RPCD_ERROR) == RPCD_ERROR_ENTRY);
    s.parts[2].words = 17;
    set(*d, 0, s);
    CHECK(d->read(RPCD_ERROR) == (RPCD_ERROR_ENTRY | RPCD_ERROR_SCHEMA));
    d->write(RPCD_ERROR, RPCD_ERROR_ENTRY);
    CHECK(d->read(RPCD_ERROR) == RPCD_ERROR_SCHEMA);
    d->write(RPCD_ERROR, RPCD_ERROR_SCHEMA);
    s.parts[2] = Part::of(RPCD_CLASS_HYPER_LOW << 2, 2);
    set(*d, 0, s);
    CHECK(d->read(RPCD_ERROR) == RPCD_ERROR_SCHEMA);
    s.parts[2] = {};
    d->reset();
    CHECK(d->read(RPCD_ERROR) == 0);
  }
}

TEST_CASE("decoders with fewer entries say so, and neither takes one beyond them") {
  Both both(8);
  RpcFrames random(6);
  base::Time when = both.after(base::Time::us(1));
  for (const unsigned entry : {7u, 8u, kServices - 1, kServices}) {
    INFO("entry " << entry);
    const bool is_there = entry < 8;
    const Service s = random.service(entry);
    base::calendar().set_now(when);
    for (auto& d : both.decoders) {
      CHECK((d->read(RPCD_CAPACITY) & RPCD_CAPACITY_SERVICES) == 8);
      set(*d, entry, s);
      CHECK(d->read(RPCD_ERROR) == (is_there ? 0 : RPCD_ERROR_ENTRY));
      d->write(RPCD_ERROR, RPCD_ERROR_ENTRY);
      d->put(test::plain_call(s.key, FrameBytes(400)));
    }
    run_to(when += base::Time::us(1));
    for (const auto& left : both.left) CHECK((left.back().decoded.verdict == RPCD_NO_SERVICE) == !is_there);
  }
}

TEST_CASE("a decoder that is reset forgets its table and the frames inside") {
  Both both;
  RpcFrames random(3);
  const Service s = random.service(0);
  for (auto& d : both.decoders) set(*d, 0, s);
  base::calendar().set_now(both.after(base::Time::us(1)));
  const FrameBytes call = random.call(s);
  for (auto& d : both.decoders) d->put(call);
  run_to(both.after(base::Time::us(2)));
  for (auto& d : both.decoders) d->put(call);
  run_to(both.after(base::Time::us(2) + base::Time::ns(20)));
  for (auto& d : both.decoders) d->reset();
  run_to(both.after(base::Time::us(3)));
  for (auto& d : both.decoders) d->put(call);
  run_to(both.after(base::Time::us(4)));
  for (auto& d : both.decoders) {
    CHECK(d->read(RPCD_COUNTERS + 4 * RPCD_CALL) == 0);
    CHECK(d->read(RPCD_COUNTERS + 4 * RPCD_NO_SERVICE) == 1);
  }
  for (const auto& left : both.left) {
    REQUIRE(left.size() == 2);
    CHECK(left[0].decoded.verdict == RPCD_CALL);
    CHECK(left[1].decoded.verdict == RPCD_NO_SERVICE);
  }
  // Frames that wait for the input are forgotten, too.
  for (auto& d : both.decoders) {
    for (unsigned i = 0; i < 20; ++i) d->put(call);
    d->reset();
    set(*d, 0, s);
  }
  run_to(both.after(base::Time::us(4) + base::Time::ns(10)));
  for (auto& d : both.decoders) d->put(call);
  run_to(both.after(base::Time::us(6)));
  REQUIRE(both.left[0].size() == 3);
  REQUIRE(both.left[1].size() == 3);
  CHECK(both.left[0][2].decoded.verdict == RPCD_CALL);
  CHECK(both.left[0][2].at.femtoseconds() == both.left[1][2].at.femtoseconds());
  CHECK(both.left[0][1].at.femtoseconds() == both.left[1][1].at.femtoseconds());
}

TEST_CASE("an entry that is taken out matches no more, and no field of one that was not committed outlives a reset") {
  Both both;
  Service s;
  s.key = {0x20000001, 1, 1, 2000};
  RpcFrames random(5);
  const FrameBytes call = random.call(s);
  base::Time when = both.after(base::Time::us(1));
  const auto verdicts = [&] {
    base::calendar().set_now(when);
    for (auto& d : both.decoders) d->put(call);
    run_to(when += base::Time::us(1));
    return std::pair(both.left[0].back().decoded.verdict, both.left[1].back().decoded.verdict);
  };
  const std::pair<unsigned, unsigned> is_call(RPCD_CALL, RPCD_CALL), none(RPCD_NO_SERVICE, RPCD_NO_SERVICE);
  for (auto& d : both.decoders) set(*d, 0, s);
  CHECK(verdicts() == is_call);
  for (auto& d : both.decoders) d->write(RPCD_COMMIT, 0);
  CHECK(verdicts() == none);
  for (auto& d : both.decoders) d->write(RPCD_COMMIT, RPCD_COMMIT_VALID);
  CHECK(verdicts() == is_call);
  for (auto& d : both.decoders) {
    d->reset();
    d->write(RPCD_COMMIT, RPCD_COMMIT_VALID);
  }
  CHECK(verdicts() == none);
  s.parts[0].words = 17;
  for (auto& d : both.decoders) set(*d, 0, s);
  CHECK(verdicts() == none);
}
