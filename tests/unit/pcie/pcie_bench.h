// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A root complex with memory, a hart that runs scripts, and a device whose engines a test drives.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

#include "models/base/memory/memory_path.h"
#include "models/base/systemc/scheduler.h"
#include "models/pcie/endpoint/endpoint.h"
#include "models/pcie/pcie_regs.h"
#include "models/pcie/root/root_complex.h"
#include "models/pcie/switch.h"
#include "tests/unit/fresh_kernel.h"

namespace sluice {

using namespace base::literals;

/// RAM behind fixed latencies.
struct FlatMemory : base::MemoryPath {
  static constexpr std::uint64_t kBase = 0x8000'0000;
  base::GuestRam ram{kBase, 16u << 20};
  base::Time read = 50_ns;
  base::Time write = 30_ns;
  base::GuestRam* ram_at(std::uint64_t a, std::uint64_t n) override { return ram.contains(a, n) ? &ram : nullptr; }
  base::Time read_latency(std::uint64_t, std::uint64_t) override { return read; }
  base::Time write_latency(std::uint64_t, std::uint64_t) override { return write; }
};

/// Time of a device's read and write at the root complex, FlatMemory included.
inline const base::Time kServed = pcie::RootComplex::Parameters{}.read_latency + 50_ns;
inline const base::Time kLanded = pcie::RootComplex::Parameters{}.write_latency + 30_ns;

/// The first 8 bytes, fewer where there are fewer, as a little-endian number.
inline std::uint64_t little_endian(std::span<const std::uint8_t> bytes) {
  std::uint64_t v = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 8; ++i) v |= std::uint64_t{bytes[i]} << 8 * i;
  return v;
}

/// Takes interrupt messages at one address.
struct MessageSink : pcie::SocWriter {
  static constexpr std::uint64_t kAddress = 0x2800'0000;
  struct Message {
    base::Time at;
    std::uint32_t data;
  };
  std::vector<Message> messages;
  bool write(std::uint64_t address, const void* data, unsigned size) override {
    if (address != kAddress || size != 4) return false;
    std::uint32_t v;
    __builtin_memcpy(&v, data, 4);
    messages.push_back({base::now(), v});
    return true;
  }
  std::string name_at(std::uint64_t address) const override { return address == kAddress ? "messages" : ""; }
};

/// A device with 4 KiB of plain registers in BAR 0 and MSI-X in BAR 2.
class TestDevice : public pcie::Endpoint {
 public:
  struct Write {
    std::uint64_t offset;
    std::vector<std::uint8_t> data;
    base::Time at;
    base::Journey journey;
  };
  static constexpr unsigned kVectors = 4;

  static Function function() {
    Function f;
    f.identity = {0x1234, 0x5678, PCIE_CLASS_ETHERNET, 3, 0x1af4, 7};
    f.bars[0] = {pcie::Bar::Kind::kMemory64, true, 4096};
    f.bars[2] = {pcie::Bar::Kind::kMemory32, false, 8192};
    f.msix = {kVectors, 2, 0, 2, 0x1000};
    f.intx = true;
    return f;
  }

  explicit TestDevice(sc_core::sc_module_name name, const Parameters& p = {}) : Endpoint(name, p, function()) {}

  using Endpoint::config;
  using Endpoint::dma_read;
  using Endpoint::dma_write;
  using Endpoint::intx;
  using Endpoint::msix;
  using Endpoint::reads_in_flight;
  using Endpoint::writes_queued;

  void mmio_read(unsigned, std::uint64_t offset, unsigned size, pcie::MmioReply reply) override {
    ++reads;
    if (silent) return;
    if (offset >= 0x800) return reply.unsupported();
    reply.data({registers.data() + offset, size});
  }
  void mmio_write(unsigned, std::uint64_t offset, std::span<const std::uint8_t> data,
                  const base::Journey& journey) override {
    writes.push_back({offset, {data.begin(), data.end()}, base::now(), journey});
    if (offset + data.size() <= registers.size()) std::copy(data.begin(), data.end(), registers.begin() + offset);
  }
  void function_reset() override { ++resets; }

  std::vector<std::uint8_t> registers = std::vector<std::uint8_t>(4096);
  std::vector<Write> writes;
  unsigned reads = 0;
  unsigned resets = 0;
  bool silent = false;
};

/// Runs scripts on a thread of its own, as a hart does, without executing anything.
class ScriptedHart : public sc_core::sc_module {
 public:
  using Script = std::function<void(ScriptedHart&)>;
  tlm_utils::simple_initiator_socket<ScriptedHart> socket;

  ScriptedHart(sc_core::sc_module_name name, base::Scheduler& s) : ScriptedHart(name, s.first_group()) {}
  ScriptedHart(sc_core::sc_module_name name, base::RunnerGroup& group)
      : sc_module(name), socket("socket"), runner(group, this->name()) {
    SC_HAS_PROCESS(ScriptedHart);
    SC_THREAD(run);
  }
  void start(Script s) {
    scripts_.push_back(std::move(s));
    more_.notify();
  }

  std::uint64_t read(std::uint64_t address, unsigned size) {
    std::uint64_t v = 0;
    response = transport(tlm::TLM_READ_COMMAND, address, reinterpret_cast<unsigned char*>(&v), size);
    return v;
  }
  void write(std::uint64_t address, std::uint64_t v, unsigned size) {
    response = transport(tlm::TLM_WRITE_COMMAND, address, reinterpret_cast<unsigned char*>(&v), size);
  }
  tlm::tlm_response_status transport(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                                     unsigned size) {
    tlm::tlm_generic_payload t;
    t.set_command(command);
    t.set_address(address);
    t.set_data_ptr(data);
    t.set_data_length(size);
    t.set_streaming_width(size);
    sc_core::sc_time delay;
    synchronise();
    socket->b_transport(t, delay);
    synchronise();
    return t.get_response_status();
  }
  void pause(base::Time t) {
    runner.advance_to(runner.time() + t);
    synchronise();
  }
  base::Time time() const { return runner.time(); }

  tlm::tlm_response_status response = tlm::TLM_INCOMPLETE_RESPONSE;
  base::Runner runner;

 private:
  void synchronise() {
    while (runner.time() >= runner.bound()) runner.yield();
    base::calendar().set_now(runner.time());
  }
  void run() {
    runner.begin();
    for (;;) {
      while (scripts_.empty()) base::wait_for(more_, "a script", "test");
      Script s = std::move(scripts_.front());
      scripts_.pop_front();
      synchronise();
      s(*this);
    }
  }
  base::Event more_;
  std::deque<Script> scripts_;
};

/// Enumerates as firmware does: depth first, buses numbered as they are found, windows in order.
class Enumerator {
 public:
  struct Found {
    pcie::RoutingId id;
    std::uint32_t vendor_device;
    bool bridge;
    std::map<unsigned, std::uint64_t> bars;
  };
  std::vector<Found> found;

  Enumerator(ScriptedHart& hart, const pcie::RootComplex::Parameters& p)
      : hart_(hart), ecam_(p.ecam_base), next32_(p.mmio32_base), next64_(p.mmio64_base) {}

  std::uint64_t reg(pcie::RoutingId id, unsigned offset) const { return ecam_ + (std::uint64_t{id} << 12) + offset; }
  std::uint32_t read32(pcie::RoutingId id, unsigned r) { return static_cast<std::uint32_t>(hart_.read(reg(id, r), 4)); }
  void write32(pcie::RoutingId id, unsigned r, std::uint32_t v) { hart_.write(reg(id, r), v, 4); }

  void scan(unsigned bus) {
    for (unsigned device = 0; device < 32; ++device) {
      const auto id = pcie::routing_id(bus, device, 0);
      const std::uint32_t vendor_device = read32(id, PCIE_VENDOR_ID);
      if (vendor_device == ~0u) {
        if (bus != 0 && device == 0) return;
        if (device > 4) return;
        continue;
      }
      const auto type = hart_.read(reg(id, PCIE_HEADER_TYPE), 1) & PCIE_HEADER_TYPE_MASK;
      const bool bridge = type == PCIE_HEADER_TYPE_BRIDGE;
      found.push_back({id, vendor_device, bridge, {}});
      const std::size_t mine = found.size() - 1;
      if (bridge)
        scan_bridge(id);
      else
        place_bars(id, found[mine]);
      hart_.write(reg(id, PCIE_COMMAND), PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER, 2);
    }
  }

 private:
  static std::uint64_t align(std::uint64_t a, std::uint64_t to) { return (a + to - 1) & ~(to - 1); }
  void scan_bridge(pcie::RoutingId id) {
    const unsigned secondary = ++last_bus_;
    next32_ = align(next32_, PCIE_BRIDGE_WINDOW_GRANULE);
    next64_ = align(next64_, PCIE_BRIDGE_WINDOW_GRANULE);
    const std::uint64_t first32 = next32_;
    const std::uint64_t first64 = next64_;
    write32(id, PCIE_PRIMARY_BUS, pcie::bus_of(id) | secondary << 8 | 0xff << 16);
    scan(secondary);
    hart_.write(reg(id, PCIE_SUBORDINATE_BUS), last_bus_, 1);
    next32_ = align(next32_, PCIE_BRIDGE_WINDOW_GRANULE);
    next64_ = align(next64_, PCIE_BRIDGE_WINDOW_GRANULE);
    if (next32_ > first32)
      write32(id, PCIE_MEMORY_BASE, static_cast<std::uint32_t>(first32 >> 16 | ((next32_ - 1) & 0xfff00000)));
    if (next64_ > first64) {
      write32(id, PCIE_PREFETCHABLE_BASE,
              static_cast<std::uint32_t>((first64 >> 16 & 0xfff0) | ((next64_ - 1) & 0xfff00000)));
      write32(id, PCIE_PREFETCHABLE_BASE_UPPER, static_cast<std::uint32_t>(first64 >> 32));
      write32(id, PCIE_PREFETCHABLE_LIMIT_UPPER, static_cast<std::uint32_t>((next64_ - 1) >> 32));
    }
  }
  void place_bars(pcie::RoutingId id, Found& f) {
    for (unsigned n = 0; n < PCIE_BARS_ENDPOINT; ++n) {
      write32(id, PCIE_BAR(n), ~0u);
      const std::uint32_t low = read32(id, PCIE_BAR(n));
      if (low == 0) continue;
      const bool wide = (low & PCIE_BAR_TYPE_MASK) == PCIE_BAR_TYPE_64;
      const std::uint64_t size = ~(low & PCIE_BAR_MEMORY_MASK) + 1;
      std::uint64_t& next = wide ? next64_ : next32_;
      next = align(next, size);
      f.bars[n] = next;
      write32(id, PCIE_BAR(n), static_cast<std::uint32_t>(next));
      if (wide) write32(id, PCIE_BAR(n + 1), static_cast<std::uint32_t>(next >> 32));
      next += size;
      if (wide) ++n;
    }
  }

  ScriptedHart& hart_;
  std::uint64_t ecam_;
  std::uint64_t next32_;
  std::uint64_t next64_;
  unsigned last_bus_ = 0;
};

/// A device below a switch of type S, set up as firmware does.
template <class S>
struct BelowSwitchBench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  pcie::RootComplex::Parameters parameters;
  pcie::RootComplex root{"root", parameters, memory};
  ScriptedHart hart{"hart", scheduler};
  S fabric{"switch", {.downstream_ports = 1}};
  pcie::Link trunk, leaf;
  TestDevice device{"device"};

  explicit BelowSwitchBench(const pcie::Link::Parameters& above = {}, const pcie::Link::Parameters& below = {})
      : trunk("trunk", above), leaf("leaf", below) {
    hart.socket.bind(root.socket);
    trunk.connect(root.root_port(0), fabric.upstream_port());
    leaf.connect(fabric.downstream_port(0), device.port());
    hart.start([this](ScriptedHart& h) { Enumerator(h, parameters).scan(0); });
    settle();
  }
  void settle() { scheduler.run_until(base::Time::max()); }
};

/// Root complex, one link, one device.
struct PcieBench {
  struct Options {
    pcie::RootComplex::Parameters root = {};
    pcie::Link::Parameters link = {};
    pcie::Endpoint::Parameters endpoint = {};
  };
  Options options;
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  FlatMemory memory;
  MessageSink soc;
  pcie::RootComplex root;
  ScriptedHart hart{"hart", scheduler};
  pcie::Link link;
  TestDevice device;
  std::vector<Enumerator::Found> found;

  explicit PcieBench(const Options& o, bool connected = true)
      : options(o),
        root("root", o.root, memory),
        link(base::module_name("pcie.slot0").c_str(), o.link),
        device("device", o.endpoint) {
    hart.socket.bind(root.socket);
    root.set_soc_writer(&soc);
    if (connected) link.connect(root.root_port(0), device.port());
  }
  PcieBench() : PcieBench(Options{}) {}

  /// Runs until nothing more happens.
  void settle() { scheduler.run_until(base::Time::max()); }
  void run(ScriptedHart::Script s) {
    hart.start(std::move(s));
    settle();
  }
  void enumerate() {
    run([this](ScriptedHart& h) {
      Enumerator e(h, options.root);
      e.scan(0);
      found = e.found;
    });
  }
  const Enumerator::Found& endpoint(unsigned n = 0) const {
    for (const auto& f : found)
      if (!f.bridge && pcie::bus_of(f.id) != 0 && n-- == 0) return f;
    static const Enumerator::Found none{};
    return none;
  }
  std::uint64_t ecam(pcie::RoutingId id, unsigned reg) const {
    return options.root.ecam_base + (std::uint64_t{id} << 12) + reg;
  }
};

}  // namespace sluice
