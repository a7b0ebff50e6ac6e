// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A descriptor NIC between a real PCIe hierarchy and a wire: a host program in C++ drives it as a driver would.

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <tlm_utils/simple_initiator_socket.h>

#include "models/base/systemc/scheduler.h"
#include "models/nic/descriptor/descriptor_nic.h"
#include "models/pcie/root/root_complex.h"

namespace sluice::test {

using namespace base::literals;
using net::Wire;

/// Runs one program on a hart of its own.
class HostThread : public sc_core::sc_module {
 public:
  HostThread(sc_core::sc_module_name name, base::Scheduler& s) : sc_module(name), runner(s, "host") {
    SC_HAS_PROCESS(HostThread);
    SC_THREAD(run);
    set_stack_size(1 << 20);
  }
  tlm_utils::simple_initiator_socket<HostThread> socket;
  base::Runner runner;
  std::function<void()> program;

  /// Lets everything up to the hart's time happen.
  void settle() {
    while (runner.time() >= runner.bound()) runner.yield();
    base::calendar().set_now(runner.time());
  }
  void spend(base::Time t) {
    runner.advance_to(runner.time() + t);
    settle();
  }
  bool access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes) {
    settle();
    tlm::tlm_generic_payload trans;
    trans.set_command(command);
    trans.set_address(address);
    trans.set_data_ptr(static_cast<std::uint8_t*>(data));
    trans.set_data_length(bytes);
    trans.set_streaming_width(bytes);
    sc_core::sc_time delay;
    socket->b_transport(trans, delay);
    settle();
    spend(1_ns);
    return trans.is_response_ok();
  }

 private:
  void run() {
    runner.begin();
    program();
    for (;;) {
      base::Scheduler::instance().stop();
      runner.yield();
    }
  }
};

/// Memory with fixed latencies.
struct FlatMemory : base::MemoryPath {
  explicit FlatMemory(base::GuestRam& r) : ram(r) {}
  base::GuestRam* ram_at(std::uint64_t a, std::uint64_t n) override { return ram.contains(a, n) ? &ram : nullptr; }
  base::Time read_latency(std::uint64_t, std::uint64_t) override { return read; }
  base::Time write_latency(std::uint64_t, std::uint64_t) override { return write; }
  base::GuestRam& ram;
  base::Time read = 20_ns;
  base::Time write = 10_ns;
};

/// The other end of the wire.
struct Station : Wire::Client {
  void frame_arrived(net::PacketPtr p) override {
    times.push_back(base::now());
    if (on_frame) on_frame(*p);
    if (keep) frames.push_back(std::move(p));
  }
  std::vector<net::PacketPtr> frames;
  std::vector<base::Time> times;
  std::function<void(const net::Packet&)> on_frame;
  bool keep = true;
};

/// Takes MSIs, and records what was written and when.
struct Interrupts : pcie::SocWriter {
  bool write(std::uint64_t address, const void* data, unsigned size) override {
    if (address < 0x2800'0000 || address >= 0x2900'0000 || size != 4) return false;
    std::uint32_t v;
    std::memcpy(&v, data, 4);
    seen.emplace_back(v, base::now());
    if (on_message) on_message();
    return true;
  }
  std::string name_at(std::uint64_t) const override { return {}; }
  std::function<void()> on_message;
  std::vector<std::pair<std::uint32_t, base::Time>> seen;
};

class NicBench {
 public:
  static constexpr std::uint64_t kRam = 0x8000'0000;
  static constexpr std::uint64_t kBar0 = 0x40'0000'0000;
  static constexpr std::uint64_t kBar2 = kBar0 + DESC_BAR0_SIZE;

  explicit NicBench(const nic::DescriptorParameters& p = {}, const pcie::Link::Parameters& slot = {})
      : link("pcie__slot0", slot), nic("nic__eth0", p, wire, Wire::kB) {
    link.connect(rc.root_port(0), nic.port());
    rc.set_soc_writer(&interrupts);
    host.socket.bind(rc.socket);
    wire.attach(Wire::kA, station);
  }

  /// Runs a program with the function enumerated, bus mastering on.
  void run(std::function<void()> program) {
    bool finished = false;
    host.program = [this, &finished, p = std::move(program)] {
      enumerate();
      p();
      finished = true;
    };
    scheduler.run_until(base::Time::ms(20));
    CHECK(finished);
    CHECK(base::calendar().late() == 0);
    CHECK(base::ledger().error().empty());
    CHECK(base::describe_waits() == "");
  }

  // ------------------------------------------------------------------------------------------- what programs do

  std::uint32_t read(std::uint64_t offset) {
    std::uint32_t v = 0;
    host.access(tlm::TLM_READ_COMMAND, kBar0 + offset, &v, 4);
    return v;
  }
  void write(std::uint64_t offset, std::uint32_t v) { host.access(tlm::TLM_WRITE_COMMAND, kBar0 + offset, &v, 4); }
  void config_write(unsigned bus, unsigned device, unsigned reg, std::uint32_t v, unsigned bytes = 4) {
    host.access(tlm::TLM_WRITE_COMMAND, rc.parameters().ecam_base + PCIE_ECAM_OFFSET(bus, device, 0, reg), &v, bytes);
  }
  std::uint32_t config_read(unsigned bus, unsigned device, unsigned reg) {
    std::uint32_t v = 0;
    host.access(tlm::TLM_READ_COMMAND, rc.parameters().ecam_base + PCIE_ECAM_OFFSET(bus, device, 0, reg), &v, 4);
    return v;
  }
  void wait(base::Time t) { host.spend(t); }
  std::uint32_t stat(unsigned n) { return read(DESC_STAT_LOW(n)); }

  void enumerate() {
    config_write(0, 1, PCIE_PRIMARY_BUS, 0x00'01'01'00);
    const std::uint32_t window = kBar0 >> 16 & 0xfff0;
    config_write(0, 1, PCIE_PREFETCHABLE_BASE, (window + 0x10) << 16 | window);
    config_write(0, 1, PCIE_PREFETCHABLE_BASE_UPPER, kBar0 >> 32);
    config_write(0, 1, PCIE_PREFETCHABLE_LIMIT_UPPER, kBar0 >> 32);
    config_write(0, 1, PCIE_COMMAND, PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER, 2);
    config_write(1, 0, PCIE_BAR(0), static_cast<std::uint32_t>(kBar0));
    config_write(1, 0, PCIE_BAR(1), kBar0 >> 32);
    config_write(1, 0, PCIE_BAR(2), static_cast<std::uint32_t>(kBar2));
    config_write(1, 0, PCIE_BAR(3), kBar2 >> 32);
    bus_master(true);
  }
  void bus_master(bool on) {
    config_write(1, 0, PCIE_COMMAND, PCIE_COMMAND_MEMORY | (on ? PCIE_COMMAND_BUS_MASTER : 0), 2);
  }
  /// MSI-X on; vector v writes 0x100 + v.
  void enable_msix(unsigned vectors) {
    for (unsigned v = 0; v < vectors; ++v) {
      const std::uint32_t entry[4] = {0x2800'0000, 0, 0x100 + v, 0};
      for (unsigned i = 0; i < 4; ++i) {
        std::uint32_t word = entry[i];
        host.access(tlm::TLM_WRITE_COMMAND, kBar2 + 16 * v + 4 * i, &word, 4);
      }
    }
    unsigned at = config_read(1, 0, PCIE_CAPABILITIES_POINTER) & 0xff;
    while (at && (config_read(1, 0, at) & 0xff) != PCIE_CAPABILITY_ID_MSIX) at = config_read(1, 0, at) >> 8 & 0xff;
    REQUIRE(at != 0);
    config_write(1, 0, at + PCIE_MSIX_CONTROL, PCIE_MSIX_CONTROL_ENABLE, 2);
  }

  struct RxRing {
    unsigned queue = 0;
    std::uint64_t base = 0;
    std::uint64_t buffers = 0;
    std::uint32_t length = 0;
    std::uint32_t next = 0;  ///< descriptor to look at
    std::uint32_t tail = 0;
  };
  struct TxRing {
    unsigned queue = 0;
    std::uint64_t base = 0;
    std::uint64_t buffers = 0;
    std::uint32_t length = 0;
    std::uint32_t tail = 0;
  };
  static constexpr std::uint32_t kBuffer = 2048;

  /// A ring with a buffer for every descriptor, of which `give` are given to the NIC.
  RxRing receive_ring(unsigned q, std::uint32_t length, std::uint32_t give, std::uint32_t cause = 0) {
    RxRing r{q, kRam + 0x10'0000 + q * 0x20'000, kRam + 0x100'0000 + std::uint64_t{q} * 0x80'0000, length, 0, 0};
    write(DESC_QUEUE(q) + DESC_RX_BASE_LOW, static_cast<std::uint32_t>(r.base));
    write(DESC_QUEUE(q) + DESC_RX_BASE_HIGH, static_cast<std::uint32_t>(r.base >> 32));
    write(DESC_QUEUE(q) + DESC_RX_LENGTH, length);
    write(DESC_QUEUE(q) + DESC_RX_INTERRUPT, cause);
    write(DESC_QUEUE(q) + DESC_RX_CONTROL, DESC_RING_ENABLE);
    for (std::uint32_t i = 0; i < length; ++i) post(r);
    r.tail = give;
    write(DESC_QUEUE(q) + DESC_RX_TAIL, r.tail);
    read(DESC_QUEUE(q) + DESC_RX_TAIL);  // when it returns, the NIC has seen all this
    return r;
  }
  void post(RxRing& r) {
    const desc_rx_read d = {r.buffers + r.tail * kBuffer, 0, {}};
    ram.write(r.base + r.tail * sizeof d, &d, sizeof d);
    r.tail = (r.tail + 1) % r.length;
  }
  void doorbell(const RxRing& r) { write(DESC_QUEUE(r.queue) + DESC_RX_TAIL, r.tail); }
  desc_rx_writeback report(const RxRing& r, std::uint32_t i) const {
    desc_rx_writeback w;
    ram.read(r.base + i * sizeof w, &w, sizeof w);
    return w;
  }
  bool done(const RxRing& r, std::uint32_t i) const { return report(r, i).status & DESC_RX_DD; }
  std::vector<std::uint8_t> received(const RxRing& r, std::uint32_t i) const {
    std::vector<std::uint8_t> f(report(r, i).packet_length);
    ram.read(r.buffers + i * kBuffer, f.data(), f.size());
    return f;
  }
  /// Polls for the next frame and returns its descriptor's number.
  std::uint32_t next_frame(RxRing& r, base::Time step = 20_ns) {
    while (!done(r, r.next)) wait(step);
    const std::uint32_t i = r.next;
    r.next = (r.next + 1) % r.length;
    return i;
  }

  TxRing transmit_ring(unsigned q, std::uint32_t length, std::uint32_t cause = 0) {
    TxRing r{q, kRam + 0x20'0000 + q * 0x10'000, kRam + 0x300'0000 + std::uint64_t{q} * 0x80'0000, length, 0};
    write(DESC_QUEUE(q) + DESC_TX_BASE_LOW, static_cast<std::uint32_t>(r.base));
    write(DESC_QUEUE(q) + DESC_TX_BASE_HIGH, static_cast<std::uint32_t>(r.base >> 32));
    write(DESC_QUEUE(q) + DESC_TX_LENGTH, length);
    write(DESC_QUEUE(q) + DESC_TX_INTERRUPT, cause);
    write(DESC_QUEUE(q) + DESC_TX_CONTROL, DESC_RING_ENABLE);
    return r;
  }
  std::uint32_t put(TxRing& r, std::uint64_t address, std::uint64_t size, std::uint64_t flags) {
    const desc_tx d = {address, size << DESC_TX_SIZE_SHIFT | flags};
    ram.write(r.base + r.tail * sizeof d, &d, sizeof d);
    const std::uint32_t i = r.tail;
    r.tail = (r.tail + 1) % r.length;
    return i;
  }
  /// A frame in one piece, EOP and RS.
  std::uint32_t put(TxRing& r, const std::vector<std::uint8_t>& frame, std::uint64_t flags = 0) {
    const std::uint64_t buffer = r.buffers + r.tail * kBuffer;
    ram.write(buffer, frame.data(), frame.size());
    return put(r, buffer, frame.size(), DESC_TX_EOP | DESC_TX_RS | flags);
  }
  void doorbell(const TxRing& r) { write(DESC_QUEUE(r.queue) + DESC_TX_TAIL, r.tail); }
  bool done(const TxRing& r, std::uint32_t i) const {
    desc_tx d;
    ram.read(r.base + i * sizeof d, &d, sizeof d);
    return (d.command & DESC_TX_TYPE) == DESC_TX_TYPE_DONE;
  }
  /// Enables both directions; when it returns, the NIC has seen it.
  void on(std::uint32_t more = 0) {
    write(DESC_CONTROL, DESC_CONTROL_RX_ENABLE | DESC_CONTROL_TX_ENABLE | more);
    read(DESC_CONTROL);
  }

  /// A frame from the station at now(); opens a request for it. Returns the request.
  base::RequestId send(const std::vector<std::uint8_t>& bytes, bool corrupted = false) {
    net::PacketPtr p = net::make_packet(bytes.data(), bytes.size());
    p->corrupted = corrupted;
    const base::RequestId id = base::ledger().open(SLUICE_STAGE_wire, wire.component(), wire.next_start(Wire::kA));
    p->spans = {0, p->length, id};
    wire.send(Wire::kA, std::move(p));
    return id;
  }

  base::Scheduler scheduler{"scheduler", 1_us};
  base::GuestRam ram{kRam, 128 << 20};
  FlatMemory memory{ram};
  pcie::RootComplex rc{"pcie__root0", {}, memory};
  pcie::Link link;
  Interrupts interrupts;
  Wire wire{"net__wire0", {100_Gbps, 10_ns}};
  nic::DescriptorNic nic;
  HostThread host{"host", scheduler};
  Station station;
};

/// A frame of Ethernet, IPv4 and UDP to the NIC's address, with right checksums; ports and `host` are RSS's input.
inline std::vector<std::uint8_t> udp_frame(unsigned payload, std::uint16_t source_port = 1000,
                                           std::uint16_t destination_port = 111, std::uint8_t host = 9) {
  std::vector<std::uint8_t> f(42 + payload);
  const std::uint8_t ethernet[] = {0x02, 0x53, 0x4c, 0, 0, 1, 0x02, 0x53, 0x4c, 0, 0, host, 8, 0};
  std::copy(std::begin(ethernet), std::end(ethernet), f.begin());
  const unsigned total = 28 + payload;
  const std::uint8_t ip[] = {0x45,
                             0,
                             static_cast<std::uint8_t>(total >> 8),
                             static_cast<std::uint8_t>(total),
                             0,
                             0,
                             0x40,
                             0,
                             64,
                             17,
                             0,
                             0,
                             10,
                             0,
                             0,
                             host,
                             10,
                             0,
                             0,
                             1};
  std::copy(std::begin(ip), std::end(ip), f.begin() + 14);
  const unsigned length = 8 + payload;
  const std::uint8_t udp[] = {static_cast<std::uint8_t>(source_port >> 8),
                              static_cast<std::uint8_t>(source_port),
                              static_cast<std::uint8_t>(destination_port >> 8),
                              static_cast<std::uint8_t>(destination_port),
                              static_cast<std::uint8_t>(length >> 8),
                              static_cast<std::uint8_t>(length),
                              0,
                              0};
  std::copy(std::begin(udp), std::end(udp), f.begin() + 34);
  for (unsigned i = 0; i < payload; ++i) f[42 + i] = static_cast<std::uint8_t>(i * 13 + source_port);
  net::insert_ipv4_checksum(f.data(), f.size(), 14, 20);
  net::insert_udp_checksum(f.data(), f.size(), 14, 20);
  return f;
}

}  // namespace sluice::test
