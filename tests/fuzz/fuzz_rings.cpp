// SPDX-License-Identifier: Apache-2.0
/// A driver that does everything wrong: rings, descriptors, doorbells, registers and resets of the descriptor NIC in
/// any order, behind a real root complex. After each sequence all credits, tags, packets and buffers are back, and
/// after a function reset the NIC receives and sends again.

#include <algorithm>

#include <fmt/format.h>

#include "models/nic/descriptor/descriptor_nic.h"
#include "tests/fuzz/frames.h"
#include "tests/unit/pcie/pcie_bench.h"

namespace sluice::fuzz {
namespace {

constexpr std::uint64_t kBar0 = 0x40'0000'0000;
constexpr std::uint64_t kBar2 = kBar0 + DESC_BAR0_SIZE;
constexpr unsigned kQueues = 4;
constexpr std::uint64_t kRam = FlatMemory::kBase;
constexpr std::uint64_t kRamSize = 16u << 20;

// Few of everything, so that what does not come back is missed.
pcie::Link::Parameters link_parameters() {
  pcie::Link::Parameters p;
  p.posted_headers = 8;
  p.posted_data = 64;
  p.non_posted_headers = 4;
  p.non_posted_data = 4;
  p.completion_headers = 8;
  p.completion_data = 64;
  return p;
}
nic::DescriptorParameters nic_parameters() {
  nic::DescriptorParameters p;
  p.queues = kQueues;
  p.pcie.tags = 8;
  p.pcie.completion_timeout = 1_ms;
  return p;
}
pcie::RootComplex::Parameters root_parameters() {
  pcie::RootComplex::Parameters p;
  p.completion_timeout = 1_ms;
  p.core_reads = 2;
  return p;
}

struct Nic : nic::DescriptorNic {
  using DescriptorNic::DescriptorNic;
  using Endpoint::reads_in_flight;
  using Endpoint::writes_queued;
};

struct Station : net::Wire::Client {
  void frame_arrived(net::PacketPtr p) override {
    ++frames;
    last.assign(p->bytes, p->bytes + p->length);
  }
  std::uint64_t frames = 0;
  Bytes last;
};

class Bench {
 public:
  Bench() {
    hart.socket.bind(root.socket);
    root.set_soc_writer(&soc);
    link.connect(root.root_port(0), nic.port());
    wire.attach(net::Wire::kA, station);
    for (auto* d : {&link.up(), &link.down()})
      for (unsigned c = 0; c < pcie::kTlpClasses; ++c)
        advertised.push_back(d->available(static_cast<pcie::TlpClass>(c)));
    run([this](ScriptedHart& h) {
      enumerate(h);
      for (unsigned at = config_read(h, PCIE_CAPABILITIES_POINTER) & 0xff; at != 0;
           at = config_read(h, at) >> 8 & 0xff) {
        const unsigned id = config_read(h, at) & 0xff;
        if (id == PCIE_CAPABILITY_ID_EXPRESS) express = at;
        if (id == PCIE_CAPABILITY_ID_MSIX) msix = at;
      }
    });
    require(express != 0 && msix != 0, "the NIC has no capabilities");
  }

  void sequence(Decisions d) {
    run([this, &d](ScriptedHart& h) {
      set_up_ring(h, d);
      for (unsigned i = 0; i < 256 && !d.empty(); ++i) step(h, d);
    });
    check_all_back("after a sequence");
    wire.set_up(true);
    run([this](ScriptedHart& h) { works_after_reset(h); });
    check_all_back("after a reset");
    require(net::PacketPool::instance().taken() == 0, "a frame is kept");
    soc.messages.clear();
    // Requests of frames in memory wait for software, of which there is none.
    for (const base::RequestId id : requests) base::ledger().drop(id, "the sequence is over", base::now());
    requests.clear();
    require(base::ledger().in_flight() == 0, "a request is open");
  }

  std::uint64_t rings = 0, doorbells = 0, frames_in = 0, resets = 0, accesses = 0;
  Station station;

 private:
  void run(ScriptedHart::Script script) {
    bool finished = false;
    hart.start([&](ScriptedHart& h) {
      script(h);
      finished = true;
    });
    scheduler.run_until(base::Time::max());
    // This entry takes now() on by 100 us, when credits on their way have come back.
    base::calendar().after(100_us, base::path_key("drained"), [] {});
    scheduler.run_until(base::Time::max());
    if (!finished) fail("a driver waits for ever\n" + base::describe_waits());
  }

  void check_all_back(const char* when) {
    const auto check = [when](bool good, const char* what) {
      if (!good) fail(fmt::format("{} {}", what, when));
    };
    check(nic.reads_in_flight() == 0, "DMA reads are in flight");
    check(nic.writes_queued() == 0, "DMA writes wait");
    std::size_t n = 0;
    for (auto* d : {&link.up(), &link.down()})
      for (unsigned c = 0; c < pcie::kTlpClasses; ++c, ++n) {
        const auto left = d->available(static_cast<pcie::TlpClass>(c));
        check(left.messages == advertised[n].messages && left.data == advertised[n].data, "credits are missing");
        check(d->queued(static_cast<pcie::TlpClass>(c)) == 0, "TLPs wait for credits");
      }
    check(pcie::TlpPool::instance().taken() == 0, "a TLP is kept");
    check(base::calendar().late() == 0, "an entry was made for the past");
    if (!base::ledger().error().empty()) fail(base::ledger().error());
  }

  // ------------------------------------------------------------------------------------------- a driver's means

  std::uint64_t ecam(unsigned bus, unsigned device, unsigned reg) const {
    return root.parameters().ecam_base + PCIE_ECAM_OFFSET(bus, device, 0, reg);
  }
  std::uint32_t config_read(ScriptedHart& h, unsigned reg) {
    return static_cast<std::uint32_t>(h.read(ecam(1, 0, reg), 4));
  }
  void write32(ScriptedHart& h, std::uint64_t offset, std::uint64_t v) { h.write(kBar0 + offset, v, 4); }
  std::uint32_t read32(ScriptedHart& h, std::uint64_t offset) {
    return static_cast<std::uint32_t>(h.read(kBar0 + offset, 4));
  }

  void enumerate(ScriptedHart& h) {
    h.write(ecam(0, 1, PCIE_BRIDGE_CONTROL), 0, 2);
    h.write(ecam(0, 1, PCIE_PRIMARY_BUS), 0x00'01'01'00, 4);
    h.write(ecam(0, 1, PCIE_MEMORY_BASE), 0x0000'fff0, 4);
    const std::uint32_t window = kBar0 >> 16 & 0xfff0;
    h.write(ecam(0, 1, PCIE_PREFETCHABLE_BASE), (window + 0x10) << 16 | window, 4);
    h.write(ecam(0, 1, PCIE_PREFETCHABLE_BASE_UPPER), kBar0 >> 32, 4);
    h.write(ecam(0, 1, PCIE_PREFETCHABLE_LIMIT_UPPER), kBar0 >> 32, 4);
    h.write(ecam(0, 1, PCIE_COMMAND), PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER, 2);
    place_bars(h);
  }
  void place_bars(ScriptedHart& h) {
    h.write(ecam(1, 0, PCIE_BAR(0)), kBar0 & 0xffff'ffff, 4);
    h.write(ecam(1, 0, PCIE_BAR(1)), kBar0 >> 32, 4);
    h.write(ecam(1, 0, PCIE_BAR(2)), kBar2 & 0xffff'ffff, 4);
    h.write(ecam(1, 0, PCIE_BAR(3)), kBar2 >> 32, 4);
    h.write(ecam(1, 0, PCIE_COMMAND), PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER, 2);
  }
  void function_level_reset(ScriptedHart& h) {
    ++resets;
    h.write(ecam(1, 0, express + PCIE_EXPRESS_DEVICE_CONTROL), PCIE_EXPRESS_DEVICE_CONTROL_FLR, 2);
  }

  // ------------------------------------------------------------------------------------------- what it does wrong

  std::uint64_t address(Decisions& d) {
    switch (d.below(16)) {
      case 0:
        return kRam + d.take<std::uint32_t>() % kRamSize;
      case 1:
        return kRam + kRamSize - d.below(4096);
      case 2:
        return kBar0 + d.take<std::uint32_t>() % (DESC_BAR0_SIZE + DESC_BAR2_SIZE + 4096);
      case 3:
        return 0xffff'ffff - d.below(8192);
      case 4:
        return d.take<std::uint64_t>();
      case 5:
        return ring_base + d.below(4096);
      case 6:
        return MessageSink::kAddress;
      case 7:
        return 0 - std::uint64_t{d.take<std::uint16_t>()};
      default:
        return kRam + std::uint64_t{d.take<std::uint16_t>()} * 128;
    }
  }

  std::uint32_t number(Decisions& d) {
    switch (d.below(4)) {
      case 0:
        return d.below(65536);
      case 1:
        return d.take<std::uint32_t>();
      case 2:
        return (1u << d.below(32)) - d.below(2);
      default:
        return d.below(128) * 32;
    }
  }

  std::uint64_t page(Decisions& d, bool transmit) {
    return DESC_QUEUE(d.below(kQueues)) + (transmit ? DESC_TX_BASE_LOW - DESC_RX_BASE_LOW : 0);
  }

  void set_up_ring(ScriptedHart& h, Decisions& d) {
    ++rings;
    const bool transmit = d.chance(128);
    const std::uint64_t at = page(d, transmit);
    const std::uint64_t base = address(d);
    if (d.chance(128)) write32(h, at + DESC_RX_CONTROL, 0);
    write32(h, at + DESC_RX_BASE_LOW, base);
    write32(h, at + DESC_RX_BASE_HIGH, base >> 32);
    const std::uint32_t length = d.chance(192) ? 64 + 32 * d.below(8) : number(d);
    write32(h, at + DESC_RX_LENGTH, length);
    if (!transmit && d.chance(64))
      write32(h, at + DESC_RX_BUFFER, d.chance(128) ? 1024 + 128 * d.below(120) : number(d));
    write32(h, at + DESC_RX_INTERRUPT, d.chance(64) ? number(d) : DESC_CAUSE_ENABLE | d.below(kQueues + 1));
    ring_base = base & ~std::uint64_t{127};
    if (d.chance(224)) write_descriptors(d, transmit, std::min(length, 512u));
    write32(h, at + DESC_RX_CONTROL, DESC_RING_ENABLE);
    if (d.chance(224))
      write32(h, DESC_CONTROL, DESC_CONTROL_RX_ENABLE | DESC_CONTROL_TX_ENABLE | DESC_CONTROL_PROMISCUOUS);
    ring_doorbell(h, d, at, length);
  }

  desc_rx_read receive_descriptor(Decisions& d) { return {address(d), d.chance(16) ? d.take() : 0u, {}}; }

  desc_tx transmit_descriptor(Decisions& d) {
    desc_tx t = {address(d), d.chance(16) ? d.take<std::uint64_t>() : DESC_TX_TYPE_DATA};
    const std::uint64_t size = d.chance(32) ? DESC_TX_SIZE_MAX : d.chance(16) ? 0 : 14 + d.below(1500);
    t.command |= size << DESC_TX_SIZE_SHIFT;
    if (d.chance(192)) t.command |= DESC_TX_EOP;
    if (d.chance(96)) t.command |= DESC_TX_RS;
    if (d.chance(32))
      t.command |= DESC_TX_IPV4_CHECKSUM | DESC_TX_UDP_CHECKSUM |
                   std::uint64_t{d.below(128)} << DESC_TX_MAC_LENGTH_SHIFT |
                   std::uint64_t{d.below(128)} << DESC_TX_IP_LENGTH_SHIFT | 2ull << DESC_TX_L4_LENGTH_SHIFT;
    return t;
  }

  /// A few descriptors, again and again. The ring may lie anywhere: what does not fit the memory is not written.
  template <class D>
  void fill(Decisions& d, std::uint32_t count, D (Bench::*make)(Decisions&)) {
    std::vector<D> few(1 + d.below(6));
    for (D& one : few) one = (this->*make)(d);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t at = ring_base + i * sizeof(D);
      if (memory.ram.contains(at, sizeof(D))) memory.ram.write(at, &few[i % few.size()], sizeof(D));
    }
  }
  void write_descriptors(Decisions& d, bool transmit, std::uint32_t count) {
    if (transmit)
      fill(d, count, &Bench::transmit_descriptor);
    else
      fill(d, count, &Bench::receive_descriptor);
  }

  void ring_doorbell(ScriptedHart& h, Decisions& d, std::uint64_t at, std::uint32_t length) {
    ++doorbells;
    const bool good = d.chance(208) && length != 0;
    write32(h, at + DESC_RX_TAIL, good ? d.below(65536) % length : number(d));
  }

  void access_register(ScriptedHart& h, Decisions& d) {
    ++accesses;
    std::uint64_t offset = 0;
    switch (d.below(6)) {
      case 0:
        offset = d.take<std::uint32_t>() % DESC_BAR0_SIZE;
        break;
      case 1:
        offset = d.below(0x400);
        break;
      case 2:
        offset = DESC_VECTOR_CONTROL(d.below(kQueues + 2)) + 4 * d.below(4);
        break;
      case 3:
        offset = DESC_BAR0_SIZE + d.below(0x100) * 4;  // MSI-X's table
        break;
      default:
        offset = DESC_QUEUE(d.below(kQueues + 1)) + 4 * d.below(80);
    }
    if (!d.chance(32)) offset &= ~std::uint64_t{3};
    static constexpr unsigned kWidths[] = {4, 4, 4, 4, 1, 2, 8, 3, 5, 16, 64};
    const unsigned width = kWidths[d.below(std::size(kWidths))];
    std::uint8_t data[64];
    std::fill(std::begin(data), std::end(data), d.take());
    const std::uint32_t v = number(d);
    std::memcpy(data, &v, 4);
    h.transport(d.chance(160) ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, kBar0 + offset, data, width);
  }

  void configure(ScriptedHart& h, Decisions& d) {
    switch (d.below(10)) {
      case 0:
      case 1:
        return h.write(ecam(1, 0, PCIE_COMMAND), d.below(8), 2);
      case 2:
        return h.write(ecam(0, 1, PCIE_COMMAND), d.below(8), 2);
      case 3:
        return h.write(ecam(1, 0, msix + PCIE_MSIX_CONTROL), d.take<std::uint16_t>(), 2);
      case 4:
        return h.write(ecam(0, 1, PCIE_BRIDGE_CONTROL), d.chance(128) ? PCIE_BRIDGE_CONTROL_RESET : 0, 2);
      case 5:
        return h.write(ecam(1, 0, d.below(64) * 4), number(d), 4);
      case 6:
        return h.write(ecam(d.below(3), d.below(3), d.below(1024) * 4), number(d), 4);
      case 7:
        return function_level_reset(h);
      case 8:
        return h.write(ecam(1, 0, express + PCIE_EXPRESS_DEVICE_CONTROL), d.take<std::uint16_t>() & 0x7fff, 2);
      default:
        return enumerate(h);
    }
  }

  void send_frames(Decisions& d) {
    for (unsigned n = 1 + d.below(16); n != 0; --n) {
      ++frames_in;
      Bytes f = valid_frames()[d.below(static_cast<unsigned>(valid_frames().size()))];
      if (d.chance(32)) f.resize(d.below(9729));
      if (d.chance(32) && f.size() > 16) f[d.below(16)] ^= d.take();
      net::PacketPtr p = net::make_packet(f.data(), f.size());
      p->corrupted = d.chance(8);
      if (d.chance(64)) {
        const auto id = base::ledger().open(SLUICE_STAGE_wire, wire.component(), wire.next_start(net::Wire::kA));
        p->spans = {0, p->length, id};
        requests.push_back(id);
      }
      wire.send(net::Wire::kA, std::move(p));
    }
  }

  void step(ScriptedHart& h, Decisions& d) {
    switch (d.below(16)) {
      case 0:
      case 1:
        return set_up_ring(h, d);
      case 2:
      case 3:
      case 4:
        return ring_doorbell(h, d, page(d, d.chance(128)), 64 + 32 * d.below(8));
      case 5:
      case 6:
      case 7:
        return access_register(h, d);
      case 8:
      case 9:
        return send_frames(d);
      case 10:
        return configure(h, d);
      case 11:
        return write32(h, DESC_CONTROL, d.chance(64) ? std::uint32_t{DESC_CONTROL_RESET} : d.below(16));
      case 12:
        return write_descriptors(d, d.chance(128), 1 + d.below(64));
      case 13:
        return wire.set_up(d.chance(192));
      case 14:
        read32(h, DESC_CONTROL);
        return;
      default:
        return h.pause(base::Time::ns(d.below(65536)));
    }
  }

  // ------------------------------------------------------------------------------------------- a right driver again

  template <class Condition>
  void wait_until(ScriptedHart& h, Condition condition, const char* what) {
    for (unsigned i = 0; i < 200; ++i) {
      if (condition()) return;
      h.pause(500_ns);
    }
    fail(std::string("after a function reset, ") + what);
  }

  void works_after_reset(ScriptedHart& h) {
    enumerate(h);
    function_level_reset(h);
    place_bars(h);
    wait_until(
        h, [&] { return read32(h, DESC_CONTROL) == 0; }, "the NIC does not end its reset");
    require(read32(h, DESC_REVISION) == DESC_REVISION_1, "after a function reset, registers cannot be read");
    receives(h);
    sends(h);
    write32(h, DESC_CONTROL, DESC_CONTROL_RESET);
    wait_until(
        h, [&] { return read32(h, DESC_CONTROL) == 0; }, "the NIC does not end a second reset");
  }

  void start_ring(ScriptedHart& h, std::uint64_t at, std::uint64_t base) {
    write32(h, at + DESC_RX_BASE_LOW, base);
    write32(h, at + DESC_RX_BASE_HIGH, base >> 32);
    write32(h, at + DESC_RX_LENGTH, 64);
    write32(h, at + DESC_RX_CONTROL, DESC_RING_ENABLE);
    write32(h, DESC_CONTROL, DESC_CONTROL_RX_ENABLE | DESC_CONTROL_TX_ENABLE);
  }

  void receives(ScriptedHart& h) {
    constexpr std::uint64_t kRing = kRam + 0x1000, kBuffer = kRam + 0x4000;
    desc_rx_read d = {kBuffer, 0, {}};
    memory.ram.write(kRing, &d, sizeof d);
    start_ring(h, DESC_QUEUE(0), kRing);
    write32(h, DESC_QUEUE(0) + DESC_RX_TAIL, 1);
    read32(h, DESC_CONTROL);
    const Bytes& frame = valid_frames().front();
    wire.send(net::Wire::kA, net::make_packet(frame.data(), frame.size()));
    desc_rx_writeback w{};
    const auto done = [&] {
      memory.ram.read(kRing, &w, sizeof w);
      return (w.status & DESC_RX_DD) != 0;
    };
    wait_until(h, done, "a frame is not received");
    Bytes got(w.packet_length);
    memory.ram.read(kBuffer, got.data(), got.size());
    require(got == frame, "after a function reset, another frame is received");
  }

  void sends(ScriptedHart& h) {
    constexpr std::uint64_t kRing = kRam + 0x2000, kBuffer = kRam + 0x6000;
    Bytes frame = valid_frames()[1];
    memory.ram.write(kBuffer, frame.data(), frame.size());
    const desc_tx d = {kBuffer, DESC_TX_TYPE_DATA | DESC_TX_EOP | DESC_TX_RS | frame.size() << DESC_TX_SIZE_SHIFT};
    memory.ram.write(kRing, &d, sizeof d);
    start_ring(h, DESC_QUEUE(0) + DESC_TX_BASE_LOW, kRing);
    const std::uint64_t before = station.frames;
    write32(h, DESC_QUEUE(0) + DESC_TX_TAIL, 1);
    wait_until(
        h, [&] { return station.frames > before; }, "a frame is not sent");
    require(station.last == frame, "after a function reset, another frame is sent");
  }

  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  MessageSink soc;
  pcie::RootComplex root{"root", root_parameters(), memory};
  ScriptedHart hart{"hart", scheduler};
  pcie::Link link{"pcie__slot0", link_parameters()};
  net::Wire wire{"net__wire0", {base::BitRate(100'000'000'000), 10_ns}};
  Nic nic{"nic__eth0", nic_parameters(), wire, net::Wire::kB};
  std::vector<base::Credits> advertised;
  std::vector<base::RequestId> requests;
  unsigned express = 0, msix = 0;
  std::uint64_t ring_base = kRam;
};

Bench& bench() {
  static Bench& one = *new Bench;
  return one;
}

void mutate(Bytes& input, Random& random) {
  if (random.chance(1, 2)) {
    input = noise(random, 64 + random.below(std::uint64_t{32} << random.below(7)));
    return;
  }
  const Bytes more = noise(random, random.below(256));
  input.insert(input.end(), more.begin(), more.end());
}

void finish() {
  const Bench& b = bench();
  fmt::print("rings: {} rings, {} doorbells, {} frames in, {} out, {} resets, {} register accesses\n", b.rings,
             b.doorbells, b.frames_in, b.station.frames, b.resets, b.accesses);
}

std::vector<Bytes> corpus() {
  Random random({1, 0}, "rings", "corpus");
  std::vector<Bytes> inputs;
  for (unsigned i = 0; i < 8; ++i) inputs.push_back(noise(random, 32u << i / 2));
  return inputs;
}

}  // namespace

const Target target{.name = "rings",
                    .corpus = corpus,
                    .mutate = mutate,
                    .runs = 2'000,
                    .full_runs = 100'000,
                    .longest = 4096,
                    .finish = finish};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sluice::fuzz::bench().sequence({data, size});
  return 0;
}
