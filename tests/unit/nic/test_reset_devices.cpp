// SPDX-License-Identifier: Apache-2.0
/// Resets of what is behind PCIe: after one, every register is as in a device that has just been built.

#include <functional>
#include <memory>

#include <catch2/catch.hpp>

#include "models/accel/dma_requester/dma_requester.h"
#include "models/nic/descriptor/descriptor_nic.h"
#include "tests/unit/all_registers.h"
#include "tests/unit/fresh_kernel.h"
#include "tests/unit/irq/register_access.h"
#include "tests/unit/nic/nic_descriptor_bench.h"

using namespace sluice;
using namespace sluice::test;

namespace {

/// A device whose configuration space a test writes as software would.
template <class D>
struct Open : D {
  using D::config;
  using D::D;
};

/// A device, alone.
struct Alone {
  std::unique_ptr<net::Wire> wire;
  std::unique_ptr<base::Model> device;
  pcie::ConfigSpace* config;
};

Alone dma_requester() {
  auto d = std::make_unique<Open<accel::DmaRequester>>("accel__a", accel::DmaRequesterParameters{}, base::RandomSeed{});
  pcie::ConfigSpace& config = d->config();
  return {nullptr, std::move(d), &config};
}

Alone descriptor_nic() {
  auto wire = std::make_unique<net::Wire>("net__wire0", net::Wire::Parameters{});
  nic::DescriptorParameters p;
  p.queues = 2;
  auto d = std::make_unique<Open<nic::DescriptorNic>>("nic__eth0", p, *wire, net::Wire::kB);
  pcie::ConfigSpace& config = d->config();
  return {std::move(wire), std::move(d), &config};
}

std::string registers_of(const Alone& a) {
  std::string all = all_registers();
  for (unsigned reg = 0; reg < pcie::ConfigSpace::kBytes; reg += 4)
    all += fmt::format("config {:#x} {:#x}\n", reg, a.config->read(reg));
  return all;
}

/// A value that software writes and the register keeps.
struct Kept {
  std::uint64_t offset;
  std::uint64_t value;
  unsigned size = 4;
};

struct Case {
  const char* name;
  Alone (*build)();
  std::vector<Kept> writes;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"DMA requester",
       dma_requester,
       {{DMAR_OPERATION, DMAR_WRITE},
        {DMAR_PATTERN, DMAR_RANDOM},
        {DMAR_INTERFACE, DMAR_DIRECT},
        {DMAR_LABEL, 7},
        {DMAR_WINDOW, 0x8000'0000, 8},
        {DMAR_WINDOW_SIZE, 65536, 8},
        {DMAR_SIZE, 64},
        {DMAR_UNIT, 128},
        {DMAR_OFFSET, 4},
        {DMAR_OUTSTANDING, 9},
        {DMAR_WARMUP, 10},
        {DMAR_COUNT, 11},
        {DMAR_RECORD, 0x8000'1000, 8}}},
      {"descriptor NIC",
       descriptor_nic,
       {{DESC_CONTROL, DESC_CONTROL_RX_ENABLE | DESC_CONTROL_TX_ENABLE | DESC_CONTROL_PROMISCUOUS},
        {DESC_MAC_LOW, 0x12345678},
        {DESC_MAC_HIGH, 0x9abc},
        {DESC_MAX_FRAME, 9000},
        {DESC_LINK_INTERRUPT, DESC_CAUSE_ENABLE | 1},
        {DESC_RSS_CONTROL, DESC_RSS_CONTROL_IPV4},
        {DESC_RSS_KEY(12), 0x11111111},
        {DESC_RSS_TABLE(31), 0x01000100},
        {DESC_VECTOR_CONTROL(2), DESC_VECTOR_ENABLE | DESC_VECTOR_AUTO_MASK},
        {DESC_VECTOR_MODERATION(1), 50},
        {DESC_QUEUE(1) + DESC_RX_BASE_LOW, 0x80001000},
        {DESC_QUEUE(1) + DESC_RX_BASE_HIGH, 3},
        {DESC_QUEUE(1) + DESC_RX_LENGTH, 64},
        {DESC_QUEUE(1) + DESC_RX_BUFFER, 1024},
        {DESC_QUEUE(1) + DESC_RX_INTERRUPT, DESC_CAUSE_ENABLE | 2},
        {DESC_QUEUE(1) + DESC_RX_CONTROL, DESC_RING_ENABLE | DESC_RING_ACTIVE},
        {DESC_QUEUE(0) + DESC_TX_BASE_LOW, 0x80002000},
        {DESC_QUEUE(0) + DESC_TX_BASE_HIGH, 4},
        {DESC_QUEUE(0) + DESC_TX_LENGTH, 96},
        {DESC_QUEUE(0) + DESC_TX_INTERRUPT, DESC_CAUSE_ENABLE | 1},
        {DESC_QUEUE(0) + DESC_TX_CONTROL, DESC_RING_ENABLE | DESC_RING_ACTIVE}}},
  };
  return all;
}

}  // namespace

TEST_CASE("after a reset every PCIe device is as after construction", "[reset]") {
  for (const Case& c : cases()) {
    CAPTURE(c.name);
    std::string fresh;
    {
      fresh_kernel();
      fresh = registers_of(c.build());
    }
    fresh_kernel();
    const Alone a = c.build();
    base::RegisterBank& bank = *base::register_banks().back();
    for (unsigned reg = 0; reg < pcie::ConfigSpace::kBytes; reg += 4) a.config->write(reg, ~0u, 0xf);
    write_everywhere(~std::uint64_t{0});
    for (const Kept& w : c.writes) {
      CAPTURE(w.offset);
      write(bank, w.offset, w.value, w.size);
      CHECK(read(bank, w.offset, w.size) == w.value);
    }
    dynamic_cast<base::Resettable&>(*a.device).reset();
    CHECK(registers_of(a) == fresh);
  }
}

TEST_CASE("a reset brings a MAC back to Ethernet's longest frame", "[reset]") {
  struct Client : net::Mac::Client {
    void mac_received(net::PacketPtr, base::Time) override { ++received; }
    void mac_dropped(Drop) override { ++dropped; }
    void link_changed(bool) override {}
    unsigned received = 0, dropped = 0;
  } client;
  fresh_kernel();
  net::Wire wire("net__wire0", {});
  net::Mac mac("nic__eth0__mac", {}, wire, net::Wire::kB);
  mac.set_client(client);
  const std::vector<std::uint8_t> frame(1514);
  const auto arrive = [&] { mac.frame_arrived(net::make_packet(frame.data(), frame.size())); };
  mac.set_max_frame(64);
  arrive();
  CHECK(client.dropped == 1);
  static_cast<base::Resettable&>(mac).reset();
  arrive();
  CHECK(client.received == 1);
}

TEST_CASE("after a reset the NIC's queues take turns as after construction", "[reset]") {
  fresh_kernel();
  nic::DescriptorParameters p;
  p.queues = 2;
  NicBench b(p);
  std::vector<unsigned> order;
  b.station.on_frame = [&](const net::Packet& packet) { order.push_back(packet.bytes[35]); };
  // send({0, 1}) shows which of two waiting frames goes first; send({1}) moves the turn away from where it starts.
  const auto send = [&](const std::vector<unsigned>& queues) {
    b.write(DESC_CONTROL, 0);
    std::vector<NicBench::TxRing> rings;
    for (unsigned q = 0; q < 2; ++q) rings.push_back(b.transmit_ring(q, 64));
    for (const unsigned q : queues) {
      b.put(rings[q], udp_frame(18, static_cast<std::uint16_t>(q)));
      b.doorbell(rings[q]);
    }
    b.wait(10_us);
    b.on();
    b.wait(10_us);
  };
  b.run([&] {
    send({0, 1});
    const std::vector<unsigned> first = order;
    for (const bool board : {false, true}) {
      if (board) {
        static_cast<base::Resettable&>(b.nic).reset();
        b.enumerate();
      }
      b.write(DESC_CONTROL, DESC_CONTROL_RESET);
      b.read(DESC_CONTROL);
      send({1});
      b.write(DESC_CONTROL, DESC_CONTROL_RESET);
      b.read(DESC_CONTROL);
      order.clear();
      send({0, 1});
      CHECK(order == first);
    }
  });
}

TEST_CASE("a debugger's look at the NIC's counters keeps nothing for their high halves", "[reset]") {
  fresh_kernel();
  const Alone a = descriptor_nic();
  base::RegisterBank& bank = *base::register_banks().back();
  CHECK(read(bank, DESC_TIME_LOW) == 0);
  base::calendar().set_now(base::Time::s(5));
  CHECK(look("nic.eth0")["time_low"] == 5'000'000'000 % (std::uint64_t{1} << 32));
  CHECK(read(bank, DESC_TIME_HIGH) == 0);  // as of the last read of the low half
  CHECK(read(bank, DESC_TIME_LOW) == 5'000'000'000 % (std::uint64_t{1} << 32));
  CHECK(read(bank, DESC_TIME_HIGH) == 1);
}
