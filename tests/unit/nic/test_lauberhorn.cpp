// SPDX-License-Identifier: Apache-2.0
/// Calls through Lauberhorn: the two-line protocol of its end-points, and its times.
#include "tests/unit/nic/lauberhorn_bench.h"

using namespace sluice;
using namespace sluice::lauberhorn_test;

TEST_CASE("a call comes with its code, data and process, and its reply leaves with the next load", "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
    Side line = at.user(h, 1);
    h.at(1_us);
    at.send(call(0x1234, 0));
    REQUIRE(line.wait() == LAUB_CALL);
    CHECK(line.length() == 0);
    CHECK(line.get(LAUB_HEAD_XID) == 0x1234);
    CHECK(line.get(LAUB_HEAD_CODE, 8) == 0x7'0000'1000);
    CHECK(line.get(LAUB_HEAD_DATA, 8) == 0x5000);
    CHECK(line.get(LAUB_HEAD_PROCESS) == (1 | 101 << 16));
    CHECK((line.get(LAUB_HEAD_SESSION) & 0xffff) == 0);
    line.reply(LAUB_REPLY, 0);
    h.at(h.runner.time() + kLong);
    CHECK(at.station.replies.empty());  // the software has not said that it has done
    line.next();
    CHECK(line.wait() == -1);  // nothing else comes
    done = true;
  }});
  REQUIRE(done);
  REQUIRE(b.station.replies.size() == 1);
  CHECK(b.station.replies[0].xid == 0x1234);
  CHECK(b.station.replies[0].accept_stat == RPC_SUCCESS);
  CHECK(b.station.replies[0].client == 1);
  CHECK(b.counter("calls") == 1);
  CHECK(b.counter("replies") == 1);
}

TEST_CASE("a call takes the time of its parts from the wire to the line that waits", "[lauberhorn]") {
  base::Time arrived;
  Bench b({[&](Bench& at, LineHart& h) {
    h.at(1_us);
    at.send(call(1, 0));
    Side line = at.user(h, 1);
    REQUIRE(line.wait() == LAUB_CALL);
    arrived = h.runner.time();
  }});
  // 98 octets of 0.08 ns with preamble and FCS, 10 ns of flight, 40 ns of MAC; two beats through the receive queue, 25
  // cycles of the decoder from the next edge of its clock on, the packet buffer.
  const base::Time at_decoder = 1_us + base::Time::ps(94 * 80) + 10_ns + 40_ns + 36_ns + 8_ns;
  const base::Time decoded = base::Time::ns(4) * (at_decoder / 4_ns + 1 + 25);
  CHECK(arrived == decoded + 4_ns + 24_ns);
}

TEST_CASE("a frame turns around in front of the MAC, in the time of the pipelines", "[lauberhorn]") {
  base::Time committed, arrived;
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
            at.set(LAUB_CONTROL, LAUB_CONTROL_TURN_AROUND);
            Side out = at.kernel(h, LAUB_TX), in = at.kernel(h);
            out.wait();
            Bytes frame(64, 7);
            const Bytes own{2, 0x53, 0x4c, 0, 0, 1};
            std::copy(own.begin(), own.end(), frame.begin());
            for (unsigned n = 0; n < frame.size(); ++n) h.store(out.place(n), frame[n]);
            out.reply(LAUB_FRAME, 64);
            h.at(1_us);
            out.next();
            out.wait();
            committed = h.runner.time();
            REQUIRE(in.wait() == LAUB_FRAME);
            arrived = h.runner.time();
            CHECK(in.length() == 64);
            for (unsigned n = 0; n < frame.size(); ++n) CHECK(h.load(in.place(n)) == frame[n]);
            done = true;
          }},
          [](nic::LauberhornParameters& p) { p.mac.tx_latency = p.mac.rx_latency = 1_ms; });
  REQUIRE(done);
  CHECK(committed == 1_us);
  CHECK(b.station.others.empty());
  // One beat: 44 + 8 ns of the stream buffer, 36 + 4 ns of each queue; 26 cycles of the decoder from the next edge of
  // its clock on; the packet buffer.
  const base::Time at_decoder = 1_us + 52_ns + 40_ns + 40_ns;
  CHECK(arrived == base::Time::ns(4) * (at_decoder / 4_ns + 1 + 26) + 24_ns);
}

TEST_CASE("TRYAGAIN comes after the block time, and the lines change all the same", "[lauberhorn]") {
  std::vector<base::Time> times;
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
    Side line = at.user(h, 1);
    for (int i = 0; i < 3; ++i) {
      REQUIRE(line.wait() == -1);
      times.push_back(h.runner.time());
      line.next();
    }
    at.set(LAUB_BLOCK, 250);  // cycles of 4 ns
    REQUIRE(line.wait() == -1);
    times.push_back(h.runner.time());
    line.next();
    at.send(call(1, 0));
    answer(line);
    done = true;
  }});
  REQUIRE(done);
  CHECK(times == std::vector<base::Time>{20_us, 40_us, 60_us, 61_us});
  CHECK(b.counter("tryagain") >= 4);
}

TEST_CASE("a load of the same line gives the same call again", "[lauberhorn]") {
  Bench b({[&](Bench& at, LineHart& h) {
    Side line = at.user(h, 1);
    at.send(call(1, 0));
    at.send(call(2, 0));
    REQUIRE(line.wait() == LAUB_CALL);
    at.lines.give_back(0, line.base);  // the cache evicts it
    h.at(h.runner.time() + kLong);
    CHECK(line.get(LAUB_HEAD_XID) == 1);
    line.reply(LAUB_REPLY, 0);
    line.next();
    CHECK(line.get(LAUB_HEAD_XID) == 2);
    answer(line);
    line.wait();
  }});
  REQUIRE(b.station.replies.size() == 2);
}

TEST_CASE("arguments and results of any length go through control line and overflow lines", "[lauberhorn]") {
  unsigned good = 0;
  const std::vector<unsigned> sizes{0, 1, 92, 93, 96, 97, 220, 1000, 8000};
  Bench b({[&](Bench& at, LineHart& h) {
    Side line = at.user(h, 2);
    for (const unsigned size : sizes) {
      Bytes arguments = words({size});
      for (unsigned n = 0; n < (size + 3) / 4 * 4; ++n)
        arguments.push_back(n < size ? static_cast<std::uint8_t>(n * 7 + size) : 0);
      at.send(call(size, 1, arguments));
      REQUIRE(line.wait() == LAUB_CALL);
      REQUIRE(line.length() == arguments.size());
      CHECK(line.get(LAUB_HEAD_BYTES) == size);  // little endian
      for (unsigned n = 0; n < size; ++n)
        if (h.load(line.place(4 + n)) != static_cast<std::uint8_t>(n * 7 + size)) REQUIRE(n == size);
      // The result is one byte more in each.
      for (unsigned n = 0; n < size; ++n) h.store(line.place(4 + n), static_cast<std::uint8_t>(n * 7 + size + 1));
      line.reply(LAUB_REPLY, static_cast<unsigned>(arguments.size()));
      line.next();
      ++good;
    }
    line.wait();
  }});
  REQUIRE(good == sizes.size());
  REQUIRE(b.station.replies.size() == sizes.size());
  for (unsigned i = 0; i < sizes.size(); ++i) {
    const Bytes& r = b.station.replies[i].results;
    INFO("size " << sizes[i]);
    REQUIRE(r.size() == 4 + (sizes[i] + 3) / 4 * 4);
    REQUIRE(net::load32(r.data()) == sizes[i]);
    for (unsigned n = 0; n < r.size() - 4; ++n)
      if (r[4 + n] != (n < sizes[i] ? static_cast<std::uint8_t>(n * 7 + sizes[i] + 1) : 0)) REQUIRE(n == r.size());
  }
}

TEST_CASE("two clients with one transaction id get each his reply", "[lauberhorn]") {
  Bench b({[&](Bench& at, LineHart& h) {
    Side line = at.user(h, 1);
    at.send(call(9, 0, {}, 1));
    at.send(call(9, 0, {}, 2));
    answer(line);
    REQUIRE(line.wait() == LAUB_CALL);
    line.reply(LAUB_REPLY, 0, RPC_SYSTEM_ERR);
    line.next();
    line.wait();
  }});
  REQUIRE(b.station.replies.size() == 2);
  CHECK(b.station.replies[0].client == 1);
  CHECK(b.station.replies[0].accept_stat == RPC_SUCCESS);
  CHECK(b.station.replies[1].client == 2);
  CHECK(b.station.replies[1].accept_stat == RPC_SYSTEM_ERR);
}

TEST_CASE("a call for a process without a core goes to a kernel line, and the kernel says when it has done with it",
          "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
    Side kernel = at.kernel(h), line = at.user(h, 3);
    at.send(call(1, 2));
    REQUIRE(kernel.wait() == LAUB_CALL);
    CHECK(kernel.get(LAUB_HEAD_PROCESS) == (3 | 103 << 16));
    CHECK(at.get(LAUB_RUNS(0)) == 3);
    kernel.reply(LAUB_REPLY, 0);
    kernel.next();
    at.set(LAUB_KERNEL_LINE(0), LAUB_KERNEL_DONE);
    at.send(call(2, 2));
    REQUIRE(line.wait() == LAUB_CALL);
    h.at(h.runner.time() + kLong);
    CHECK(at.station.replies.size() == 1);  // that of the first call
    line.reply(LAUB_REPLY, 0);
    line.next();
    // A call of another process takes the core away.
    at.send(call(3, 0));
    REQUIRE(line.wait() == LAUB_YIELDNOW);
    line.next();
    REQUIRE(kernel.wait() == LAUB_CALL);
    CHECK(kernel.get(LAUB_HEAD_XID) == 3);
    kernel.reply(LAUB_REPLY, 0);
    kernel.next();
    kernel.wait();
    done = true;
  }});
  REQUIRE(done);
  REQUIRE(b.station.replies.size() == 3);
  CHECK(b.counter("yields") == 1);
}

TEST_CASE("a request's stages lie one behind the other from the wire to the reply", "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
    const auto component = base::ledger().component("client");
    Side line = at.user(h, 1);
    h.at(1_us);
    const base::RequestId x = base::ledger().open(SLUICE_STAGE_wire, component, base::now());
    net::PacketPtr p = call(1, 0);
    p->spans.add({0, p->length, x});
    at.send(std::move(p));
    REQUIRE(line.wait() == LAUB_CALL);
    CHECK(at.lines.request_of(0, line.base) == x);
    line.reply(LAUB_REPLY, 0);
    line.next();
    line.wait();
    std::vector<base::Stage> stages;
    for (const auto& t : base::ledger().find(x)->tiles) stages.push_back(t.stage);
    CHECK(stages == std::vector<base::Stage>{SLUICE_STAGE_wire, SLUICE_STAGE_wire, SLUICE_STAGE_mac,
                                             SLUICE_STAGE_nic_queue, SLUICE_STAGE_decode, SLUICE_STAGE_nic_queue,
                                             SLUICE_STAGE_wait_core, SLUICE_STAGE_coherence_message,
                                             SLUICE_STAGE_transmit, SLUICE_STAGE_mac, SLUICE_STAGE_wire});
    done = true;
  }});
  REQUIRE(done);
  CHECK(base::ledger().error().empty());
}
