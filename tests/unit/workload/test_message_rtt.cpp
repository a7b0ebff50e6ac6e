// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "models/base/measure/ledger.h"
#include "models/base/measure/software_requests.h"
#include "models/base/systemc/model.h"
#include "models/workload/message_rtt/message_rtt_codes.h"
#include "models/workload/message_rtt/message_rtt_workload.h"
#include "tests/unit/fresh_kernel.h"

using namespace sluice;
using namespace sluice::base::literals;

namespace {

struct Nic final : base::Model {
  explicit Nic(sc_core::sc_module_name name) : Model(name) {}
};

/// A board with a NIC, and software that sends messages one behind the other.
struct Messages final : workload::Run {
  explicit Messages(workload::MessageRttParameters p) : parameters(std::move(p)) {
    fresh_kernel();
    base::software_opens_requests = false;
    board.nics.push_back({&nic, 1514});
  }
  workload::MessageRttWorkload& start() {
    workload = std::make_unique<workload::MessageRttWorkload>(parameters, board);
    workload->start(*this);
    return *workload;
  }
  base::RequestId open(std::uint32_t bytes) const {
    return base::ledger().open(SLUICE_STAGE_copy, base::ledger().component("hart"), now, 0, bytes);
  }
  void send(std::uint32_t bytes, base::Time takes) {
    const base::RequestId id = open(bytes);
    base::ledger().enter(id, SLUICE_STAGE_coherence_message, base::ledger().component("link"), now + 1_ns);
    now += takes;
    base::ledger().complete(id, now);
    now += 1_us;
  }
  void begin_measuring() override { measured_from = now; }
  void begin_phase() override {}
  void measure_to_here() override { measured_to = now; }
  void finish() override { finished = true; }

  workload::MessageRttParameters parameters;
  Nic nic{"nic"};
  workload::Surroundings board;
  std::unique_ptr<workload::MessageRttWorkload> workload;
  base::Time now = 1_us, measured_from, measured_to;
  bool finished = false;
};

}  // namespace

TEST_CASE("messages count behind the warm-up of their size, each size by itself", "[message-rtt]") {
  Messages m({"64,128", 4, 2});
  auto& w = m.start();
  REQUIRE(base::software_opens_requests);
  for (const base::Time t : {90_ns, 80_ns, 10_ns, 40_ns, 20_ns, 31_ns}) m.send(64, t);
  CHECK(m.measured_from == 1_us + 90_ns + 1_us + 80_ns);
  CHECK(w.waits());
  CHECK(w.failure(true) == "the firmware ended the run after 6 of 12 messages");
  for (const base::Time t : {500_ns, 500_ns, 50_ns, 50_ns, 60_ns, 90_ns}) m.send(128, t);
  CHECK_FALSE(w.waits());
  CHECK(w.failure(true).empty());
  CHECK(w.progress() == 1.0);
  CHECK(m.measured_to == m.now - 1_us);

  workload::Json r;
  w.add_result(r);
  CHECK(
      r["message_rtt"] ==
      workload::Json{
          {{"bytes", 64}, {"messages", 4}, {"rtt_ns", 25.5}, {"mean_ns", 25.25}, {"min_ns", 10.0}, {"max_ns", 40.0}},
          {{"bytes", 128}, {"messages", 4}, {"rtt_ns", 55.0}, {"mean_ns", 62.5}, {"min_ns", 50.0}, {"max_ns", 90.0}}});
  CHECK(r["requests"]["sent"] == 8);
  CHECK(r["requests"]["completed"] == 8);
  CHECK(r["latency_ns"]["mean"] == (101 + 250) / 8.0);
  CHECK(w.report(r).find("128") != std::string::npos);
}

TEST_CASE("a message that is lost ends the run with its reason", "[message-rtt]") {
  Messages m({"64", 4, 1});
  auto& w = m.start();
  CHECK(w.stall_reason().find("message-rtt") != std::string::npos);
  m.send(64, 10_ns);
  CHECK(w.stall_reason().empty());
  base::ledger().drop(m.open(64), "NIC reset", m.now);
  CHECK(m.finished);
  CHECK(w.failure(true) == "a message of 64 B was dropped: NIC reset");
}

TEST_CASE("a board without a NIC, or with one for shorter messages, is refused", "[message-rtt]") {
  Messages m({"64..1536:64", 4, 1});
  CHECK_THROWS_WITH(m.start(), "workload.sizes has messages of 1536 B, and nic takes none of more than 1514 B");
  m.board.nics.clear();
  CHECK_THROWS_WITH(m.start(), "workload.model is message-rtt, and the board has no NIC");
}

TEST_CASE("messages of one size are compared as requests are, others by size", "[message-rtt]") {
  using workload::MessageRttWorkload;
  CHECK(MessageRttWorkload::comparable({"64", 4, 1}).requests == "messages");
  CHECK(MessageRttWorkload::comparable({"64,128", 4, 1}).requests.empty());
}

TEST_CASE("each exit code of the firmware has its words", "[message-rtt]") {
  const workload::MessageRttFactory factory;
  for (unsigned code = MESSAGE_RTT_NO_PLAN; code <= MESSAGE_RTT_WRONG; ++code)
    CHECK_FALSE(factory.explain_exit("message-rtt", code, {}).empty());
  CHECK(factory.explain_exit("message-rtt", MESSAGE_RTT_WRONG + 1, {}).empty());
  CHECK(factory.explain_exit("rpc-server", MESSAGE_RTT_WRONG, {}).empty());
}
