// SPDX-License-Identifier: Apache-2.0
/// An endpoint controller between a host and a second system: memory, doorbells and interrupts both ways, their times,
/// request ids, and what resets leave.
#include <catch2/catch.hpp>

#include "models/accel/endpoint_controller/endpoint_controller.h"
#include "models/base/measure/mistakes.h"
#include "tests/unit/pcie/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

namespace {

/// Takes interrupt messages on a bus.
struct Controller : base::Model {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> messages;  ///< offset, data
  base::RegisterSocket socket{"socket", [](std::uint64_t, void*, unsigned) { return base::Answer::write_only; },
                              [this](std::uint64_t offset, const void* data, unsigned) {
                                std::uint32_t v;
                                std::memcpy(&v, data, 4);
                                messages.emplace_back(offset, v);
                                return base::Answer::ok;
                              }};
  explicit Controller(sc_core::sc_module_name name) : Model(name) {}
};

constexpr std::uint64_t kAddress = 0x4000'0000, kImsic = 0x2800'0000;
constexpr std::uint64_t kWindow = kAddress + EPC_OUTBOUND_WINDOW;

struct JoinedBench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 1_us};
  base::RunnerGroup card_group{scheduler, 1_us};
  FlatMemory memory, card_memory;
  MessageSink soc;
  RootComplex::Parameters parameters{.root_ports = 2};
  RootComplex root{"root", parameters, memory};
  ScriptedHart hart{"hart", scheduler}, card{"card", card_group};
  Link link{"link", {}}, beside{"beside", {}};
  memory::SocBus bus{"bus", {}};
  Controller imsic{"imsic"};
  accel::EndpointController controller;
  TestDevice device{"device"};
  bool line = false;
  std::map<unsigned, std::uint64_t> bars;  ///< of the controller
  std::vector<Enumerator::Found> found;

  explicit JoinedBench(bool enumerate = true)
      : controller("controller", {.window = 64_KiB,
                                  .target = FlatMemory::kBase,
                                  .outbound = 64_KiB,
                                  .vectors = 4,
                                  .posted_writes = 2,
                                  .pcie = {}}) {
    scheduler.set_separation(100_ns);
    hart.socket.bind(root.socket);
    card.socket.bind(bus.from_initiators);
    root.set_soc_writer(&soc);
    link.connect(root.root_port(0), controller.port());
    beside.connect(root.root_port(1), device.port());
    controller.connect({bus, card_memory}, {"controller", kAddress, EPC_OUTBOUND_WINDOW + 0x10000, false, false});
    memory::SocBus::Region messages{"imsic", kImsic, 0x1000, true, false};
    messages.interrupts = true;
    bus.map(messages, imsic.socket);
    controller.on_line(0, [this](bool level) { line = level; });
    if (enumerate) set_up();
  }
  void set_up() {
    host([this](ScriptedHart& h) {
      Enumerator e(h, parameters);
      e.scan(0);
      found = e.found;
    });
    for (const auto& f : found)
      if (f.id == controller.id()) bars = f.bars;
    host([this](ScriptedHart& h) {
      for (unsigned v = 0; v < 4; ++v) {
        h.write(bars[0] + EPC_MSIX_TABLE + 16 * v, MessageSink::kAddress, 8);
        h.write(bars[0] + EPC_MSIX_TABLE + 16 * v + 8, 0x100 + v, 4);
        h.write(bars[0] + EPC_MSIX_TABLE + 16 * v + 12, 0, 4);
      }
      const auto capability = std::as_const(controller).config().find_capability(PCIE_CAPABILITY_ID_MSIX);
      h.write(parameters.ecam_base + (std::uint64_t{controller.id()} << 12) + capability + PCIE_MSIX_CONTROL,
              PCIE_MSIX_CONTROL_ENABLE, 2);
    });
  }
  void settle() { scheduler.run_until(base::Time::max()); }
  void host(ScriptedHart::Script s) {
    hart.start(std::move(s));
    settle();
  }
  void on_card(ScriptedHart::Script s) {
    card.start(std::move(s));
    settle();
  }
  std::uint64_t card_read(std::uint64_t offset) {
    std::uint64_t v = 0;
    on_card([&](ScriptedHart& h) { v = h.read(kAddress + offset, 8); });
    return v;
  }
  void card_write(std::uint64_t offset, std::uint64_t v, unsigned size = 8) {
    on_card([&](ScriptedHart& h) { h.write(kAddress + offset, v, size); });
  }
  /// A TLP's time on a gen3 x16 link, 5 ns of flight included.
  base::Time wire(unsigned bytes) const {
    return base::Time::fs(usable_femtoseconds_per_byte(3, 16, 256).of_rounded_up(bytes)) + 5_ns;
  }
};

}  // namespace

TEST_CASE("a host's store lands in the system's memory at its time, and its load reads it", "[endpoint_controller]") {
  JoinedBench b;
  base::Time loaded_from, loaded;
  b.host([&](ScriptedHart& h) { h.write(b.bars[2] + 0x40, 0x1122'3344'5566'7788, 8); });
  REQUIRE(little_endian({b.card_memory.ram.at(FlatMemory::kBase + 0x40), 8}) == 0x1122'3344'5566'7788);
  std::uint64_t read = 0;
  b.host([&](ScriptedHart& h) {
    loaded_from = h.time();
    read = h.read(b.bars[2] + 0x40, 8);
    loaded = h.time();
  });
  REQUIRE(read == 0x1122'3344'5566'7788);
  const auto& root = b.parameters;
  const base::Time there = root.outbound_latency + b.wire(16 + 8) + 100_ns;
  REQUIRE(loaded - loaded_from == there + 50_ns + 100_ns + b.wire(12 + 8 + 8) + root.completion_latency);
}

TEST_CASE("a read through the BAR begins when the write before it is visible", "[endpoint_controller]") {
  JoinedBench b;
  b.card_memory.write = 5_us;
  std::uint64_t read = 0;
  base::Time written, loaded;
  b.host([&](ScriptedHart& h) {
    written = h.time();
    h.write(b.bars[2], 77, 8);
    read = h.read(b.bars[2], 8);
    loaded = h.time();
  });
  REQUIRE(read == 77);
  const auto& root = b.parameters;
  const base::Time visible = root.outbound_latency + b.wire(16 + 8 + 8) + 100_ns + 5_us;
  REQUIRE(loaded - written == visible + 50_ns + 100_ns + b.wire(12 + 8 + 8) + root.completion_latency);
}

TEST_CASE("doorbells, register reads and messages pass no write to memory before them", "[endpoint_controller]") {
  JoinedBench b;
  b.card_memory.write = 5_us;
  b.card_write(EPC_ENABLE, 1);
  b.card_write(EPC_MESSAGES, kImsic);
  bool early = false;
  std::uint8_t landed = 0;
  b.host([&](ScriptedHart& h) {
    h.write(b.bars[2], 77, 8);
    h.write(b.bars[0] + EPC_HOST_RING, 1, 8);
    h.write(b.bars[4] + 4, 9, 4);
    h.pause(3_us);
    early = b.line || !b.imsic.messages.empty();
    h.read(b.bars[0] + EPC_HOST_PENDING, 8);
    landed = b.card_memory.ram.at(FlatMemory::kBase)[0];
  });
  REQUIRE_FALSE(early);
  REQUIRE(landed == 77);
  REQUIRE(b.line);
  REQUIRE(b.imsic.messages.size() == 1);
}

TEST_CASE("a load's completion passes no write to memory that came before it", "[endpoint_controller]") {
  JoinedBench b;
  b.card_memory.write = 5_us;
  b.card_write(EPC_OUTBOUND, FlatMemory::kBase);
  base::Time written, loaded;
  b.host([&](ScriptedHart& h) {
    written = h.time();
    h.write(b.bars[2], 77, 8);
    h.pause(800_ns);  // the write has come to the controller
    b.card.start([&](ScriptedHart& c) {
      c.read(kWindow, 8);
      loaded = c.time();
    });
  });
  b.settle();
  REQUIRE(loaded == written + b.parameters.outbound_latency + b.wire(16 + 8 + 8) + 100_ns + 5_us);
}

TEST_CASE("stores that wait for the link block the hart at last", "[endpoint_controller]") {
  JoinedBench b;
  b.card_write(EPC_OUTBOUND, FlatMemory::kBase);
  unsigned stored = 0;
  const auto store_four = [&](ScriptedHart& h) {
    for (stored = 0; stored < 4; ++stored) h.write(kWindow + 8 * stored, stored + 1, 8);
  };
  b.controller.stop();
  b.card.start(store_four);
  b.settle();
  REQUIRE(stored == 2);
  b.controller.resume();
  b.settle();
  REQUIRE(stored == 4);
  REQUIRE(b.memory.ram.at(FlatMemory::kBase + 24)[0] == 4);
  b.controller.stop();
  b.card.start(store_four);
  b.settle();
  REQUIRE(stored == 2);
  b.link.reset();  // drops the stores that wait, and turns bus mastering off
  b.settle();
  REQUIRE(stored == 4);
}

TEST_CASE("a doorbell raises the system's line while it is pending and enabled", "[endpoint_controller]") {
  JoinedBench b;
  b.host([&](ScriptedHart& h) { h.write(b.bars[0] + EPC_HOST_RING, 0b101, 8); });
  REQUIRE(b.card_read(EPC_PENDING) == 0b101);
  REQUIRE_FALSE(b.line);
  b.card_write(EPC_ENABLE, 0b100);
  REQUIRE(b.line);
  b.card_write(EPC_PENDING, 0b001);
  REQUIRE(b.line);
  b.card_write(EPC_PENDING, 0b100);
  REQUIRE_FALSE(b.line);
  REQUIRE(b.card_read(EPC_PENDING) == 0);
}

TEST_CASE("a doorbell of the system sends its vector once while it is pending", "[endpoint_controller]") {
  JoinedBench b;
  b.card_write(EPC_RING, 0b100010);  // vectors 1 and 5 % 4
  REQUIRE(b.soc.messages.size() == 2);
  REQUIRE(b.soc.messages[0].data == 0x101);
  REQUIRE(b.soc.messages[1].data == 0x101);
  b.card_write(EPC_RING, 0b100010);
  REQUIRE(b.soc.messages.size() == 2);
  std::uint64_t pending = 0;
  b.host([&](ScriptedHart& h) {
    pending = h.read(b.bars[0] + EPC_HOST_PENDING, 8);
    h.write(b.bars[0] + EPC_HOST_PENDING, 0b10, 8);
    h.read(b.bars[0] + EPC_HOST_PENDING, 8);  // returns after the write has arrived
  });
  REQUIRE(pending == 0b100010);
  base::Time rung;
  b.on_card([&](ScriptedHart& h) {
    rung = h.time();
    h.write(kAddress + EPC_RING, 0b10, 8);
  });
  REQUIRE(b.soc.messages.size() == 3);
  REQUIRE(b.soc.messages[2].at - rung == 100_ns + b.wire(12 + 4 + 8) + b.parameters.write_latency);
  b.card_write(EPC_RAISE, 3, 4);
  REQUIRE(b.soc.messages.back().data == 0x103);
  b.card_write(EPC_RAISE, 4, 4);
  REQUIRE(b.controller.counters().msix_dropped == 1);
}

TEST_CASE("messages of the host, and of its devices, reach the system's interrupt controller",
          "[endpoint_controller]") {
  JoinedBench b;
  base::mistakes().clear();
  b.host([&](ScriptedHart& h) { h.write(b.bars[4] + 4, 9, 4); });
  REQUIRE(b.imsic.messages.empty());
  REQUIRE(base::mistakes().list().size() == 1);
  REQUIRE(base::mistakes().list()[0].what ==
          "controller: message of 4 bytes: the software of its system has set no target for messages");
  b.card_write(EPC_MESSAGES, kImsic);
  b.host([&](ScriptedHart& h) { h.write(b.bars[4] + 4, 9, 4); });
  REQUIRE(b.imsic.messages == std::vector<std::pair<std::uint64_t, std::uint32_t>>{{4, 9}});
  const std::uint32_t data = 17;
  b.device.dma_write(b.bars[4], {reinterpret_cast<const std::uint8_t*>(&data), 4}, {});
  b.settle();
  REQUIRE(b.imsic.messages.back() == std::pair<std::uint64_t, std::uint32_t>{0, 17});
  b.card_write(EPC_MESSAGES, FlatMemory::kBase);
  b.host([&](ScriptedHart& h) { h.write(b.bars[4], 9, 4); });
  REQUIRE(b.imsic.messages.size() == 2);
  REQUIRE(base::mistakes().list().back().what ==
          "controller: message of 4 bytes at 0x80000000 of its system: "
          "no interrupt controller takes it");
}

TEST_CASE("the outbound window reads and writes the host's memory", "[endpoint_controller]") {
  JoinedBench b;
  const std::uint64_t value = 0x0102'0304'0506'0708;
  b.memory.ram.write(FlatMemory::kBase + 0x2008, &value, 8);
  b.card_write(EPC_OUTBOUND, FlatMemory::kBase + 0x2000);
  base::Time from, to;
  std::uint64_t read = 0;
  b.on_card([&](ScriptedHart& h) {
    from = h.time();
    read = h.read(kWindow + 8, 8);
    to = h.time();
    h.write(kWindow + 0x10, read + 1, 4);
  });
  REQUIRE(read == value);
  REQUIRE(to - from == 100_ns + b.wire(12 + 8) + kServed + b.wire(12 + 8 + 8) + 100_ns);
  REQUIRE(little_endian({b.memory.ram.at(FlatMemory::kBase + 0x2010), 4}) == 0x0506'0709);
}

TEST_CASE("an access through the outbound window that PCIe does not do is a bus error", "[endpoint_controller]") {
  JoinedBench b;
  b.card_write(EPC_OUTBOUND, 0x6'0000'0000);
  b.on_card([&](ScriptedHart& h) { h.read(kWindow, 8); });
  REQUIRE(b.card.response == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  const std::uint64_t command = b.parameters.ecam_base + (std::uint64_t{b.controller.id()} << 12) + PCIE_COMMAND;
  b.host([&](ScriptedHart& h) { h.write(command, PCIE_COMMAND_MEMORY, 2); });
  std::uint64_t status = 0;
  b.on_card([&](ScriptedHart& h) { status = h.read(kAddress + EPC_STATUS, 4); });
  REQUIRE(status == (EPC_STATUS_MEMORY | EPC_STATUS_MSIX));
  b.on_card([&](ScriptedHart& h) { h.write(kWindow, 1, 8); });
  REQUIRE(b.card.response == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  b.on_card([&](ScriptedHart& h) { h.read(kWindow, 8); });
  REQUIRE(b.card.response == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_CASE("a load that waits when the link is lost ends in a bus error", "[endpoint_controller]") {
  JoinedBench b;
  b.card_write(EPC_OUTBOUND, FlatMemory::kBase);
  base::Time done;
  b.card.start([&](ScriptedHart& h) {
    h.read(kWindow, 8);
    done = h.time();
  });
  const base::Time start = base::now();
  b.scheduler.run_until(start + 200_ns);
  b.link.reset();
  b.settle();
  REQUIRE(b.card.response == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  REQUIRE(done == start + 200_ns);
}

TEST_CASE("a reset of the function keeps the system's side, and one of the system the function's",
          "[endpoint_controller]") {
  JoinedBench b;
  b.card_write(EPC_ENABLE, 1);
  b.card_write(EPC_INBOUND, FlatMemory::kBase + 0x1000);
  b.card_write(EPC_SCRATCHPAD + 16, 5);
  b.host([&](ScriptedHart& h) { h.write(b.bars[0] + EPC_HOST_RING, 1, 8); });
  b.card_write(EPC_RING, 1);
  b.controller.resettable()->reset();
  REQUIRE_FALSE(b.line);
  REQUIRE(b.card_read(EPC_PENDING) == 0);
  REQUIRE(b.card_read(EPC_ENABLE) == 0);
  REQUIRE(b.card_read(EPC_INBOUND) == FlatMemory::kBase);
  std::uint64_t pending = 0, scratchpad = 0;
  b.host([&](ScriptedHart& h) {
    pending = h.read(b.bars[0] + EPC_HOST_PENDING, 8);
    scratchpad = h.read(b.bars[0] + EPC_HOST_SCRATCHPAD + 16, 8);
  });
  REQUIRE(pending == 1);
  REQUIRE(scratchpad == 5);
  b.card_write(EPC_ENABLE, 3);
  b.link.reset();
  b.settle();
  REQUIRE(b.card_read(EPC_ENABLE) == 3);
  REQUIRE(b.card_read(EPC_SCRATCHPAD + 16) == 0);
}

TEST_CASE("what lies outside the system's memory is refused and listed", "[endpoint_controller]") {
  JoinedBench b;
  base::mistakes().clear();
  b.card_write(EPC_INBOUND, 0x1000);
  std::uint64_t read = 0;
  b.host([&](ScriptedHart& h) {
    h.write(b.bars[2] + 8, 1, 4);
    read = h.read(b.bars[2], 4);
  });
  REQUIRE(read == 0xffff'ffff);
  REQUIRE(base::mistakes().list().size() == 2);
  REQUIRE(base::mistakes().list()[0].what ==
          "controller: write of 4 bytes at 0x1008 of its system: no memory is there");
}

TEST_CASE("a write over the system's code is listed, and lands", "[endpoint_controller]") {
  JoinedBench b;
  base::mistakes().clear();
  b.card_memory.ram.add_code(FlatMemory::kBase + 0x40, 64);
  b.host([&](ScriptedHart& h) {
    h.write(b.bars[2] + 0x3c, 1, 4);
    h.write(b.bars[2] + 0x40, 2, 4);
  });
  REQUIRE(b.card_memory.ram.at(FlatMemory::kBase + 0x40)[0] == 2);
  REQUIRE(base::mistakes().list().size() == 1);
  REQUIRE(base::mistakes().list()[0].what ==
          "controller: write of 4 bytes at 0x80000040 of its system: code lies there");
}

TEST_CASE("a request's id stays with its bytes from device to device", "[endpoint_controller]") {
  JoinedBench b;
  auto& ledger = base::ledger();
  const base::RequestId one = ledger.open(SLUICE_STAGE_wire, ledger.component("net.wire0"), base::now());
  const base::RequestId two = ledger.open(SLUICE_STAGE_wire, ledger.component("net.wire0"), base::now());
  const std::vector<std::uint8_t> data(384, 3);
  DmaOptions options;
  options.content = Content::kPayload;
  options.spans = base::Spans(0, 128, one);
  options.spans.add({128, 256, two});
  options.arrival_stage = {SLUICE_STAGE_wait_core, ledger.component("elsewhere")};
  const base::Time start = base::now();
  b.device.dma_write(b.bars[2] + 0x100, data, options);
  b.settle();
  const base::GuestRam& ram = b.card_memory.ram;
  REQUIRE(ram.tag(FlatMemory::kBase + 0x100) == one);
  REQUIRE(ram.tag(FlatMemory::kBase + 0x17f) == one);
  REQUIRE(ram.tag(FlatMemory::kBase + 0x180) == two);
  REQUIRE(ram.tag(FlatMemory::kBase + 0x27f) == two);
  REQUIRE(ledger.find(one)->tiles.back().stage == SLUICE_STAGE_wait_core);
  // The second request's last bytes come with the second TLP, behind the first on both links.
  const base::Time landed = ledger.find(two)->tiles.back().start;
  const base::Time to_root = 100_ns + b.wire(16 + 256 + 8),
                   to_card = b.wire(16 + 256 + 8) + b.wire(16 + 128 + 8) - 5_ns;
  REQUIRE(landed - start == to_root + b.parameters.write_latency + to_card + 100_ns + 30_ns);

  std::vector<base::RequestId> tags;
  std::vector<std::uint8_t> bytes;
  DmaOptions read;
  read.want_tags = true;
  b.device.dma_read(b.bars[2] + 0x140, 128, read, [&](const DmaCompletion& c) {
    tags.assign(c.tags.begin(), c.tags.end());
    bytes.assign(c.data.begin(), c.data.end());
    read.spans = {};
  });
  b.settle();
  REQUIRE(tags == std::vector<base::RequestId>{one, two});
  REQUIRE(bytes == std::vector<std::uint8_t>(128, 3));
}
