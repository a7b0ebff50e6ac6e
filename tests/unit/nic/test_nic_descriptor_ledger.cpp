// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/unit/fresh_kernel.h"
#include "tests/unit/nic/nic_descriptor_bench.h"

using namespace sluice;
using namespace sluice::test;
using base::Time;

namespace {

struct Step {
  base::Stage stage;
  std::string component;
  Time spent;
};

/// A driver that returns every frame from its receive buffer, and the ledger of one request through it.
struct Loopback {
  explicit Loopback(const nic::DescriptorParameters& p = {}) : b(p) {}

  std::vector<Step> run() {
    std::vector<Step> steps;
    base::ledger().on_complete([&](const base::Ledger::Request& r, Time end) {
      for (std::size_t i = 0; i < r.tiles.size(); ++i) {
        const Time until = i + 1 < r.tiles.size() ? r.tiles[i + 1].start : end;
        steps.push_back({r.tiles[i].stage, base::ledger().path(r.tiles[i].component), until - r.tiles[i].start});
      }
      latency = end - r.start();
    });
    b.station.on_frame = [](const net::Packet& p) { base::ledger().complete(p.request(), base::now()); };
    b.run([&] {
      b.on();
      auto rx = b.receive_ring(0, 64, 63);
      auto tx = b.transmit_ring(0, 64);
      b.wait(5_us);
      id = b.send(udp_frame(22));
      const std::uint32_t i = b.next_frame(rx, 1_ns);
      base::ledger().enter(id, SLUICE_STAGE_doorbell, b.nic.component(), b.host.runner.time());
      rung = b.host.runner.time();
      b.put(tx, rx.buffers + i * NicBench::kBuffer, 64, DESC_TX_EOP | DESC_TX_RS);
      b.doorbell(tx);
      b.wait(10_us);
    });
    CHECK(b.station.frames.size() == 1);
    return steps;
  }

  NicBench b;
  base::RequestId id = 0;
  Time rung;
  Time latency;
};

Time sum(const std::vector<Step>& steps, base::Stage stage) {
  Time t;
  for (const Step& s : steps)
    if (s.stage == stage) t += s.spent;
  return t;
}

/// Time of a TLP's bytes on a gen3 x16 link, as the link itself says.
Time on_link(NicBench& b, unsigned bytes) { return b.link.up().wire_time(bytes); }

}  // namespace

TEST_CASE("each stage of a loopback equals what its parts say", "[nic][ledger]") {
  Loopback l;
  const std::vector<Step> steps = l.run();
  const nic::DescriptorParameters p;
  const pcie::RootComplex::Parameters rc;
  const pcie::Link::Parameters link;
  NicBench& b = l.b;

  std::vector<base::Stage> order;
  for (const Step& s : steps)
    if (order.empty() || order.back() != s.stage) order.push_back(s.stage);
  CHECK(order == std::vector<base::Stage>{
                     SLUICE_STAGE_wire, SLUICE_STAGE_mac, SLUICE_STAGE_parse, SLUICE_STAGE_nic_queue,
                     SLUICE_STAGE_upstream_link, SLUICE_STAGE_memory, SLUICE_STAGE_wait_core,        // received
                     SLUICE_STAGE_doorbell, SLUICE_STAGE_downstream_link, SLUICE_STAGE_nic_queue,    // the doorbell
                     SLUICE_STAGE_upstream_link, SLUICE_STAGE_memory, SLUICE_STAGE_downstream_link,  // the descriptor
                     SLUICE_STAGE_upstream_link, SLUICE_STAGE_memory, SLUICE_STAGE_downstream_link,  // the frame
                     SLUICE_STAGE_transmit, SLUICE_STAGE_mac, SLUICE_STAGE_wire});

  const Time frame = 80_ps * (8 + 64 + 4) + 10_ns;
  CHECK(sum(steps, SLUICE_STAGE_wire) == frame * 2);
  CHECK(sum(steps, SLUICE_STAGE_mac) == p.mac.rx_latency + p.mac.tx_latency);
  CHECK(sum(steps, SLUICE_STAGE_parse) == p.parse);
  CHECK(sum(steps, SLUICE_STAGE_nic_queue) == p.rx_pipeline + p.tx_doorbell);
  CHECK(sum(steps, SLUICE_STAGE_transmit) == p.tx_pipeline);

  // RAM lies below 4 GiB: headers of 12 B, and 8 B of framing. Upstream: the frame and its descriptor's write-back, one
  // behind the other; two read requests.
  const Time hop_up = p.pcie.transmit_latency + link.flight;
  const Time hop_down = link.flight + p.pcie.receive_latency;
  const Time up = on_link(b, 20 + 64) + on_link(b, 20 + 32) + on_link(b, 20) * 2 + hop_up * 3;
  CHECK(sum(steps, SLUICE_STAGE_upstream_link) == up);
  // Downstream: the doorbell (above 4 GiB) and two completions.
  const Time down = on_link(b, 24 + 4) + on_link(b, 20 + 16) + on_link(b, 20 + 64) + hop_down * 3;
  CHECK(sum(steps, SLUICE_STAGE_downstream_link) == down);
  CHECK(sum(steps, SLUICE_STAGE_memory) == rc.write_latency + b.memory.write + (rc.read_latency + b.memory.read) * 2);
  CHECK(sum(steps, SLUICE_STAGE_doorbell) == rc.outbound_latency);

  Time all;
  for (const Step& s : steps) all += s.spent;
  CHECK(all == l.latency);
}

TEST_CASE("100 ns more in one part of the NIC move its stage by 100 ns and no other", "[nic][ledger]") {
  std::array<Time, SLUICE_STAGE_COUNT> before{};
  {
    Loopback l;
    const auto steps = l.run();
    for (unsigned s = 0; s < SLUICE_STAGE_COUNT; ++s) before[s] = sum(steps, static_cast<base::Stage>(s));
  }
  struct Case {
    base::Time nic::DescriptorParameters::*latency;
    base::Stage stage;
  };
  const Case cases[] = {
      {&nic::DescriptorParameters::parse, SLUICE_STAGE_parse},
      {&nic::DescriptorParameters::rx_pipeline, SLUICE_STAGE_nic_queue},
      {&nic::DescriptorParameters::tx_doorbell, SLUICE_STAGE_nic_queue},
      {&nic::DescriptorParameters::tx_pipeline, SLUICE_STAGE_transmit},
  };
  for (const Case& c : cases) {
    nic::DescriptorParameters p;
    p.*c.latency += 100_ns;
    fresh_kernel();
    Loopback l(p);
    const auto steps = l.run();
    for (unsigned s = 0; s < SLUICE_STAGE_COUNT; ++s) {
      const Time more = s == c.stage ? 100_ns : 0_ns;
      // The driver looks every nanosecond, so waiting for it may differ by less than that.
      const Time slack = s == SLUICE_STAGE_wait_core ? 1_ns : 0_ns;
      const Time now = sum(steps, static_cast<base::Stage>(s));
      CHECK(now + slack >= before[s] + more);
      CHECK(now <= before[s] + more + slack);
    }
  }
}

TEST_CASE("many frames through the NIC are all accounted for", "[nic][ledger]") {
  Loopback l;
  NicBench& b = l.b;
  b.station.on_frame = [](const net::Packet& p) { base::ledger().complete(p.request(), base::now()); };
  constexpr unsigned kFrames = 3000;
  b.run([&] {
    b.on();
    auto rx = b.receive_ring(0, 512, 511);
    auto tx = b.transmit_ring(0, 512);
    b.wait(5_us);
    unsigned sent = 0, echoed = 0;
    while (echoed < kFrames) {
      for (unsigned n = 0; n < 16 && sent < kFrames && sent - b.station.times.size() < 200; ++n, ++sent)
        b.send(udp_frame(18 + sent % 900));
      while (b.done(rx, rx.next) && echoed < sent) {
        const std::uint32_t i = rx.next;
        rx.next = (rx.next + 1) % rx.length;
        b.put(tx, rx.buffers + i * NicBench::kBuffer, b.report(rx, i).packet_length, DESC_TX_EOP | DESC_TX_RS);
        // Gives the descriptor back with the same buffer, which also clears the report's DD.
        const desc_rx_read again = {rx.buffers + i * NicBench::kBuffer, 0, {}};
        b.ram.write(rx.base + i * sizeof again, &again, sizeof again);
        ++echoed;
        if (echoed % 16 == 0 || echoed == sent) b.doorbell(tx);
        if (echoed % 32 == 0) {
          rx.tail = (rx.tail + 32) % rx.length;
          b.doorbell(rx);
        }
      }
      b.wait(100_ns);
    }
    b.doorbell(tx);
    b.wait(50_us);
    CHECK(b.read(DESC_ERRORS) == 0);
  });
  CHECK(base::ledger().completed() == kFrames);
  CHECK(base::ledger().in_flight() == 0);
  CHECK(base::ledger().clamped() == 0);
  CHECK(b.nic.statistic(DESC_STAT_RX_PACKETS) == kFrames);
  CHECK(b.nic.statistic(DESC_STAT_TX_PACKETS) == kFrames);
}

TEST_CASE("a frame given to send before a request's bytes lie in it did not wait for that request", "[nic]") {
  NicBench b;
  b.run([&] {
    b.write(DESC_CONTROL, DESC_CONTROL_RX_ENABLE);
    auto rx = b.receive_ring(0, 64, 63);
    auto tx = b.transmit_ring(0, 64);
    b.put(tx, rx.buffers, 64, DESC_TX_EOP | DESC_TX_RS);
    b.doorbell(tx);
    b.wait(5_us);
    const base::RequestId id = b.send(udp_frame(22));
    b.next_frame(rx, 1_ns);
    b.on();
    b.wait(10_us);
    const base::Ledger::Request* r = base::ledger().find(id);
    REQUIRE(r != nullptr);
    CHECK(r->tiles.back().stage == SLUICE_STAGE_wire);  // on its way to the station
  });
  CHECK(b.station.frames.size() == 1);
  CHECK(base::ledger().clamped() == 1);
}

TEST_CASE("a request whose bytes are sent twice goes with the first frame", "[nic]") {
  NicBench b;
  base::RequestId id = 0;
  unsigned frames_of_it = 0;
  b.station.on_frame = [&](const net::Packet& p) {
    frames_of_it += p.request() == id;
    base::ledger().complete(p.request(), base::now());
  };
  b.run([&] {
    b.on();
    auto rx = b.receive_ring(0, 64, 63);
    auto tx = b.transmit_ring(0, 64);
    id = b.send(udp_frame(1000));
    b.next_frame(rx, 1_ns);
    b.put(tx, rx.buffers, 1042, DESC_TX_EOP | DESC_TX_RS);
    b.put(tx, rx.buffers, 1042, DESC_TX_EOP | DESC_TX_RS);
    b.put(tx, rx.buffers, 60, DESC_TX_EOP | DESC_TX_RS);
    b.doorbell(tx);
    b.wait(10_us);
  });
  CHECK(b.station.frames.size() == 3);
  CHECK(frames_of_it == 1);
  CHECK(base::ledger().completed() == 1);
}
