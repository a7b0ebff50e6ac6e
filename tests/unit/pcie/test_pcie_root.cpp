// SPDX-License-Identifier: Apache-2.0
/// What cores do through the root complex: reads, posted writes, errors; translation.
#include <deque>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <tlm_utils/multi_passthrough_target_socket.h>

#include "models/base/measure/mistakes.h"
#include "models/base/time/access_time.h"
#include "models/base/time/who_waits.h"
#include "tests/unit/pcie/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

TEST_CASE("the latencies of devices' accesses are what is left of published totals", "[pcie]") {
  const Endpoint::Parameters endpoint;
  const auto left = [&](base::Time total, unsigned lanes, std::initializer_list<unsigned> tlps, base::Time memory) {
    Link::Parameters p;
    p.lanes = lanes;
    const Link link("link", p);
    total = total - endpoint.transmit_latency - memory;
    for (const unsigned bytes : tlps) total = total - p.flight - link.up().wire_time(bytes);
    return total;
  };
  const RootComplex::Parameters root;
  // pcie-bench, 64 B from a warm LLC: request and completion at gen3 x8, less what the engine of its NFP-6000 takes
  // (haswell-nfp's engine_latency), which is no part of the host. Nagare: 64 B one way at gen3 x16.
  const base::Time engine = 586_ns - 506_ns;
  const base::Time read = left(546_ns, 8, {24, 84}, 20_ns) - endpoint.receive_latency - engine;
  REQUIRE(root.read_latency == 1_ns * (read / 1_ns));
  fresh_kernel();
  REQUIRE(root.write_latency == 1_ns * (left(379_ns, 16, {84}, 10_ns) / 1_ns));
}

TEST_CASE("a core's read takes the sum of its parts, in all widths", "[pcie]") {
  PcieBench b;
  b.enumerate();
  for (unsigned i = 0; i < 64; ++i) b.device.registers[i] = static_cast<std::uint8_t>(i);
  const std::uint64_t bar = b.endpoint().bars.at(0);
  base::Time took;
  std::vector<std::uint64_t> values;
  b.run([&](ScriptedHart& h) {
    const base::Time start = h.time();
    values.push_back(h.read(bar + 8, 4));
    took = h.time() - start;
    values.push_back(h.read(bar + 8, 8));
    values.push_back(h.read(bar + 13, 1));
    values.push_back(h.read(bar + 14, 2));
  });
  REQUIRE(values == std::vector<std::uint64_t>{0x0b0a0908, 0x0f0e0d0c0b0a0908, 0x0d, 0x0f0e});
  // The BAR is above 4 GiB: four DWs of header.
  REQUIRE(took ==
          270_ns + b.link.down().wire_time(24) + 5_ns + 100_ns + 100_ns + b.link.up().wire_time(24) + 5_ns + 270_ns);
}

TEST_CASE("a core goes on after a posted write, and the device sees it when it arrives", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  base::Time start, after;
  b.run([&](ScriptedHart& h) {
    start = h.time();
    h.write(bar + 16, 0x1122334455667788, 8);
    after = h.time();
  });
  REQUIRE(after == start);
  REQUIRE(b.device.writes.size() == 1);
  const auto& w = b.device.writes[0];
  REQUIRE(w.offset == 16);
  REQUIRE(little_endian(w.data) == 0x1122334455667788);
  REQUIRE(w.at == start + 270_ns + b.link.down().wire_time(24 + 8) + 5_ns + 100_ns);

  // Its journey can be applied by the device.
  const base::RequestId id = base::ledger().open(SLUICE_STAGE_transmit, 0, start);
  w.journey.apply(id);
  const auto& tiles = base::ledger().find(id)->tiles;
  REQUIRE(tiles[1].stage == SLUICE_STAGE_doorbell);
  REQUIRE(tiles[1].start == start);
  REQUIRE(tiles[2].stage == SLUICE_STAGE_downstream_link);
  REQUIRE(tiles[2].start == start + 270_ns);
}

TEST_CASE("a write of many bytes arrives whole, narrow ones byte by byte", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  b.run([&](ScriptedHart& h) {
    std::vector<std::uint8_t> line(64);
    for (unsigned i = 0; i < 64; ++i) line[i] = static_cast<std::uint8_t>(200 - i);
    REQUIRE(h.transport(tlm::TLM_WRITE_COMMAND, bar + 64, line.data(), 64) == tlm::TLM_OK_RESPONSE);
    h.write(bar + 3, 0xab, 1);
    h.write(bar + 6, 0xcdef, 2);
  });
  REQUIRE(b.device.writes.size() == 3);
  REQUIRE(b.device.writes[0].data.size() == 64);
  REQUIRE(b.device.writes[1].offset == 3);
  REQUIRE(b.device.writes[1].data == std::vector<std::uint8_t>{0xab});
  REQUIRE(b.device.writes[2].data == std::vector<std::uint8_t>{0xef, 0xcd});
}

TEST_CASE("a read pushes earlier posted writes to the device", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  std::uint64_t v = 0;
  b.run([&](ScriptedHart& h) {
    for (unsigned i = 0; i < 8; ++i) h.write(bar, i + 1, 4);
    v = h.read(bar, 4);
  });
  REQUIRE(v == 8);
}

TEST_CASE("a core is blocked while the posted queue is full", "[pcie]") {
  PcieBench b({.root = {.posted_writes = 2}});
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  base::Time took[3];
  b.run([&](ScriptedHart& h) {
    const base::Time start = h.time();
    for (auto& t : took) {
      h.write(bar, 1, 4);
      t = h.time() - start;
    }
  });
  REQUIRE(took[1] == 0_ns);
  REQUIRE(took[2] == 270_ns);  // the first one's way to the link
  REQUIRE(b.root.counters().posted_stalls == 1);
  REQUIRE(b.device.writes.size() == 3);
}

TEST_CASE("a write that is handed over early takes its place among the posted ones at its time", "[pcie]") {
  PcieBench b({.root = {.posted_writes = 2}});
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  // The first two are on the link 270 ns after their time; the fourth finds no place at its time, and gets that of the
  // second one. The fifth comes when all places are free.
  const std::vector<base::Time> leaves = {100_ns, 200_ns, 400_ns, 420_ns, 2000_ns};
  const std::vector<base::Time> expected = {370_ns, 470_ns, 670_ns, 740_ns, 2270_ns};
  base::Time start, handed_over, read;
  b.run([&](ScriptedHart& h) {
    start = h.time();
    for (unsigned n = 0; n < leaves.size(); ++n) {
      const base::AccessTimeScope scope(start + leaves[n]);
      h.write(bar, n, 4);
    }
    handed_over = h.time();
  });
  CHECK(handed_over == start);
  CHECK(b.root.counters().posted_stalls == 1);
  REQUIRE(b.device.writes.size() == leaves.size());
  for (unsigned n = 0; n < leaves.size(); ++n) {
    CAPTURE(n);
    CHECK(little_endian(b.device.writes[n].data) == n);
    CHECK(b.device.writes[n].at == start + expected[n] + b.link.down().wire_time(24 + 4) + 5_ns + 100_ns);
  }
}

TEST_CASE("a core waits for its writes that have found no place at their time", "[pcie]") {
  for (const bool reads : {false, true}) {
    fresh_kernel();
    PcieBench b({.root = {.posted_writes = 1}});
    b.enumerate();
    const std::uint64_t bar = b.endpoint().bars.at(0);
    base::Time start, went_on;
    std::uint64_t value = 0;
    b.run([&](ScriptedHart& h) {
      start = h.time();
      for (unsigned n = 1; n < 3; ++n) {
        const base::AccessTimeScope scope(start + 100_ns);
        h.write(bar, n, 4);
      }
      h.pause(200_ns);
      if (reads) {
        value = h.read(bar, 4);
      } else {
        const base::AccessTimeScope scope(start + 10_us);
        h.write(bar, 3, 4);
        went_on = h.time();
      }
    });
    CAPTURE(reads);
    // The second write gets the place of the first one when that is on the link, 370 ns from the start.
    if (reads)
      CHECK(value == 2);
    else
      CHECK(went_on == start + 370_ns);
  }
}

TEST_CASE("a reset drops early writes, those without a place and those whose time is to come", "[pcie]") {
  PcieBench b({.root = {.posted_writes = 1}});
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  const std::uint64_t before = b.root.counters().master_aborts;
  b.run([&](ScriptedHart& h) {
    const base::Time start = h.time();
    for (const base::Time leaves : {100_ns, 100_ns, 5000_ns}) {
      const base::AccessTimeScope scope(start + leaves);
      h.write(bar, 1, 4);
    }
    h.pause(200_ns);
    b.root.reset();
    h.pause(10_us);
  });
  CHECK(b.device.writes.empty());
  CHECK(b.root.counters().master_aborts == before + 3);
}

namespace {

/// Sixteen harts at one root complex.
struct CrowdBench {
  static constexpr unsigned kHarts = 16;
  struct Crossbar : sc_core::sc_module {
    tlm_utils::multi_passthrough_target_socket<Crossbar> in{"in"};
    tlm_utils::simple_initiator_socket<Crossbar> out{"out"};
    explicit Crossbar(sc_core::sc_module_name name) : sc_module(name) {
      in.register_b_transport(this, &Crossbar::b_transport);
    }
    void b_transport(int, tlm::tlm_generic_payload& t, sc_core::sc_time& delay) { out->b_transport(t, delay); }
  };
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 100_ns};
  FlatMemory memory;
  RootComplex::Parameters parameters;
  RootComplex root;
  Crossbar crossbar{"crossbar"};
  std::deque<ScriptedHart> harts;
  Link link;
  TestDevice device{"device"};
  std::uint64_t bar = 0;

  explicit CrowdBench(const RootComplex::Parameters& p, const Link::Parameters& l = {})
      : parameters(p), root("root", p, memory), link("link", l) {
    crossbar.out.bind(root.socket);
    for (unsigned i = 0; i < kHarts; ++i) {
      harts.emplace_back(("hart" + std::to_string(i)).c_str(), scheduler);
      harts.back().socket.bind(crossbar.in);
    }
    link.connect(root.root_port(0), device.port());
    harts[0].start([this](ScriptedHart& h) {
      Enumerator e(h, parameters);
      e.scan(0);
      for (const auto& f : e.found)
        if (f.bars.contains(0)) bar = f.bars.at(0);
    });
    settle();
  }
  void settle() { scheduler.run_until(base::Time::max()); }
};

}  // namespace

TEST_CASE("each core has posted writes of its own, and a full link serves all cores alike", "[pcie]") {
  constexpr unsigned kBuffers = 4, kWrites = 24;
  CrowdBench b({.posted_writes = kBuffers}, {.generation = 1, .lanes = 1});
  const base::Time start = base::now() + 1_us;
  std::array<base::Time, CrowdBench::kHarts> stalled{};
  for (unsigned n = 0; n < CrowdBench::kHarts; ++n)
    b.harts[n].start([&b, &stalled, n, start](ScriptedHart& h) {
      h.pause(start - h.time());
      for (unsigned i = 0; i < kWrites; ++i) {
        if (i == kBuffers) stalled[n] = h.time();
        h.write(b.bar + 4 * n, i, 4);
      }
    });
  b.settle();
  // No core waits for another's writes before its own buffers are full.
  for (const base::Time t : stalled) REQUIRE(t == start);
  REQUIRE(b.device.writes.size() == kWrites * CrowdBench::kHarts);
  // The link is never idle: it takes the writes one behind the other.
  const base::Time each = b.link.down().wire_time(24 + 4);
  for (std::size_t i = 0; i < b.device.writes.size(); ++i)
    REQUIRE(b.device.writes[i].at == start + b.parameters.outbound_latency + each * (i + 1) + 5_ns + 100_ns);
  // Each core's own order is kept, and no core is ever ahead of another by more than its buffers hold.
  std::array<unsigned, CrowdBench::kHarts> served{};
  for (const auto& w : b.device.writes) {
    unsigned& mine = served[w.offset / 4];
    REQUIRE(little_endian(w.data) == mine);
    ++mine;
    const auto [least, most] = std::minmax_element(served.begin(), served.end());
    REQUIRE(*most - *least <= kBuffers);
  }
  // Every write beyond a core's first ones waits.
  REQUIRE(b.root.counters().posted_stalls == (kWrites - kBuffers) * CrowdBench::kHarts);
}

TEST_CASE("cores that share fewer reads than there are cores take turns", "[pcie]") {
  constexpr unsigned kReads = 5;
  CrowdBench b({.core_reads = 3});
  const base::Time start = base::now() + 1_us;
  std::vector<unsigned> order;
  for (unsigned n = 0; n < CrowdBench::kHarts; ++n)
    b.harts[n].start([&, n](ScriptedHart& h) {
      h.pause(start - h.time());
      for (unsigned i = 0; i < kReads; ++i) {
        h.read(b.bar + 4 * n, 4);
        order.push_back(n);
      }
    });
  b.settle();
  REQUIRE(order.size() == kReads * CrowdBench::kHarts);
  for (std::size_t i = 0; i < order.size(); ++i) REQUIRE(order[i] == i % CrowdBench::kHarts);
}

TEST_CASE("an address that no device claims reads all ones and takes writes", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const auto& p = b.options.root;
  const std::uint64_t before = b.root.counters().master_aborts;  // from enumeration
  std::vector<std::uint64_t> values;
  b.run([&](ScriptedHart& h) {
    values.push_back(h.read(p.mmio32_base + 0x3000'0000, 4));
    REQUIRE(h.response == tlm::TLM_OK_RESPONSE);
    h.write(p.mmio64_base + p.mmio64_size.count() - 8, 1, 8);
    REQUIRE(h.response == tlm::TLM_OK_RESPONSE);
  });
  REQUIRE(values[0] == 0xffff'ffff);
  REQUIRE(b.root.counters().master_aborts == before + 2);
  REQUIRE(b.device.writes.empty());
}

TEST_CASE("bad accesses are errors and never reach a device", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  std::vector<std::uint8_t> buffer(8192);
  b.run([&](ScriptedHart& h) {
    REQUIRE(h.transport(tlm::TLM_READ_COMMAND, 0x1000, buffer.data(), 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    REQUIRE(h.transport(tlm::TLM_READ_COMMAND, bar, buffer.data(), 129) == tlm::TLM_BURST_ERROR_RESPONSE);
    REQUIRE(h.transport(tlm::TLM_WRITE_COMMAND, bar + 4092, buffer.data(), 8) == tlm::TLM_BURST_ERROR_RESPONSE);
    REQUIRE(h.transport(tlm::TLM_IGNORE_COMMAND, bar, buffer.data(), 4) == tlm::TLM_BURST_ERROR_RESPONSE);
  });
  REQUIRE(b.root.counters().bad_accesses == 3);
  REQUIRE(b.device.writes.empty());
  REQUIRE(b.device.reads == 0);
}

TEST_CASE("a bad access is told what is wrong with it", "[pcie]") {
  PcieBench b;
  b.enumerate();
  base::mistakes().clear();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  std::vector<std::uint8_t> buffer(8192), enables(8, 0xff);
  const auto access = [&](tlm::tlm_command command, std::uint64_t address, unsigned length, bool enabled = false) {
    tlm::tlm_generic_payload t;
    t.set_command(command);
    t.set_address(address);
    t.set_data_ptr(buffer.data());
    t.set_data_length(length);
    t.set_streaming_width(std::min(length, 4096u));
    if (enabled) t.set_byte_enable_ptr(enables.data());
    sc_core::sc_time delay;
    b.hart.socket->b_transport(t, delay);
    return t.get_response_status();
  };
  CHECK(access(tlm::TLM_WRITE_COMMAND, bar, 8, true) == tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  CHECK(access(tlm::TLM_WRITE_COMMAND, bar, 0) == tlm::TLM_BURST_ERROR_RESPONSE);
  CHECK(access(tlm::TLM_READ_COMMAND, bar, 129) == tlm::TLM_BURST_ERROR_RESPONSE);
  CHECK(access(tlm::TLM_READ_COMMAND, bar + 4064, 64) == tlm::TLM_BURST_ERROR_RESPONSE);
  CHECK(access(tlm::TLM_WRITE_COMMAND, bar + 4092, 8) == tlm::TLM_BURST_ERROR_RESPONSE);
  CHECK(access(tlm::TLM_WRITE_COMMAND, bar, 8192) == tlm::TLM_BURST_ERROR_RESPONSE);
  CHECK(access(tlm::TLM_IGNORE_COMMAND, bar, 4) == tlm::TLM_BURST_ERROR_RESPONSE);
  CHECK(access(tlm::TLM_READ_COMMAND, b.options.root.ecam_base + 2, 4) == tlm::TLM_BURST_ERROR_RESPONSE);
  std::vector<std::string> said;
  for (const base::Mistake& m : base::mistakes().list()) said.push_back(m.what);
  const auto sentence = [](const char* what, std::uint64_t at, const char* why) {
    return fmt::format("root: {} at {:#x}: PCIe has no such access, {}", what, at, why);
  };
  CHECK(said == std::vector<std::string>{
                    sentence("write of 8 bytes", bar, "byte enables are not taken"),
                    sentence("write of 0 bytes", bar, "it has no bytes"),
                    sentence("read of 129 bytes", bar, "a read has at most 128 bytes"),
                    sentence("read of 64 bytes", bar + 4064, "it would cross 4 KiB"),
                    sentence("write of 8 bytes", bar + 4092, "it would cross 4 KiB"),
                    sentence("write of 8192 bytes", bar, "its streaming width is less than its length"),
                    sentence("access of 4 bytes", bar, "it neither reads nor writes"),
                    sentence("read of 4 bytes", b.options.root.ecam_base + 2,
                             "configuration space takes what lies within an aligned word of 4 bytes"),
                });
  CHECK(b.root.counters().bad_accesses == 8);
}

TEST_CASE("a reset drops what waited for room, and software is not told that nobody claimed it", "[pcie]") {
  CrowdBench b({.posted_writes = 1, .core_reads = 1});
  base::mistakes().clear();
  const std::uint64_t aborts = b.root.counters().master_aborts;
  const base::Time start = base::now() + 1_us;
  base::calendar().at(start + 100_ns, 1, [&] { b.root.reset(); });
  unsigned written = 0;
  std::vector<std::uint64_t> values;
  for (unsigned n = 0; n < 3; ++n)
    b.harts[n].start([&, n, start](ScriptedHart& h) {
      h.pause(start - h.time());
      if (n > 0) return values.push_back(h.read(b.bar, 4));
      for (; written < 2; ++written) h.write(b.bar, 1, 4);
    });
  b.settle();
  CHECK(written == 2);
  CHECK(values == std::vector<std::uint64_t>{0xffff'ffff, 0xffff'ffff});
  CHECK(b.root.counters().master_aborts == aborts + 4);
  CHECK(b.device.writes.empty());
  CHECK(base::mistakes().list().empty());
  // There is room again for a read.
  b.harts[0].start([&](ScriptedHart& h) { CHECK(h.read(b.parameters.ecam_base + PCIE_VENDOR_ID, 2) == 0x534c); });
  b.settle();
}

TEST_CASE("a register that does not exist reads all ones", "[pcie]") {
  PcieBench b;
  b.enumerate();
  std::uint64_t v = 0;
  b.run([&](ScriptedHart& h) { v = h.read(b.endpoint().bars.at(0) + 0x900, 4); });
  REQUIRE(v == 0xffff'ffff);
  REQUIRE(b.root.counters().error_completions == 1);
}

TEST_CASE("memory decoding off: the device claims nothing", "[pcie]") {
  PcieBench b;
  b.enumerate();
  std::uint64_t v = 0;
  b.run([&](ScriptedHart& h) {
    h.write(b.ecam(b.endpoint().id, PCIE_COMMAND), 0, 2);
    h.write(b.endpoint().bars.at(0), 1, 4);
    v = h.read(b.endpoint().bars.at(0), 4);
  });
  REQUIRE(v == 0xffff'ffff);
  REQUIRE(b.device.writes.empty());
  REQUIRE(b.device.counters().unsupported_requests == 2);
}

TEST_CASE("a device that does not answer costs the completion timeout", "[pcie]") {
  PcieBench b({.root = {.completion_timeout = 20_us}});
  b.enumerate();
  b.device.silent = true;
  std::uint64_t v = 0;
  base::Time took;
  b.run([&](ScriptedHart& h) {
    const base::Time start = h.time();
    v = h.read(b.endpoint().bars.at(0), 4);
    took = h.time() - start;
  });
  REQUIRE(v == 0xffff'ffff);
  REQUIRE(took == 270_ns + 20_us + 270_ns);
  REQUIRE(b.root.counters().completion_timeouts == 1);
}

TEST_CASE("a stalled read says who waits for whom", "[pcie]") {
  PcieBench b;
  b.enumerate();
  b.device.silent = true;
  b.hart.start([&](ScriptedHart& h) { h.read(b.endpoint().bars.at(0), 4); });
  b.scheduler.run_until(base::now() + 2_us);
  REQUIRE(base::describe_waits().find("hart waits for root: read completion") != std::string::npos);
}

TEST_CASE("a slot without a device reads all ones", "[pcie]") {
  PcieBench b({}, false);
  b.enumerate();
  REQUIRE(b.found.size() == 2);  // host bridge and root port
}

TEST_CASE("translation moves accesses, delays them and may refuse", "[pcie]") {
  struct Table : Translator {
    std::vector<RoutingId> seen;
    Translation translate(RoutingId requester, std::uint64_t address, std::uint32_t, bool) override {
      seen.push_back(requester);
      if (address >= 0x9000'0000) return {0, true, {}};
      return {address + 0x2000, false, 40_ns};
    }
  } table;
  PcieBench b;
  b.enumerate();
  b.root.set_translator(&table);
  const std::vector<std::uint8_t> data(64, 7);
  b.device.dma_write(FlatMemory::kBase, data, {});
  b.settle();
  REQUIRE(b.memory.ram.at(FlatMemory::kBase)[0] == 0);
  REQUIRE(b.memory.ram.at(FlatMemory::kBase + 0x2000)[63] == 7);

  DmaStatus status[2] = {};
  std::uint8_t first = 0;
  base::Time took;
  b.device.dma_read(FlatMemory::kBase + 3, 60, {}, [&](const DmaCompletion& c) {
    status[0] = c.status;
    first = c.data[0];
    took = base::now() - c.issued;
  });
  b.device.dma_read(0x9000'0000, 64, {}, [&](const DmaCompletion& c) { status[1] = c.status; });
  b.device.dma_write(0x9000'0000, data, {});
  b.settle();
  REQUIRE(status[0] == DmaStatus::kOk);
  REQUIRE(first == 7);
  REQUIRE(took ==
          100_ns + b.link.up().wire_time(20) + 5_ns + kServed + 40_ns + b.link.down().wire_time(20 + 64) + 105_ns);
  REQUIRE(status[1] == DmaStatus::kUnsupportedRequest);
  REQUIRE(b.root.counters().unsupported_requests == 2);
  REQUIRE(table.seen[0] == b.device.id());
}

TEST_CASE("no packet is lost or kept", "[pcie]") {
  PcieBench b;
  b.enumerate();
  const std::size_t before = TlpPool::instance().taken();
  const std::vector<std::uint8_t> data(3000, 1);
  for (int i = 0; i < 50; ++i) {
    b.device.dma_write(FlatMemory::kBase + 4096, data, {});
    b.device.dma_read(FlatMemory::kBase, 3000, {}, [](const DmaCompletion&) {});
    b.device.dma_read(8, 4, {}, [](const DmaCompletion&) {});
  }
  b.run([&](ScriptedHart& h) {
    h.write(b.endpoint().bars.at(0), 1, 4);
    h.read(b.endpoint().bars.at(0), 4);
  });
  REQUIRE(TlpPool::instance().taken() == before);
  const auto [posted, non_posted, completions] = b.options.link.credits();
  for (LinkDirection* d : {&b.link.up(), &b.link.down()}) {
    b.scheduler.run_until(base::now() + 1_us);
    REQUIRE(d->available(TlpClass::kPosted).messages == posted.messages);
    REQUIRE(d->available(TlpClass::kPosted).data == posted.data);
    REQUIRE(d->available(TlpClass::kNonPosted).messages == non_posted.messages);
  }
}
