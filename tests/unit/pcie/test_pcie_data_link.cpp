// SPDX-License-Identifier: Apache-2.0
/// The data link layer: corrupted and lost TLPs with Nak, replay timer and replay; retraining; links that go down.
#include <algorithm>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/parameters/random.h"
#include "models/pcie/data_link.h"
#include "tests/unit/fresh_kernel.h"
#include "tests/unit/pcie/pcie_bench.h"
#include "tests/unit/pcie/scripted_faults.h"

using namespace sluice;
using namespace sluice::base::literals;
using namespace sluice::pcie;

namespace {

struct Bench {
  struct Arrival {
    base::Time at;
    unsigned tag;
  };
  FreshKernel fresh;
  Link link;
  Port upper{"host"};
  Port lower{"device"};
  Script script;
  base::ReplayTiming timing;
  std::unique_ptr<DataLink> data_link;
  std::vector<Arrival> arrivals;
  std::vector<Arrival> down;
  std::vector<TlpPtr> held;
  bool hold = false;

  explicit Bench(std::vector<std::pair<unsigned, MessageFate>> fates, const Link::Parameters& p = {})
      : link(base::module_name("pcie.slot0").c_str(), p), timing(replay_timing(p, 2_us)) {
    script.fates = std::move(fates);
    link.connect(upper, lower);
    data_link = std::make_unique<DataLink>("pcie.slot0.up", link.up(), link.down(), timing, script);
    upper.on_receive = [this](TlpPtr t) {
      arrivals.push_back({base::now(), t->tag});
      if (hold)
        held.push_back(std::move(t));
      else
        t->release_buffer();
    };
    lower.on_receive = [this](TlpPtr t) {
      down.push_back({base::now(), t->tag});
      t->release_buffer();
    };
  }
  void send(unsigned tag, std::uint32_t bytes = 64) { send(lower, tag, bytes); }
  static void send(Port& from, unsigned tag, std::uint32_t bytes = 64) {
    TlpPtr t = make_tlp(TlpType::kMWr);
    t->tag = static_cast<std::uint16_t>(tag);
    t->cover(0x1'0000'0000, bytes);
    t->resize_payload();
    from.send(std::move(t));
  }
  static void run() {
    while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();
  }
  static void run_until(base::Time t) {
    while (base::calendar().next() <= t) base::calendar().dispatch();
    base::calendar().set_now(t);
  }
  base::Time wire(std::uint32_t payload = 64) { return link.up().wire_time(payload + 16 + Tlp::kFraming); }
  base::Time flight() const { return link.parameters().flight; }
  /// From the bad TLP's last bit at the receiver to the Nak at the sender.
  base::Time nak() { return timing.nak_latency + link.down().wire_time(8) + flight(); }
  std::vector<unsigned> tags() const {
    std::vector<unsigned> v;
    for (const Arrival& a : arrivals) v.push_back(a.tag);
    return v;
  }
};

}  // namespace

TEST_CASE("the timing of Acks, Naks and replays is the specification's", "[data_link]") {
  const auto wide = replay_timing({}, 2_us);  // gen3 x16, 256 B: a symbol is 1 ns
  CHECK(wide.nak_latency == 115_ns);
  CHECK(wide.ack_latency == 168_ns);  // (256 + 28) x 3.0 / 16 + 115
  CHECK(wide.replay_timer == 504_ns);
  Link::Parameters narrow;
  narrow.generation = 1;
  narrow.lanes = 1;
  narrow.max_payload = 128_B;
  CHECK(replay_timing(narrow, 2_us).replay_timer == 4_ns * 3 * ((128 + 28) * 14 / 10 + 115));
}

TEST_CASE("a corrupted TLP arrives after a Nak and a replay", "[data_link]") {
  Bench b({{1, MessageFate::corrupted}});
  b.send(1);
  b.run();
  REQUIRE(b.arrivals.size() == 1);
  const base::Time due = b.wire() + b.flight();
  CHECK(b.arrivals[0].at == due + b.nak() + due);
  const MessageFault& f = b.script.faults.front();
  CHECK(f.at == 0_ns);
  CHECK(f.recovered == b.arrivals[0].at);
  CHECK(f.delay == b.arrivals[0].at - due);
  CHECK(f.delayed == 1);
  CHECK(f.replayed == 1);
  CHECK(f.replayed_bytes == 64 + 16 + 8);
  CHECK(f.naks == 1);
  CHECK(f.timeouts == 0);
  CHECK(b.link.up().statistics().bytes == 2 * 88);
  CHECK(b.link.up().statistics().tlps[static_cast<unsigned>(TlpType::kMWr)] == 1);
}

TEST_CASE("what follows a corrupted TLP is replayed with it, in order and once", "[data_link]") {
  Bench b({{2, MessageFate::corrupted}});
  for (unsigned tag = 1; tag <= 200; ++tag) b.send(tag);
  b.run();
  std::vector<unsigned> all;
  for (unsigned tag = 1; tag <= 200; ++tag) all.push_back(tag);
  CHECK(b.tags() == all);
  const MessageFault& f = b.script.faults.front();
  // The link was full: the replay has all TLPs from the corrupted one on that started before the Nak came.
  const base::Time nak_at = b.wire() * 2 + b.flight() + b.nak();
  CHECK(f.replayed == (nak_at - b.wire()) / b.wire() + 1);
  CHECK(f.delayed == f.replayed);
  CHECK(b.link.up().statistics().bytes == (200 + f.replayed) * 88);
}

TEST_CASE("a Nak waits for the TLP that the other direction is sending", "[data_link]") {
  Link::Parameters p;
  p.lanes = 1;
  p.max_payload = base::Bytes(4096);
  Bench b({{1, MessageFate::corrupted}}, p);
  b.send(1);
  const base::Time checked = b.wire() + b.flight() + b.timing.nak_latency;
  b.run_until(checked - 1_ns);
  Bench::send(b.upper, 9, 4096);
  b.run();
  const base::Time nak_starts = checked - 1_ns + b.wire(4096);
  CHECK(b.arrivals.at(0).at == nak_starts + b.link.down().wire_time(8) + b.flight() + b.wire() + b.flight());
}

TEST_CASE("a lost TLP with nothing behind it is replayed when the replay timer ends", "[data_link]") {
  Bench b({{1, MessageFate::lost}});
  b.send(1);
  b.run();
  REQUIRE(b.arrivals.size() == 1);
  CHECK(b.arrivals[0].at == b.wire() + b.timing.replay_timer + b.wire() + b.flight());
  CHECK(b.script.faults.front().timeouts == 1);
  CHECK(b.script.faults.front().naks == 0);
}

TEST_CASE("the Ack of an earlier TLP starts the replay timer again", "[data_link]") {
  Bench b({{2, MessageFate::lost}});
  b.send(1);
  b.send(2);
  b.run();
  REQUIRE(b.arrivals.size() == 2);
  const base::Time ack = b.wire() + b.flight() + b.timing.ack_latency + b.flight();
  CHECK(b.arrivals[1].at == ack + b.timing.replay_timer + b.wire() + b.flight());
}

TEST_CASE("a lost TLP is missed when the next one arrives", "[data_link]") {
  Bench b({{1, MessageFate::lost}});
  b.send(1);
  b.send(2);
  b.run();
  CHECK(b.tags() == std::vector<unsigned>{1, 2});
  CHECK(b.arrivals[0].at == b.wire() * 2 + b.flight() + b.nak() + b.wire() + b.flight());
  CHECK(b.script.faults.front().naks == 1);
  CHECK(b.script.faults.front().timeouts == 0);
}

TEST_CASE("a replay that fails draws no second Nak", "[data_link]") {
  Bench b({{1, MessageFate::corrupted}, {2, MessageFate::corrupted}});
  b.send(1);
  b.run();
  REQUIRE(b.arrivals.size() == 1);
  const base::Time first_replay = b.wire() + b.flight() + b.nak();
  CHECK(b.arrivals[0].at == first_replay + b.wire() + b.timing.replay_timer + b.wire() + b.flight());
  REQUIRE(b.script.faults.size() == 2);
  CHECK(b.script.faults[1].naks == 0);
  CHECK(b.script.faults[1].timeouts == 1);
  CHECK(b.script.faults[0].recovered == b.arrivals[0].at);
}

TEST_CASE("three replays without progress retrain the link before the fourth, both directions", "[data_link]") {
  Bench b({{1, MessageFate::lost}, {2, MessageFate::lost}, {3, MessageFate::lost}, {4, MessageFate::lost}});
  b.send(1);
  const base::Time retrains = (b.wire() + b.timing.replay_timer) * 4;
  b.run_until(retrains + 1_us);
  CHECK(b.arrivals.empty());
  Bench::send(b.upper, 9);
  b.run();
  REQUIRE(b.arrivals.size() == 1);
  CHECK(b.arrivals[0].at == retrains + 2_us + b.wire() + b.flight());
  CHECK(b.down.at(0).at == retrains + 2_us + b.wire() + b.flight());
  CHECK(b.script.faults.back().retrains == 1);
}

namespace {

/// A link whose upward direction retrains, because of TLP 1, while the downward one has faults of its own.
struct RetrainBench : Bench {
  Script other;
  DataLink second;
  base::Time begin = (wire() + timing.replay_timer) * 4;
  base::Time end = begin + timing.retrain;

  explicit RetrainBench(std::vector<std::pair<unsigned, MessageFate>> fates_down)
      : Bench({{1, MessageFate::lost}, {2, MessageFate::lost}, {3, MessageFate::lost}, {4, MessageFate::lost}}),
        second("pcie.slot0.down", link.down(), link.up(), timing, other) {
    other.fates = std::move(fates_down);
    send(1);
  }
  void send_down(unsigned tag) { Bench::send(upper, tag); }
};

}  // namespace

TEST_CASE("a Nak that falls into a retraining waits for its end", "[data_link]") {
  RetrainBench b({{1, MessageFate::corrupted}});
  b.run_until(b.begin - 20_ns);
  b.send_down(9);
  b.run();
  REQUIRE(b.down.size() == 1);
  REQUIRE(b.arrivals.size() == 1);
  // The Nak goes before the replay of the other direction, and costs it nothing but the DLLP share.
  CHECK(b.arrivals[0].at == b.end + b.wire() + b.flight());
  CHECK(b.down[0].at == b.end + b.link.up().wire_time(8) + b.flight() + b.wire() + b.flight());
  CHECK(b.other.faults.front().naks == 1);
  CHECK(b.other.faults.front().timeouts == 0);
}

TEST_CASE("a Nak that waits for a TLP when the retraining begins waits for its end", "[data_link]") {
  RetrainBench b({{1, MessageFate::corrupted}});
  // The Nak is due while the upward direction sends a long TLP that started just before the retraining.
  b.run_until(b.begin - b.wire() - b.flight() - b.timing.nak_latency - 2_ns);
  b.send_down(9);
  b.run_until(b.begin - 3_ns);
  b.send(2, 256);
  b.run();
  REQUIRE(b.down.size() == 1);
  CHECK(b.down[0].at == b.end + b.link.up().wire_time(8) + b.flight() + b.wire() + b.flight());
}

TEST_CASE("a replay that falls into a retraining waits for its end, and goes before all that waits", "[data_link]") {
  RetrainBench b({{1, MessageFate::corrupted}});
  // The Nak is under way when the retraining begins.
  b.run_until(b.begin - b.wire() - b.flight() - b.nak() + 2_ns);
  b.send_down(9);
  b.run_until(b.begin + 1_us);
  b.send_down(10);
  b.run();
  REQUIRE(b.down.size() == 2);
  CHECK(b.down[0].tag == 9);
  CHECK(b.down[0].at == b.end + b.wire() + b.flight());
  CHECK(b.down[1].at == b.end + b.wire() * 2 + b.flight());
  CHECK(b.other.faults.front().recovered == b.down[0].at);
}

TEST_CASE("the replay timer stands still while the link retrains", "[data_link]") {
  RetrainBench b({{1, MessageFate::lost}});
  b.run_until(b.begin - 100_ns);
  b.send_down(9);
  b.run();
  REQUIRE(b.down.size() == 1);
  const base::Time timer_ends = b.begin - 100_ns + b.wire() + b.timing.replay_timer + b.timing.retrain;
  CHECK(b.down[0].at == timer_ends + b.wire() + b.flight());
  CHECK(b.other.faults.front().timeouts == 1);
  CHECK(b.other.faults.front().retrains == 0);
}

TEST_CASE("a device that stands still replays what it has sent", "[data_link]") {
  Bench b({{1, MessageFate::corrupted}});
  b.send(1);
  b.run_until(b.wire());
  b.lower.hold(true);
  b.send(2);
  b.run();
  CHECK(b.tags() == std::vector<unsigned>{1});
  CHECK(b.arrivals[0].at == b.wire() + b.flight() + b.nak() + b.wire() + b.flight());
  b.lower.hold(false);
  b.run();
  CHECK(b.tags() == std::vector<unsigned>{1, 2});
}

TEST_CASE("a link that goes down while it retrains comes back at once", "[data_link]") {
  RetrainBench b({{1, MessageFate::corrupted}});
  b.run_until(b.begin - 20_ns);
  b.send_down(9);
  b.run_until(b.begin + 500_ns);
  b.send(2);
  b.send_down(10);
  const auto sent = b.link.down().statistics().bytes;
  b.link.set_up(false);
  CHECK(b.link.up().lost() == 2);
  CHECK(b.link.down().lost() == 2);
  CHECK(b.link.down().statistics().bytes == sent);  // what waited was not sent first
  b.run_until(b.begin + 600_ns);
  b.link.set_up(true);
  b.send(3);
  b.send_down(11);
  b.run();
  CHECK(b.tags() == std::vector<unsigned>{3});
  REQUIRE(b.down.size() == 1);
  CHECK(b.down[0].tag == 11);
  CHECK(b.down[0].at == b.begin + 600_ns + b.wire() + b.flight());
  CHECK(b.script.faults.back().recovered == base::Time::max());
  b.run_until(base::now() + 10_us);
  CHECK(b.link.down().available(TlpClass::kPosted).messages == b.link.parameters().credits()[0].messages);
}

TEST_CASE("a replayed TLP holds its credits once", "[data_link]") {
  Link::Parameters p;
  p.posted_headers = 4;
  Bench b({{2, MessageFate::corrupted}, {5, MessageFate::lost}}, p);
  for (unsigned tag = 1; tag <= 20; ++tag) b.send(tag);
  b.run();
  CHECK(b.arrivals.size() == 20);
  b.run_until(base::now() + 10_us);
  CHECK(b.link.up().available(TlpClass::kPosted).messages == 4);
}

TEST_CASE("a link that goes down loses what it carries, and starts anew with all credits", "[data_link]") {
  Link::Parameters p;
  p.posted_headers = 4;
  Bench b({}, p);
  b.hold = true;
  for (unsigned tag = 1; tag <= 8; ++tag) b.send(tag);
  b.run();
  REQUIRE(b.held.size() == 4);
  b.link.set_up(false);
  CHECK(b.link.up().lost() == 4);
  CHECK_FALSE(b.lower.up());
  b.send(9);
  CHECK(b.link.up().lost() == 5);
  b.link.set_up(true);
  CHECK(b.link.up().available(TlpClass::kPosted).messages == 4);
  // What the receiver still held when the link went down gives nothing back.
  for (TlpPtr& t : b.held) t->release_buffer();
  b.held.clear();
  b.run_until(base::now() + 10_us);
  CHECK(b.link.up().available(TlpClass::kPosted).messages == 4);
  b.hold = false;
  for (unsigned tag = 11; tag <= 18; ++tag) b.send(tag);
  b.run();
  CHECK(b.arrivals.size() == 4 + 8);
  CHECK(b.arrivals.back().tag == 18);
}

TEST_CASE("a link that goes down forgets its replay", "[data_link]") {
  Bench b({{1, MessageFate::corrupted}});
  b.send(1);
  b.run_until(b.wire() + b.flight() + 10_ns);
  b.link.set_up(false);
  b.run();
  CHECK(b.arrivals.empty());
  b.link.set_up(true);
  b.send(2);
  b.run();
  CHECK(b.tags() == std::vector<unsigned>{2});
}

TEST_CASE("what waits for its replay when the link goes down is lost, once", "[data_link]") {
  // At 2 and 60 ns the Nak has not come, at 120 ns the replay is under way, at 150 and 500 ns all have arrived.
  for (const base::Time later : {2_ns, 60_ns, 120_ns, 150_ns, 500_ns}) {
    Bench b({{3, MessageFate::corrupted}});
    for (unsigned tag = 1; tag <= 10; ++tag) b.send(tag);
    b.run_until(b.wire() * 10 + b.flight() + later);
    b.link.set_up(false);
    INFO(later.nanoseconds() << " ns later");
    CHECK(b.arrivals.size() + b.link.up().lost() == 10);
    const MessageFault& f = b.script.faults.front();
    CHECK((f.recovered == base::Time::max()) == (b.arrivals.size() < 10));
    b.run();
    CHECK(b.arrivals.size() + b.link.up().lost() == 10);
  }
}

TEST_CASE("a replay that the link carries when it goes down has recovered nothing", "[data_link]") {
  Bench b({{1, MessageFate::corrupted}});
  b.send(1);
  b.run_until(b.wire() + b.flight() + b.nak() + b.wire());
  CHECK(b.script.faults.front().replayed == 1);
  b.link.set_up(false);
  CHECK(b.link.up().lost() == 1);
  CHECK(b.script.faults.front().recovered == base::Time::max());
}

namespace {

/// Draws what befalls each TLP.
struct Noise : TlpFaultPlan {
  base::RandomStream random;
  std::deque<MessageFault> faults;
  explicit Noise(const char* path, std::uint64_t seed) : random({seed, 0}, path, "noise") {}
  MessageFault* next(const Tlp&, bool) override {
    if (random.uniform() >= 0.3) return nullptr;
    faults.emplace_back().fate = random.uniform() < 0.5 ? MessageFate::corrupted : MessageFate::lost;
    return &faults.back();
  }
  std::uint64_t retrains() const {
    std::uint64_t n = 0;
    for (const MessageFault& f : faults) n += f.retrains;
    return n;
  }
};

}  // namespace

TEST_CASE("whatever goes wrong, TLPs arrive once and in order, or are lost with the link", "[data_link]") {
  std::uint64_t retrains = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    Link::Parameters p;
    p.posted_headers = 8;
    Bench b({}, p);
    Noise up("up", seed);
    Noise down("down", seed);
    b.data_link.reset();
    DataLink upward("pcie.slot0.up", b.link.up(), b.link.down(), b.timing, up);
    DataLink downward("pcie.slot0.down", b.link.down(), b.link.up(), b.timing, down);
    base::RandomStream random({seed, 0}, "bench", "times");
    unsigned sent = 0;
    for (; sent < 400; ++sent) {
      b.run_until(base::now() + random.exponential(sent % 100 < 50 ? 5_ns : 500_ns));
      const double what = random.uniform();
      if (what < 0.02) b.link.set_up(!b.link.is_up());
      if (what > 0.96) b.lower.hold(true);
      b.send(sent);
      Bench::send(b.upper, sent);
      if (what > 0.96) {
        b.run_until(base::now() + 300_ns);
        b.lower.hold(false);
      }
    }
    b.run();
    for (const auto* arrived : {&b.arrivals, &b.down})
      CHECK(std::is_sorted(arrived->begin(), arrived->end(), [](auto& x, auto& y) { return x.tag <= y.tag; }));
    CHECK(b.arrivals.size() + b.link.up().lost() == sent);
    CHECK(b.down.size() + b.link.down().lost() == sent);
    b.run_until(base::now() + 10_us);
    CHECK(b.link.up().available(TlpClass::kPosted).messages == 8);
    CHECK(b.link.down().available(TlpClass::kPosted).messages == 8);
    retrains += up.retrains() + down.retrains();
  }
  CHECK(retrains > 10);
}
