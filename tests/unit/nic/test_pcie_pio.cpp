// SPDX-License-Identifier: Apache-2.0
/// The PIO NIC on PCIe: its packet buffer, the registers that give and take frames, and its stamps.
#include <cstring>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include "models/nic/pio/pcie_pio.h"
#include "models/nic/pio/pio_regs.h"
#include "tests/unit/device_bench.h"

using namespace sluice;
using namespace sluice::base::literals;
using nic::PacketBuffer;

namespace {

struct WithWire {
  net::Wire wire{"wire", {}};
};
struct PioNicAtWire : WithWire, nic::PciePio {
  PioNicAtWire(const char* name, const Parameters& p) : PciePio(name, p, wire, net::Wire::kB) {}
};
using Bench = DeviceBench<PioNicAtWire>;

nic::PciePioParameters parameters(base::Time block = 5_us) {
  nic::PciePioParameters p;
  p.pio.rx_block = block;
  return p;
}

std::uint64_t word(std::uint64_t bytes, std::uint64_t offset) {
  return bytes << PIO_WORD_LENGTH_SHIFT | offset << PIO_WORD_OFFSET_SHIFT;
}
std::uint64_t length(std::uint64_t w) { return w >> PIO_WORD_LENGTH_SHIFT & PIO_WORD_LENGTH_MASK; }
std::uint64_t offset(std::uint64_t w) { return w >> PIO_WORD_OFFSET_SHIFT; }
std::uint8_t frame_byte(unsigned n, unsigned seed) { return static_cast<std::uint8_t>(n * 13 + seed); }

std::uint64_t reg(Bench& b, ScriptedHart& h, std::uint64_t at) { return h.read(b.bar + at, 8); }
void set(Bench& b, ScriptedHart& h, std::uint64_t at, std::uint64_t value) { h.write(b.bar + at, value, 8); }

/// Writes a frame in blocks of 64 B, and commits it.
void send(Bench& b, ScriptedHart& h, unsigned bytes, unsigned seed) {
  const std::uint64_t buffer = reg(b, h, PIO_HOST_TX);
  REQUIRE((buffer & PIO_WORD_VALID) == 1);
  REQUIRE(length(buffer) == 9664);
  std::vector<std::uint8_t> frame(bytes);
  for (unsigned n = 0; n < bytes; ++n) frame[n] = frame_byte(n, seed);
  for (unsigned n = 0; n < bytes; n += 64)
    h.transport(tlm::TLM_WRITE_COMMAND, b.bar + PIO_PACKET_BUFFER + offset(buffer) + n, frame.data() + n,
                std::min(64u, bytes - n));
  set(b, h, PIO_HOST_TX_ACK, word(bytes, offset(buffer)));
}

std::uint64_t receive(Bench& b, ScriptedHart& h) { return reg(b, h, PIO_HOST_RX_NEXT); }

void require_frame(Bench& b, ScriptedHart& h, std::uint64_t w, unsigned bytes, unsigned seed) {
  REQUIRE((w & PIO_WORD_VALID) == 1);
  REQUIRE(length(w) == bytes);
  for (unsigned n = 0; n < bytes; n += 32) {
    std::uint8_t block[32];
    h.transport(tlm::TLM_READ_COMMAND, b.bar + PIO_PACKET_BUFFER + offset(w) + n, block, 32);
    for (unsigned i = 0; i < 32 && n + i < bytes; ++i)
      if (block[i] != frame_byte(n + i, seed)) REQUIRE(n + i == bytes);
  }
}

std::uint64_t counter(Bench& b, std::uint64_t at) {
  std::uint64_t value = 0;
  REQUIRE(b.device.registers().read(at, &value, 8) == base::Answer::ok);
  return value;
}

}  // namespace

TEST_CASE("the packet buffer has buffers of three sizes", "[pio]") {
  PacketBuffer buffer(65536);
  CHECK(buffer.buffers_for(60) == 51 + 12 + 4);
  CHECK(buffer.buffers_for(129) == 12 + 4);
  CHECK(buffer.buffers_for(1537) == 4);
  CHECK(buffer.buffers_for(9664) == 4);
  CHECK(buffer.buffers_for(9665) == 0);
  std::set<std::uint32_t> starts;
  std::vector<std::uint32_t> large;
  for (unsigned n = 0; n < 4; ++n) large.push_back(*buffer.allocate(9618));
  CHECK_FALSE(buffer.allocate(9618));
  CHECK_FALSE(buffer.allocate(1537));
  for (const std::uint32_t offset : large) starts.insert(offset);
  // Small frames take small buffers first, and then what is left of the greater ones.
  for (unsigned n = 0; n < 51 + 12; ++n) {
    const auto offset = buffer.allocate(64);
    REQUIRE(offset);
    CHECK(*offset % PacketBuffer::kBeat == 0);
    CHECK(starts.insert(*offset).second);
    CHECK((*offset < 51 * 128) == (n < 51));
  }
  CHECK_FALSE(buffer.allocate(64));
  CHECK(*starts.rbegin() + 9664 <= 65536);
  buffer.free(large[2]);
  CHECK(buffer.allocate(9000) == large[2]);
  buffer.reset();
  CHECK(buffer.allocate(9000) == large[0]);
}

TEST_CASE("frames of any size go through the packet buffer", "[pio]") {
  Bench b(parameters());
  unsigned done = 0;
  b.run([&](ScriptedHart& h) {
    set(b, h, PIO_CONTROL, PIO_CONTROL_LOOPBACK);
    for (const unsigned bytes : {60u, 64u, 65u, 1518u, 9600u, 9618u}) {
      send(b, h, bytes, done + 1);
      const std::uint64_t w = receive(b, h);
      require_frame(b, h, w, bytes, done + 1);
      set(b, h, PIO_HOST_RX_NEXT_ACK, word(0, offset(w)));
      ++done;
    }
  });
  CHECK(done == 6);
  CHECK(counter(b, PIO_TX_ERRORS) == 0);
}

TEST_CASE("a load of a receive is held back from when the NIC has it until the NIC answers", "[pio]") {
  static const std::string name = "hart";
  constexpr base::Time kRead = 300_ns;
  nic::PciePioParameters p = parameters(5_us);
  p.read = kRead;
  Bench b(p);
  base::HeldLoad load;
  const auto held = [&](ScriptedHart& h) {
    const auto [from, to] = load.held_back(h.time());
    return to - from;
  };
  const auto receive_for = [&](ScriptedHart& h) {
    const base::AccessSiteScope by({&name, 0, 0, load.begin()});
    return receive(b, h);
  };
  b.run([&](ScriptedHart& h) {
    set(b, h, PIO_CONTROL, PIO_CONTROL_LOOPBACK);
    reg(b, h, PIO_COUNTER);
    base::Time before = h.time();
    reg(b, h, PIO_COUNTER);
    const base::Time round_trip = h.time() - before;  // with kRead
    before = h.time();
    CHECK(receive_for(h) == 0);
    CHECK(held(h) == 5_us);
    CHECK(h.time() - before == round_trip + 5_us);
    const base::Time from = load.held_back(h.time()).first;
    CHECK(from > before + kRead);
    CHECK(from < before + round_trip);
    // A frame that is there already.
    send(b, h, 64, 1);
    h.pause(5_us);
    CHECK((receive_for(h) & PIO_WORD_VALID) == 1);
    CHECK(held(h) == 0_ns);
    load.end();
    CHECK(held(h) == 0_ns);
  });
}

TEST_CASE("a receive is held back until a frame comes, or for the block time", "[pio]") {
  Bench b(parameters(5_us));
  std::vector<base::Time> took;
  b.run([&](ScriptedHart& h) {
    set(b, h, PIO_CONTROL, PIO_CONTROL_LOOPBACK);
    reg(b, h, PIO_COUNTER);
    base::Time before = h.time();
    reg(b, h, PIO_COUNTER);
    const base::Time round_trip = h.time() - before;
    before = h.time();
    CHECK(receive(b, h) == 0);
    took.push_back(h.time() - before - round_trip);
    set(b, h, PIO_RX_BLOCK, 0);
    CHECK(reg(b, h, PIO_RX_BLOCK) == 0);  // the write has left the link
    before = h.time();
    CHECK(receive(b, h) == 0);
    took.push_back(h.time() - before - round_trip);
    send(b, h, 64, 1);
    h.pause(3_us);
    before = h.time();
    require_frame(b, h, receive(b, h), 64, 1);
    CHECK(receive(b, h) == 0);  // it has been given
  });
  REQUIRE(took.size() == 2);
  CHECK(took[0] == 5_us);
  CHECK(took[1] == 0_ns);
}

TEST_CASE("frames that the host has not given back keep their buffers", "[pio]") {
  Bench b(parameters(10_us));
  b.run([&](ScriptedHart& h) {
    set(b, h, PIO_CONTROL, PIO_CONTROL_LOOPBACK);
    std::vector<std::uint64_t> given;
    for (unsigned n = 0; n < 4; ++n) {
      send(b, h, 9600, n);
      given.push_back(receive(b, h));
    }
    send(b, h, 9600, 4);
    CHECK(receive(b, h) == 0);
    CHECK(counter(b, PIO_RX_DROPPED) == 1);
    for (unsigned n = 0; n < 4; ++n) require_frame(b, h, given[n], 9600, n);
    set(b, h, PIO_HOST_RX_NEXT_ACK, word(0, offset(given[1])));
    send(b, h, 9600, 9);
    const std::uint64_t again = receive(b, h);
    CHECK(offset(again) == offset(given[1]));
    require_frame(b, h, again, 9600, 9);
    // Giving a frame back twice is a mistake that does nothing.
    set(b, h, PIO_HOST_RX_NEXT_ACK, word(0, offset(given[0])));
    set(b, h, PIO_HOST_RX_NEXT_ACK, word(0, offset(given[0])));
    set(b, h, PIO_HOST_RX_NEXT_ACK, word(0, 0x1234'5678));
    send(b, h, 9600, 10);
    require_frame(b, h, receive(b, h), 9600, 10);
  });
}

TEST_CASE("commits of what cannot be sent are counted, and nothing is sent", "[pio]") {
  Bench b(parameters(10_us));
  b.run([&](ScriptedHart& h) {
    set(b, h, PIO_CONTROL, PIO_CONTROL_LOOPBACK);
    const std::uint64_t buffer = offset(reg(b, h, PIO_HOST_TX));
    set(b, h, PIO_HOST_TX_ACK, word(0, buffer));
    set(b, h, PIO_HOST_TX_ACK, word(9619, buffer));
    set(b, h, PIO_HOST_TX_ACK, word(64, buffer + 64));
    CHECK(receive(b, h) == 0);
    CHECK(counter(b, PIO_TX_ERRORS) == 3);
    send(b, h, 9600, 1);
    set(b, h, PIO_HOST_TX_ACK, word(64, buffer));  // the frame is still in the buffer: 32 ns and 150 beats of 4 ns
    CHECK(reg(b, h, PIO_HOST_TX) == 0);
    h.pause(1_us);
    CHECK((reg(b, h, PIO_HOST_TX) & PIO_WORD_VALID) == 1);
    require_frame(b, h, receive(b, h), 9600, 1);
    CHECK(receive(b, h) == 0);
    CHECK(counter(b, PIO_TX_ERRORS) == 4);
  });
}

TEST_CASE("reads of other places, and of other widths, are unsupported requests", "[pio]") {
  Bench b(parameters());
  b.run([&](ScriptedHart& h) {
    CHECK(h.read(b.bar + PIO_HOST_RX_NEXT, 4) == 0xffff'ffff);
    CHECK(h.read(b.bar + PIO_HOST_RX_NEXT_ACK, 8) == ~std::uint64_t{0});
    CHECK(h.read(b.bar + 0x8000, 8) == ~std::uint64_t{0});
    CHECK(h.read(b.bar + PIO_PACKET_BUFFER + 65536 + 9664, 8) == ~std::uint64_t{0});
    CHECK(h.read(b.bar + PIO_PACKET_BUFFER + 65536 + 9656, 8) == 0);
    h.write(b.bar + PIO_PACKET_BUFFER + 65536 + 9664, 1, 8);
  });
}

TEST_CASE("a read waits in the NIC, and stamps follow from the stages", "[pio]") {
  nic::PciePioParameters slow = parameters();
  slow.read = 300_ns;
  base::Time took[2];
  for (const bool is_slow : {false, true}) {
    Bench b(is_slow ? slow : parameters());
    b.run([&](ScriptedHart& h) {
      const base::Time before = h.time();
      reg(b, h, PIO_COUNTER);
      took[is_slow] = h.time() - before;
      set(b, h, PIO_CONTROL, PIO_CONTROL_LOOPBACK);
      send(b, h, 640, 1);
      receive(b, h);
      const auto stamp = [&](std::uint64_t at) { return counter(b, at) * 4; };
      CHECK(stamp(PIO_TX_DMA_READ) - stamp(PIO_TX_COMMIT) == 32 + 10 * 4);
      CHECK(stamp(PIO_TX_EXIT) - stamp(PIO_TX_DMA_READ) == 36 + 10 * 4);
      CHECK(stamp(PIO_RX_QUEUE) - stamp(PIO_RX_ENTRY) == 36 + 10 * 4);
      CHECK(stamp(PIO_RX_DMA_WRITE) - stamp(PIO_RX_QUEUE) == 16);
      CHECK(stamp(PIO_RX_READ) == std::max(stamp(PIO_RX_READ_START), stamp(PIO_RX_DMA_WRITE)));
    });
  }
  CHECK(took[1] - took[0] == 300_ns);
}

TEST_CASE("a reset forgets frames, and answers nothing that was held back", "[pio]") {
  Bench b(parameters(20_us));
  b.run([&](ScriptedHart& h) {
    set(b, h, PIO_CONTROL, PIO_CONTROL_LOOPBACK);
    send(b, h, 64, 1);
    receive(b, h);
    send(b, h, 64, 2);
    b.device.reset();
  });
  b.run([&](ScriptedHart& h) {
    Enumerator(h, b.root_parameters).scan(0);
    set(b, h, PIO_CONTROL, PIO_CONTROL_LOOPBACK);
    set(b, h, PIO_RX_BLOCK, 0);
    CHECK(receive(b, h) == 0);
    set(b, h, PIO_RX_BLOCK, 1000);
    send(b, h, 64, 3);
    const std::uint64_t w = receive(b, h);
    CHECK(offset(w) == 0);
    require_frame(b, h, w, 64, 3);
  });
}
