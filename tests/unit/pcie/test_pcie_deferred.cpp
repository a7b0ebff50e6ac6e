// SPDX-License-Identifier: Apache-2.0
/// Reads for which no core waits: base::DeferredRead.
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/systemc/deferred_read.h"
#include "models/base/time/access_time.h"
#include "tests/unit/pcie/pcie_bench.h"

using namespace sluice;
using namespace sluice::pcie;

namespace {

struct Answer {
  base::Time at;
  std::optional<std::vector<std::uint8_t>> bytes;
};

/// Starts a read that leaves at `leaves`. Returns whether it was taken.
bool start_read(PcieBench& b, std::uint64_t address, unsigned size, base::Time leaves, std::vector<Answer>& answers) {
  base::DeferredRead read([&answers, size](const std::uint8_t* bytes) {
    Answer a{base::now(), {}};
    if (bytes) a.bytes.emplace(bytes, bytes + size);
    answers.push_back(std::move(a));
  });
  const base::AccessTimeScope when(leaves);
  tlm::tlm_generic_payload trans;
  trans.set_command(tlm::TLM_READ_COMMAND);
  trans.set_address(address);
  trans.set_data_length(size);
  trans.set_streaming_width(size);
  trans.set_extension(&read);
  sc_core::sc_time delay;
  b.hart.socket->b_transport(trans, delay);
  trans.clear_extension(&read);
  return trans.is_response_ok() && read.is_taken;
}

}  // namespace

TEST_CASE("a read for which no core waits leaves at its time and is delivered with all its bytes", "[pcie]") {
  PcieBench b;
  b.enumerate();
  for (unsigned i = 0; i < 128; ++i) b.device.registers[i] = static_cast<std::uint8_t>(i * 3);
  const std::uint64_t bar = b.endpoint().bars.at(0);
  std::vector<Answer> answers;
  base::Time start, went_on, waited;
  b.run([&](ScriptedHart& h) {
    start = h.time();
    CHECK(start_read(b, bar, 128, start + 40_ns, answers));
    went_on = h.time();
    h.read(bar, 4);  // one for which the core waits has an access of its own
    waited = h.time();
    h.read(bar, 4);
    h.read(bar, 4);
  });
  CHECK(went_on == start);
  REQUIRE(answers.size() == 1);
  REQUIRE(answers[0].bytes);
  for (unsigned i = 0; i < 128; ++i) CHECK((*answers[0].bytes)[i] == static_cast<std::uint8_t>(i * 3));
  CHECK(answers[0].at == start + 40_ns + 270_ns + b.link.down().wire_time(24) + 5_ns + 100_ns + 100_ns +
                             b.link.up().wire_time(20 + 128) + 5_ns + 270_ns);
  CHECK(b.root.counters().core_reads == 4);
  CHECK(b.root.counters().unexpected_completions == 0);
}

TEST_CASE("a read for which no core waits is not taken where there is no room", "[pcie]") {
  PcieBench b({.root = {.core_reads = 2}});
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  std::vector<Answer> answers;
  std::vector<bool> taken;
  b.run([&](ScriptedHart& h) {
    for (int n = 0; n < 3; ++n) taken.push_back(start_read(b, bar, 64, h.time(), answers));
    h.read(bar, 4);  // waits for the first of them
    CHECK(answers.size() >= 1);
    h.read(bar, 4);
    taken.push_back(start_read(b, bar, 64, h.time(), answers));
    h.read(bar, 4);
    h.read(bar, 4);
  });
  CHECK(taken == std::vector{true, true, false, true});
  CHECK(answers.size() == 3);
  CHECK(b.root.counters().core_read_stalls == 1);
}

TEST_CASE("a read for which no core waits and that fails is delivered without bytes", "[pcie]") {
  PcieBench b({.root = {.core_reads = 1, .completion_timeout = 20_us}});
  b.enumerate();
  const std::uint64_t bar = b.endpoint().bars.at(0);
  std::vector<Answer> answers;
  const std::uint64_t aborts = b.root.counters().master_aborts;
  SECTION("a device that does not answer") {
    b.device.silent = true;
    b.run([&](ScriptedHart& h) { CHECK(start_read(b, bar, 64, h.time(), answers)); });
    b.scheduler.run_until(base::now() + 50_us);
    CHECK(b.root.counters().completion_timeouts == 1);
  }
  SECTION("an address that no device claims") {
    b.run([&](ScriptedHart& h) { CHECK(start_read(b, bar + (1 << 28), 64, h.time(), answers)); });
    b.scheduler.run_until(base::now() + 50_us);
    CHECK(b.root.counters().master_aborts == aborts + 1);
  }
  SECTION("a reset") {
    b.run([&](ScriptedHart& h) {
      CHECK(start_read(b, bar, 64, h.time(), answers));
      b.root.reset();
    });
    b.scheduler.run_until(base::now() + 50_us);
  }
  REQUIRE(answers.size() == 1);
  CHECK(!answers[0].bytes);
  // Its place is free again.
  b.device.silent = false;
  b.device.registers[0] = 9;
  if (b.root.bridge(0).leads_to(bar)) b.run([&](ScriptedHart& h) { CHECK((h.read(bar, 4) & 0xff) == 9); });
}

TEST_CASE("a read for which no core waits is refused as others are", "[pcie]") {
  PcieBench b;
  b.enumerate();
  std::vector<Answer> answers;
  b.run([&](ScriptedHart& h) { CHECK(!start_read(b, b.endpoint().bars.at(0), 256, h.time(), answers)); });
  b.scheduler.run_until(base::now() + 5_us);
  CHECK(answers.empty());
  CHECK(b.root.counters().bad_accesses == 1);
}
