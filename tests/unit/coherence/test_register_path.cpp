// SPDX-License-Identifier: Apache-2.0
/// Registers behind a coherent link: what an access takes, and what a reset or a link that is down does to it.
#include <functional>

#include <catch2/catch.hpp>

#include <tlm_utils/simple_initiator_socket.h>

#include "models/base/measure/mistakes.h"
#include "models/base/registers/register_bank.h"
#include "models/base/registers/register_socket.h"
#include "models/coherence/link/register_path.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base::literals;
using coherence::CoherentLink;
using coherence::RegisterPath;

namespace {

/// A register that counts its reads, and adds a delay of its own.
struct Device : sc_core::sc_module {
  tlm_utils::simple_target_socket<Device> socket{"socket"};
  std::vector<base::Time> read;
  base::Time delay;
  explicit Device(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_b_transport(this, &Device::access);
  }
  void access(tlm::tlm_generic_payload& trans, sc_core::sc_time& time) {
    read.push_back(base::now());
    *trans.get_data_ptr() = static_cast<std::uint8_t>(read.size());
    time += base::to_sc_time(delay);
    trans.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

struct Reader : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Reader> socket{"socket"};
  base::Runner runner;
  std::function<void(Reader&)> script;
  SC_HAS_PROCESS(Reader);
  Reader(sc_core::sc_module_name name, base::Scheduler& s, std::function<void(Reader&)> f)
      : sc_module(name), runner(s, this->name()), script(std::move(f)) {
    SC_THREAD(run);
  }
  void run() {
    runner.begin();
    script(*this);
    base::Event never;
    base::wait_for(never, "end", "nobody");
  }
  /// The value; -1: a bus error.
  int load() {
    std::uint8_t value = 0;
    tlm::tlm_generic_payload trans;
    trans.set_command(tlm::TLM_READ_COMMAND);
    trans.set_data_ptr(&value);
    trans.set_data_length(8);
    sc_core::sc_time none;
    socket->b_transport(trans, none);
    return trans.is_response_ok() ? value : -1;
  }
};

struct Bench {
  FreshKernel fresh;
  base::Scheduler scheduler{"scheduler", 100_ns};
  // 1 ns for each byte; the latencies are all different.
  CoherentLink link{
      "link", coherence::kEci, base::Ratio(1'000'000), {3_ns, 5_ns, 7_ns, 11_ns, 13_ns, 10_ns, 20_ns, 0, 0_ns}};
  RegisterPath path{"path", link, "device.x"};
  Device device{"device"};
  Reader reader;
  explicit Bench(std::function<void(Reader&)> script) : reader("reader", scheduler, std::move(script)) {
    reader.socket.bind(path.from_bus);
    path.to_device.bind(device.socket);
  }
  void run() { scheduler.run_until(base::Time::max()); }
  void at(base::Time t, std::function<void()> f) {
    base::calendar().at(t, base::path_key("test"),
                        [f = std::make_shared<std::function<void()>>(std::move(f))] { (*f)(); });
  }
};

// host_io, host_transmit, a word of 8 B, flight, device_receive, device_io; and back with a word and 8 B.
constexpr base::Time kThere = 10_ns + 5_ns + 8_ns + 3_ns + 13_ns + 20_ns;
constexpr base::Time kBack = 20_ns + 11_ns + 16_ns + 3_ns + 7_ns + 10_ns;

}  // namespace

TEST_CASE("a register takes the link both ways, and what the device says", "[registers]") {
  for (const base::Time delay : {0_ns, 100_ns}) {
    int value = 0;
    base::Time done;
    Bench b([&](Reader& r) {
      value = r.load();
      done = r.runner.time();
    });
    b.device.delay = delay;
    b.run();
    REQUIRE(value == 1);
    REQUIRE(b.device.read == std::vector<base::Time>{kThere});
    REQUIRE(done == kThere + delay + kBack);
    REQUIRE(b.link.down().statistics().accesses == 1);
    REQUIRE(b.link.up().statistics().bytes == 16);
  }
}

TEST_CASE("a reset or a link that goes down ends an access wherever it is, and no other", "[registers]") {
  for (const bool down : {false, true})
    for (base::Time t = 1_ns; t < kThere + kBack; t += 1_ns) {
      std::vector<int> values;
      std::vector<base::Time> times;
      Bench b([&](Reader& r) {
        for (unsigned n = 0; n < 2; ++n) {
          values.push_back(r.load());
          times.push_back(r.runner.time());
        }
      });
      b.at(t, [&] {
        if (!down) return b.link.reset();
        b.link.hold_down(true);
        b.link.hold_down(false);
      });
      b.run();
      INFO(t.femtoseconds());
      const unsigned reads = t > kThere ? 2 : 1;
      // At the instant of the read itself, the read may come before or after.
      if (t == kThere) continue;
      REQUIRE(values == std::vector<int>{-1, static_cast<int>(reads)});
      REQUIRE(times == std::vector<base::Time>{t, t + kThere + kBack});
      REQUIRE(b.device.read.size() == reads);
    }
}

TEST_CASE("an access while the link is down is an error at once, and is told", "[registers]") {
  int value = 0;
  base::mistakes().clear();
  Bench b([&](Reader& r) { value = r.load(); });
  b.link.hold_down(true);
  b.run();
  REQUIRE(value == -1);
  REQUIRE(b.device.read.empty());
  REQUIRE(base::mistakes().reports() == 1);
}
