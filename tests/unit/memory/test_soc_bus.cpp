// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/base/systemc/scheduler.h"
#include "models/memory/ram.h"
#include "models/memory/soc_bus.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base::literals;

namespace {

/// A foreign target: knows nothing of Sluice and waits.
struct Plain : sc_core::sc_module {
  tlm_utils::simple_target_socket<Plain> socket{"socket"};
  std::uint64_t last_address = 0;
  base::Time called;
  bool broken = false;
  explicit Plain(sc_core::sc_module_name name) : sc_module(name) { socket.register_b_transport(this, &Plain::serve); }
  void serve(tlm::tlm_generic_payload& trans, sc_core::sc_time&) {
    if (broken) throw std::runtime_error("no access");
    called = base::from_sc_time(sc_core::sc_time_stamp());
    last_address = trans.get_address();
    wait(sc_core::sc_time(30, sc_core::SC_NS));
    trans.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

/// One hart that makes an access at a given time.
struct Hart : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Hart> socket{"socket"};
  base::Runner runner;
  std::uint64_t address;
  std::uint64_t data = 0x1122'3344'5566'7788;
  unsigned size = 8;
  tlm::tlm_command command = tlm::TLM_WRITE_COMMAND;
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  base::Time done;
  SC_HAS_PROCESS(Hart);
  Hart(sc_core::sc_module_name name, base::Scheduler& s, std::uint64_t a)
      : sc_module(name), runner(s, "hart"), address(a) {
    SC_THREAD(run);
  }
  void run() {
    runner.begin();
    runner.advance_to(100_ns);
    while (runner.time() >= runner.bound()) runner.yield();
    runner.synchronise();
    tlm::tlm_generic_payload trans;
    trans.set_command(command);
    trans.set_address(address);
    trans.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
    trans.set_data_length(size);
    trans.set_streaming_width(size);
    sc_core::sc_time delay;
    socket->b_transport(trans, delay);
    status = trans.get_response_status();
    done = runner.time() + base::from_sc_time(delay);
    base::Event never;
    base::wait_for(never, "end", "nobody");
  }
};

struct Bench {
  base::Scheduler scheduler{"scheduler", 1_us};
  memory::SocBus bus{"bus", {}};
  memory::Ram ram{"ram", {}};
  Plain plain{"plain"};
  void run(Hart& hart) {
    hart.socket.bind(bus.from_initiators);
    bus.map({"ram", 0x8000'0000, 0x1000'0000, true, false}, ram.socket);
    bus.map({"plain", 0x2000'0000, 0x1000, false, false}, plain.socket);
    scheduler.run_until(base::Time::max());
  }
};

}  // namespace

TEST_CASE("an access reaches RAM, with the bus's and the RAM's latency", "[bus]") {
  Bench b;
  Hart hart("hart", b.scheduler, 0x8000'1000);
  b.run(hart);
  REQUIRE(hart.status == tlm::TLM_OK_RESPONSE);
  REQUIRE(hart.done == 100_ns + 10_ns + 85_ns);
  std::uint64_t stored = 0;
  b.ram.bytes().read(0x8000'1000, &stored, 8);
  REQUIRE(stored == hart.data);
}

TEST_CASE("a plain TLM target sees offset and kernel time, and may wait", "[bus]") {
  Bench b;
  Hart hart("hart", b.scheduler, 0x2000'0010);
  b.run(hart);
  REQUIRE(hart.status == tlm::TLM_OK_RESPONSE);
  REQUIRE(b.plain.last_address == 0x10);
  REQUIRE(b.plain.called == 100_ns);
  REQUIRE(hart.done == 140_ns);
  b.bus.publish_statistics();
  REQUIRE(base::statistics().value("bus.accesses") == 1);
}

namespace {

/// A plain module whose process makes an access.
struct PlainInitiator : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<PlainInitiator> socket{"socket"};
  SC_HAS_PROCESS(PlainInitiator);
  explicit PlainInitiator(sc_core::sc_module_name name) : sc_module(name) { SC_THREAD(run); }
  void run() {
    wait(sc_core::sc_time(40, sc_core::SC_NS));
    std::uint64_t data = 0;
    tlm::tlm_generic_payload trans;
    trans.set_command(tlm::TLM_WRITE_COMMAND);
    trans.set_address(0x2000'0000);
    trans.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
    trans.set_data_length(8);
    trans.set_streaming_width(8);
    sc_core::sc_time delay;
    socket->b_transport(trans, delay);
  }
};

}  // namespace

TEST_CASE("what a target throws is told of the target, whoever called it", "[bus]") {
  const bool from_a_process = GENERATE(false, true);
  fresh_kernel();
  Bench b;
  b.plain.broken = true;
  Hart hart("hart", b.scheduler, from_a_process ? 0x8000'0000 : 0x2000'0000);
  PlainInitiator caller("caller");
  caller.socket.bind(b.bus.from_initiators);
  try {
    b.run(hart);
    FAIL("nothing was thrown");
  } catch (const base::ComponentError& e) {
    REQUIRE(e.component() == "plain");
    REQUIRE(std::string(e.what()) == "no access");
  }
}

TEST_CASE("an access to nowhere, or across a region's end, is an address error and counted", "[bus]") {
  for (std::uint64_t address : {0x3000'0000ull, 0x2000'0ffcull}) {
    fresh_kernel();
    Bench b;
    Hart hart("hart", b.scheduler, address);
    b.run(hart);
    REQUIRE(hart.status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    REQUIRE(b.bus.unmapped() == 1);
    b.bus.publish_statistics();
    REQUIRE(base::statistics().value("bus.unmapped") == 1);
    REQUIRE(base::statistics().value("bus.accesses") == 0);
  }
}

TEST_CASE("an interrupt message finds own devices only", "[bus]") {
  Bench b;
  Hart hart("hart", b.scheduler, 0x8000'0000);
  b.run(hart);
  b.bus.map_also({"slow", 0x5000'0000, 0x1000, true, false, true});  // its target may take simulated time
  const std::uint32_t message = 7;
  REQUIRE(b.bus.write_now(0x8000'2000, &message, 4));
  REQUIRE_FALSE(b.bus.write_now(0x2000'0000, &message, 4));
  REQUIRE_FALSE(b.bus.write_now(0x4000'0000, &message, 4));
  REQUIRE_FALSE(b.bus.write_now(0x5000'0000, &message, 4));
  REQUIRE(b.bus.unmapped() == 3);
}

TEST_CASE("what an own device throws at a device's write is told of it", "[bus]") {
  Bench b;
  b.plain.broken = true;
  Hart hart("hart", b.scheduler, 0x8000'0000);
  b.run(hart);
  b.bus.map_also({"card", 0x5000'0000, 0x1000, true, false});
  const std::uint32_t message = 7;
  try {
    b.bus.write_now(0x5000'0000, &message, 4);
    FAIL("nothing was thrown");
  } catch (const base::ComponentError& e) {
    REQUIRE(e.component() == "card");
  }
}
