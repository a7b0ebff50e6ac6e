// SPDX-License-Identifier: Apache-2.0
/// The PIO NIC on a coherent link: the two-line protocol of each direction, and its stamps.
#include <cstring>
#include <deque>
#include <functional>

#include <catch2/catch.hpp>

#include <tlm_utils/simple_initiator_socket.h>

#include "models/nic/pio/coherent_pio.h"
#include "tests/unit/coherence/line_hart.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base::literals;
using nic::CoherentPio;
using nic::LineGrant;

namespace {

constexpr std::uint64_t kLines = 0x2000'0000, kRx = kLines + PIO_RX_LINES, kTx = kLines + PIO_TX_LINES;
constexpr std::uint64_t kSecond = PIO_CONTROL_LINE(1), kOverflow = PIO_OVERFLOW;

/// Counts what comes out of the wire's far end, and sends into it.
struct Station : net::Wire::Client {
  std::vector<std::vector<std::uint8_t>> frames;
  void frame_arrived(net::PacketPtr p) override { frames.emplace_back(p->bytes, p->bytes + p->length); }
};

struct Host : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Host> socket{"socket"};
  explicit Host(sc_core::sc_module_name name) : sc_module(name) {}
};

/// A hart that does what a driver does, on a link without latencies.
struct Bench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 100_ns};
  coherence::HomedLines lines{1, PIO_LINE, 256, false};
  coherence::CoherentLink link;
  net::Wire wire{"wire", {}};
  Station station;
  nic::CoherentPioParameters parameters;
  Host host{"host"};
  std::unique_ptr<CoherentPio> nic;
  std::unique_ptr<LineHart> hart;

  explicit Bench(std::function<void(Bench&, LineHart&)> script, LineGrant grant = LineGrant::exclusive,
                 base::Time block = 10_us, base::Time flight = {})
      : link("link", coherence::kEci, base::Ratio(flight == base::Time{} ? 0 : 1'000'000), with_flight(flight)) {
    parameters.grant = grant;
    parameters.pio.rx_block = block;
    nic = std::make_unique<CoherentPio>("nic", parameters, wire, net::Wire::kB);
    host.socket.bind(nic->socket);
    wire.attach(net::Wire::kA, station);
    lines.add(*nic, kLines, PIO_LINES_SIZE, "nic", link);
    nic->mac().set_loopback(net::Mac::Loopback::line);
    hart = std::make_unique<LineHart>("hart", scheduler, lines, 0, [this, script](LineHart& h) { script(*this, h); });
    scheduler.run_until(1_ms);
  }
  static coherence::CoherentLatencies with_flight(base::Time flight) {
    coherence::CoherentLatencies latencies = kNoLatencies;
    latencies.flight = flight;
    return latencies;
  }
  std::uint64_t word(std::uint64_t address) {
    std::uint64_t value = 0;
    const std::uint8_t* bytes = lines.hold(0, address, false);
    REQUIRE(bytes);
    std::memcpy(&value, bytes, 8);
    lines.let_go(0);
    return value;
  }
  void set_word(std::uint64_t address, std::uint64_t value) {
    std::uint8_t* bytes = lines.hold(0, address, true);
    REQUIRE(bytes);
    std::memcpy(bytes, &value, 8);
    lines.let_go(0);
  }
  static std::uint64_t frame_byte(unsigned n, unsigned seed) { return static_cast<std::uint8_t>(n * 7 + seed); }
  static std::uint64_t place(std::uint64_t control, unsigned n) {
    return n < PIO_INLINE_BYTES ? control + PIO_INLINE + n : kOverflow + n - PIO_INLINE_BYTES;
  }
  /// Writes a frame into the control line at `control` and commits it by a load of `next`.
  void send(std::uint64_t control, std::uint64_t next, unsigned bytes, unsigned seed) {
    for (unsigned n = 0; n < bytes; ++n)
      REQUIRE(hart->store(kTx + place(control, n), static_cast<std::uint8_t>(frame_byte(n, seed))));
    set_word(kTx + control, PIO_WORD_VALID | std::uint64_t{bytes} << PIO_WORD_LENGTH_SHIFT);
    word(kTx + next);
  }
  void require_frame(std::uint64_t control, unsigned bytes, unsigned seed) {
    const std::uint64_t w = word(kRx + control);
    REQUIRE((w & PIO_WORD_VALID) == 1);
    REQUIRE((w >> PIO_WORD_TYPE_SHIFT & 7) == PIO_WORD_TYPE_BYPASS);
    REQUIRE((w >> PIO_WORD_LENGTH_SHIFT & PIO_WORD_LENGTH_MASK) == bytes);
    for (unsigned n = 0; n < bytes; ++n)
      if (hart->load(kRx + place(control, n)) != static_cast<int>(frame_byte(n, seed))) REQUIRE(n == bytes);
  }
};

}  // namespace

TEST_CASE("frames of any size go through both lines of each direction in turn", "[pio]") {
  for (const LineGrant grant : {LineGrant::exclusive, LineGrant::shared}) {
    bool done = false;
    Bench b(
        [&](Bench& at, LineHart&) {
          std::uint64_t line = 0;
          at.word(kTx + line);
          unsigned seed = 0;
          for (const unsigned bytes : {60u, 64u, 65u, 192u, 193u, 1500u, 9600u, 9618u}) {
            at.send(line, line ^ kSecond, bytes, ++seed);
            at.require_frame(line, bytes, seed);
            line ^= kSecond;
          }
          done = true;
        },
        grant);
    REQUIRE(done);
    REQUIRE(b.station.frames.empty());  // loopback
  }
}

TEST_CASE("stamps are cycles of the NIC's clock, and the pipelines have their latencies", "[pio]") {
  base::Time committed, received;
  Bench b([&](Bench& at, LineHart& h) {
    at.word(kTx);
    h.at(1_us);
    at.send(0, kSecond, 128, 1);
    committed = h.runner.time();
    at.require_frame(0, 128, 1);
    received = h.runner.time();
    // The register that ends a sample.
    const std::uint64_t bytes = 128;
    REQUIRE(at.nic->registers().write(PIO_SAMPLE, &bytes, 8) == base::Answer::ok);
  });
  REQUIRE(committed == 1_us);
  // Two beats: 44 + 2 x 8 ns, then 36 + 2 x 4 ns.
  const nic::PioSample& s = b.nic->core().samples().at(0);
  REQUIRE(s.bytes == 128);
  REQUIRE(s.after_tx_commit == 250);
  REQUIRE(s.after_dma_read == 250 + 60 / 4);
  REQUIRE(s.exit == 250 + (60 + 44) / 4);
  // The MAC's latencies of 40 ns each, and 140 octets at 100 Gb/s: 11.2 ns.
  const base::Time entry = 1_us + 104_ns + 80_ns + base::Time::ps(11'200);
  REQUIRE(s.entry == entry / 4_ns);
  REQUIRE(s.after_rx_queue == (entry + 44_ns) / 4_ns);
  REQUIRE(s.after_dma_write == (entry + 68_ns) / 4_ns);
  REQUIRE(s.read_start == 250);
  REQUIRE(s.after_read == (entry + 68_ns) / 4_ns);
  REQUIRE(received == entry + 68_ns);
}

TEST_CASE("a frame that turns around enters the receive queue when it has left that for transmission", "[pio]") {
  Bench b([&](Bench& at, LineHart& h) {
    // It goes before the MAC's own loopback.
    const std::uint64_t both = PIO_CONTROL_LOOPBACK | PIO_CONTROL_TURN_AROUND, bytes = 128;
    REQUIRE(at.nic->registers().write(PIO_CONTROL, &both, 8) == base::Answer::ok);
    at.word(kTx);
    h.at(1_us);
    at.send(0, kSecond, 128, 1);
    at.require_frame(0, 128, 1);
    REQUIRE(at.nic->registers().write(PIO_SAMPLE, &bytes, 8) == base::Answer::ok);
  });
  const nic::PioSample& s = b.nic->core().samples().at(0);
  REQUIRE(s.exit == 250 + (60 + 44) / 4);
  REQUIRE(s.entry == s.exit);
  REQUIRE(s.after_rx_queue == s.entry + 44 / 4);
  REQUIRE(b.station.frames.empty());
}

TEST_CASE("a load of the same line is answered again, and one of the other waits for the next frame", "[pio]") {
  std::vector<std::uint64_t> words;
  Bench b([&](Bench& at, LineHart&) {
    at.word(kTx);
    at.send(0, kSecond, 100, 1);
    at.send(kSecond, 0, 101, 2);
    for (const std::uint64_t line : {std::uint64_t{0}, std::uint64_t{0}, kSecond, kSecond, std::uint64_t{0}})
      words.push_back(at.word(kRx + line) >> PIO_WORD_LENGTH_SHIFT);
  });
  REQUIRE(words == std::vector<std::uint64_t>{100, 100, 101, 101, 0});
}

TEST_CASE("a receive for which no frame comes in time is answered with none, and the lines change all the same",
          "[pio]") {
  std::vector<base::Time> times;
  std::vector<std::uint64_t> words;
  Bench b([&](Bench& at, LineHart& h) {
    std::uint64_t line = 0;
    for (unsigned n = 0; n < 3; ++n, line ^= kSecond) {
      words.push_back(at.word(kRx + line));
      times.push_back(h.runner.time());
    }
    at.word(kTx);
    at.send(0, kSecond, 100, 1);
    at.require_frame(kSecond, 100, 1);
  });
  REQUIRE(words == std::vector<std::uint64_t>(3, 0));
  REQUIRE(times == std::vector<base::Time>{10_us, 20_us, 30_us});
}

TEST_CASE("a commit of no length is counted, and the buffer is free again", "[pio]") {
  Bench b([&](Bench& at, LineHart&) {
    at.word(kTx);
    at.set_word(kTx, PIO_WORD_VALID);
    at.word(kTx + kSecond);
    at.set_word(kTx + kSecond, PIO_WORD_VALID | std::uint64_t{9619} << PIO_WORD_LENGTH_SHIFT);
    at.word(kTx);
    at.send(0, kSecond, 100, 1);
    at.require_frame(0, 100, 1);
  });
  std::uint64_t errors = 0;
  REQUIRE(b.nic->registers().read(PIO_TX_ERRORS, &errors, 8) == base::Answer::ok);
  REQUIRE(errors == 2);
}

TEST_CASE("what is neither a control line nor an overflow line is refused", "[pio]") {
  std::vector<int> loaded;
  Bench b([&](Bench&, LineHart& h) {
    const std::uint64_t end = kOverflow + PIO_OVERFLOW_LINES * PIO_LINE;
    for (const std::uint64_t at : {kRx + end, kTx + end, kLines + PIO_LINES_SIZE - PIO_LINE, kRx + end - 1})
      loaded.push_back(h.load(at));  // the last one is an overflow line, and nothing has come yet
    h.load(kRx);
    loaded.push_back(h.load(kRx + end - 1));
  });
  REQUIRE(loaded == std::vector<int>{-1, -1, -1, -1, 0});
}

TEST_CASE("without loopback frames come from the wire and go to it, and what has no room is dropped", "[pio]") {
  unsigned found = 0;
  Bench b([&](Bench& at, LineHart& h) {
    at.nic->mac().set_loopback(net::Mac::Loopback::none);
    at.word(kTx);
    at.send(0, kSecond, 100, 3);
    // 64 KiB have four buffers for frames of 9600 B.
    for (unsigned n = 0; n < 8; ++n) {
      net::PacketPtr p = net::make_packet();
      p->length = 9600;
      std::memset(p->bytes, static_cast<int>(n), p->length);
      at.wire.send(net::Wire::kA, std::move(p));
    }
    h.at(20_us);
    for (std::uint64_t line = 0; at.word(kRx + line) != 0; line ^= kSecond, ++found)
      REQUIRE(h.load(kRx + line + PIO_INLINE) == static_cast<int>(found));
  });
  REQUIRE(found == 4);
  std::uint64_t dropped = 0;
  REQUIRE(b.nic->registers().read(PIO_RX_DROPPED, &dropped, 8) == base::Answer::ok);
  REQUIRE(dropped == 4);
  REQUIRE(b.station.frames.size() == 1);
  REQUIRE(b.station.frames[0].size() == 100);
}

TEST_CASE("a reset of the caches lets both directions begin again", "[pio]") {
  int again = -1;
  Bench b([&](Bench& at, LineHart& h) {
    at.word(kTx);
    at.send(0, kSecond, 100, 1);
    at.require_frame(0, 100, 1);
    at.send(kSecond, 0, 300, 2);  // it is in the pipeline when the reset comes
    at.nic->mac().reset();
    at.nic->reset();
    at.lines.reset();
    at.nic->mac().set_loopback(net::Mac::Loopback::line);
    REQUIRE(at.nic->core().samples().empty());
    REQUIRE(at.word(kTx + kSecond) == 0);  // nothing is left of the old frame
    at.send(kSecond, 0, 9600, 5);
    at.require_frame(kSecond, 9600, 5);
    again = h.load(kRx + kSecond + PIO_INLINE);
  });
  REQUIRE(again == 5);
}

TEST_CASE("a block time of 0 answers as soon as the line before is there", "[pio]") {
  std::vector<std::uint64_t> words;
  Bench b(
      [&](Bench& at, LineHart&) {
        for (unsigned n = 0; n < 10; ++n) words.push_back(at.word(kRx + (n % 2 == 0 ? 0 : kSecond)));
        at.word(kTx);
        at.send(0, kSecond, 100, 1);
      },
      LineGrant::exclusive, 0_ns);
  REQUIRE(words == std::vector<std::uint64_t>(10, 0));
}

TEST_CASE("what the host has read behind a frame is taken back with it", "[pio]") {
  bool done = false;
  Bench b([&](Bench& at, LineHart& h) {
    at.word(kTx);
    at.send(0, kSecond, 100, 1);
    at.require_frame(0, 100, 1);
    for (unsigned n = 0; n < PIO_OVERFLOW_LINES; ++n) h.load(kRx + kOverflow + n * PIO_LINE);
    at.send(kSecond, 0, 3000, 2);
    at.require_frame(kSecond, 3000, 2);
    done = true;
  });
  REQUIRE(done);
}

TEST_CASE("a hart that gives up and asks for the line before does not get it again", "[pio]") {
  // The load of the other line is given up while the lines of the frame before come back: the request and the recall
  // take 50 ns each, and each of the 76 lines 8 ns more.
  unsigned refused = 0;
  for (unsigned ns = 130; ns < 1000; ns += 30) {
    std::uint64_t next = 0;
    Bench b(
        [&](Bench& at, LineHart&) {
          at.lines.check();
          at.word(kTx);
          at.send(0, kSecond, 9600, 1);
          at.send(kSecond, 0, 100, 2);
          at.send(0, kSecond, 101, 3);
          at.require_frame(0, 9600, 1);
          if (at.lines.hold(0, kRx + kSecond, false, base::Time::ns(ns))) {
            at.lines.let_go(0);
            next = 101;  // nothing was given up
            return;
          }
          if (at.lines.hold(0, kRx, false)) {
            at.lines.let_go(0);
            next = at.word(kRx) >> PIO_WORD_LENGTH_SHIFT;  // the load that was given up had its answer
            return;
          }
          ++refused;
          at.require_frame(kSecond, 100, 2);
          next = at.word(kRx) >> PIO_WORD_LENGTH_SHIFT;
        },
        LineGrant::exclusive, 10_us, 50_ns);
    INFO(ns);
    REQUIRE(next == 101);
  }
  REQUIRE(refused > 0);
}

TEST_CASE("frames carry their request through both directions, and a reset forgets it", "[pio]") {
  bool done = false;
  Bench b([&](Bench& at, LineHart& h) {
    const auto component = base::ledger().component("hart");
    const auto stages = [](base::RequestId id) {
      std::vector<base::Stage> all;
      for (const auto& t : base::ledger().find(id)->tiles) all.push_back(t.stage);
      return all;
    };
    at.word(kTx);
    h.at(1_us);
    const base::RequestId x = base::ledger().open(SLUICE_STAGE_doorbell, component, base::now());
    for (unsigned n = 0; n < 100; ++n) h.store(kTx + Bench::place(0, n), 1);
    at.set_word(kTx, PIO_WORD_VALID | std::uint64_t{100} << PIO_WORD_LENGTH_SHIFT);
    at.lines.set_request_of(0, kTx, x);
    at.lines.set_request_of(0, kTx + kOverflow, x);
    at.word(kTx + kSecond);
    CHECK(stages(x).back() == SLUICE_STAGE_transmit);
    CHECK((at.word(kRx) & PIO_WORD_VALID) == 1);
    CHECK(at.lines.request_of(0, kRx) == x);
    h.load(kRx + kOverflow);
    CHECK(at.lines.request_of(0, kRx + kOverflow) == x);
    at.lines.reset();
    CHECK((at.word(kRx) & PIO_WORD_VALID) == 0);
    CHECK(at.lines.request_of(0, kRx) == 0);
    h.load(kRx + kOverflow);
    CHECK(at.lines.request_of(0, kRx + kOverflow) == 0);
    done = true;
  });
  REQUIRE(done);
}
