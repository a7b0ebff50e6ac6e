// SPDX-License-Identifier: Apache-2.0
/// What Lauberhorn gives to the kernel, what it refuses and drops, and its tables.
#include "tests/unit/nic/lauberhorn_bench.h"

using namespace sluice;
using namespace sluice::lauberhorn_test;

TEST_CASE("frames that are no calls of services go to a kernel line, and frames leave by its transmit lines",
          "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
    Side kernel = at.kernel(h), tx = at.kernel(h, LAUB_TX);
    net::PacketPtr arp = net::make_packet();
    net::build_arp(*arp, net::ArpOperation::request, {{{2, 0, 0, 0, 0, 1}}, 0x0a000101, 0}, {{}, kHostAddress, 0});
    net::pad(*arp);
    const Bytes sent(arp->bytes, arp->bytes + arp->length);
    at.send(std::move(arp));
    REQUIRE(kernel.wait() == LAUB_FRAME);
    REQUIRE(kernel.length() == 60);
    CHECK(kernel.get(LAUB_HEAD_PROCESS) == 0);
    for (unsigned n = 0; n < 60; ++n) REQUIRE(h.load(kernel.place(n)) == sent[n]);
    tx.wait();  // for a buffer
    for (unsigned n = 0; n < 300; ++n) REQUIRE(h.store(tx.place(n), static_cast<std::uint8_t>(n)));
    tx.reply(LAUB_FRAME, 300);
    tx.next();
    tx.wait();
    // Neither of these is a message that a kernel may send, and a process may send no frame.
    tx.reply(LAUB_FRAME, 0);
    tx.next();
    tx.wait();
    CHECK(at.get(LAUB_ERROR) == LAUB_ERROR_MESSAGE);
    tx.reply(LAUB_CALL, 60);
    tx.next();
    tx.wait();
    Side user = at.user(h, 1, LAUB_TX);
    user.wait();
    user.reply(LAUB_FRAME, 60);
    user.next();
    user.wait();
    done = true;
  }});
  REQUIRE(done);
  REQUIRE(b.station.others.size() == 1);
  REQUIRE(b.station.others[0].size() == 300);
  for (unsigned n = 0; n < 300; ++n) REQUIRE(b.station.others[0][n] == static_cast<std::uint8_t>(n));
  CHECK(b.counter("message_errors") == 3);
  CHECK(b.counter("frames") == 1);
}

TEST_CASE("what is for another host or of no service is no call", "[lauberhorn]") {
  for (const bool bypass : {false, true}) {
    std::vector<int> got;
    Bench b(
        {[&](Bench& at, LineHart& h) {
          Side kernel = at.kernel(h);
          at.send(call(1, 0));  // of a service
          net::PacketPtr other_mac = call(2, 0);
          other_mac->bytes[5] ^= 1;
          at.send(std::move(other_mac));
          at.send(call(3, 9));                       // no such procedure
          at.send(call(4, 1, words({9001})));        // more than the schema takes
          at.send(call(5, 0, {}, 1, kProgram + 1));  // no such program
          h.at(5_us);
          for (int i = 0; i < 5; ++i) {
            got.push_back(kernel.wait());
            kernel.next();
          }
        }},
        [&](nic::LauberhornParameters& p) { p.unknown = bypass ? nic::UnknownCall::bypass : nic::UnknownCall::drop; });
    INFO("bypass " << bypass);
    const std::vector<int> expected = bypass ? std::vector<int>{LAUB_CALL, LAUB_FRAME, LAUB_FRAME, LAUB_FRAME, -1}
                                             : std::vector<int>{LAUB_CALL, -1, -1, -1, -1};
    CHECK(got == expected);
    CHECK(b.counter("filtered") == 1);
    CHECK(b.counter("unknown_calls") == 3);
    CHECK(b.counter("unanswered") == 1);
  }
}

TEST_CASE("a call to another address of the network is the kernel's", "[lauberhorn]") {
  Bench b({[&](Bench& at, LineHart& h) {
    at.set(LAUB_IPV4, kHostAddress + 1);
    at.send(call(1, 0));
    Side kernel = at.kernel(h);
    CHECK(kernel.wait() == LAUB_FRAME);
  }});
  CHECK(b.counter("calls") == 0);
}

TEST_CASE("a queue holds as many calls as it may, and drops and counts the others", "[lauberhorn]") {
  Bench b({[&](Bench& at, LineHart& h) {
    for (std::uint32_t n = 0; n < 7; ++n) at.send(call(n, 0));
    h.at(5_us);
    CHECK(at.counter("dropped_queue") == 3);
    at.set(LAUB_PROCESS_SELECT, 1);
    CHECK(at.get(LAUB_PROCESS_QUEUED) == 4);
    CHECK(at.get(LAUB_PROCESS_DROPPED) == 3);
    CHECK(at.get(LAUB_PROCESS_PUSHED) == 4);
    CHECK(at.get(LAUB_PROCESS_CORES) == 0);
    Side line = at.user(h, 1);
    for (int i = 0; i < 4; ++i) answer(line);
    CHECK(at.get(LAUB_CORE_GIVEN(0)) == 4);
    CHECK(at.get(LAUB_CORE_POPPED(0)) == 4);
    CHECK(at.get(LAUB_CORE_DISPATCHED(0)) == 0);
    CHECK(at.get(LAUB_CORE_PREEMPTED(0)) == 0);
    line.wait();
    line.next();
  }});
  CHECK(b.station.replies.size() == 4);
}

TEST_CASE("a session is free again when its call is answered", "[lauberhorn]") {
  Bench few({[&](Bench& at, LineHart& h) {
              for (std::uint32_t n = 0; n < 4; ++n) at.send(call(n, 0));
              h.at(5_us);
              Side line = at.user(h, 1);
              answer(line);
              answer(line);
              line.wait();
              line.next();
              at.send(call(9, 0));  // the sessions are free again
              answer(line);
              line.wait();
            }},
            [](nic::LauberhornParameters& p) { p.sessions = 2; });
  CHECK(few.counter("dropped_sessions") == 2);
  CHECK(few.station.replies.size() == 3);
}

TEST_CASE("the end of a process drops what waits for it, and sends its cores away", "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1);
             answer(line);  // of the call below
             CHECK(line.wait() == LAUB_YIELDNOW);
             done = true;
           },
           [&](Bench& at, LineHart& h) {
             h.at(1_us);
             at.send(call(1, 0));
             h.at(5_us);
             at.send(call(2, 2));  // for process 3, where nobody is
             at.send(call(3, 2));
             h.at(10_us);
             at.set(LAUB_PROCESS_COMMIT, 3);
             at.set(LAUB_PROCESS_COMMIT, 1);
             at.send(call(4, 0));
             h.at(15_us);
           }});
  REQUIRE(done);
  CHECK(b.counter("dropped_process") == 3);
  CHECK(b.station.replies.size() == 1);
}

TEST_CASE("a core whose handler goes on too long is interrupted where it is wanted", "[lauberhorn]") {
  Bench b({[&](Bench& at, LineHart& h) {
    at.set(LAUB_RUNS(1), LAUB_RUNS_OTHER);
    Side line = at.user(h, 1);
    at.send(call(1, 0));
    REQUIRE(line.wait() == LAUB_CALL);
    at.send(call(2, 2));
    // After 5 us; there is nobody to whom it goes, so nothing is sent.
    h.at(h.runner.time() + 10_us);
    line.reply(LAUB_REPLY, 0);
    line.next();
    CHECK(line.wait() == LAUB_YIELDNOW);
    CHECK(at.get(LAUB_CORE_PREEMPTED(0)) == 1);
  }});
  CHECK(b.counter("interrupts") == 0);
  CHECK(b.counter("yields") == 1);
}

TEST_CASE("RETIRE gives back as many kernel threads as are asked for", "[lauberhorn]") {
  std::vector<int> got;
  Bench b({[&](Bench& at, LineHart& h) {
             Side kernel = at.kernel(h);
             got.push_back(kernel.wait());
             CHECK(at.get(LAUB_RETIRE) == 0);
             CHECK(at.get(LAUB_RUNS(0)) == LAUB_RUNS_OTHER);
           },
           [&](Bench& at, LineHart& h) {
             h.at(3_us);
             at.set(LAUB_RETIRE, 1);
           }});
  CHECK(got == std::vector<int>{LAUB_RETIRE_THREAD});
  CHECK(b.counter("retires") == 1);
}

TEST_CASE("tables refuse what they have no room for, and say so", "[lauberhorn]") {
  Bench b({});
  CHECK(b.get(LAUB_ERROR) == 0);
  b.set(LAUB_PROCESS_COMMIT, LAUB_COMMIT_VALID | 5);
  CHECK(b.get(LAUB_ERROR) == LAUB_ERROR_ENTRY);
  b.set(LAUB_ERROR, LAUB_ERROR_ENTRY);
  b.set(LAUB_PROCESS_COMMIT, LAUB_COMMIT_VALID | 0);
  CHECK(b.get(LAUB_ERROR) == LAUB_ERROR_ENTRY);
  b.set(LAUB_ERROR, LAUB_ERROR_ENTRY);
  b.set(LAUB_SERVICE_PROCESS, 5);
  b.set(LAUB_SERVICE_COMMIT, LAUB_COMMIT_VALID | 0);
  CHECK(b.get(LAUB_ERROR) == LAUB_ERROR_PROCESS);
  b.set(LAUB_ERROR, LAUB_ERROR_PROCESS);
  CHECK(b.get(LAUB_IDENTITY) == LAUB_IDENTITY_VALUE);
  CHECK(b.get(LAUB_LINE_BYTES) == kLine);
  CHECK(b.get(LAUB_MAC) == 0x0253'4c00'0001);
}

TEST_CASE("the NIC says what its tables have room for, and refuses the entry behind their last", "[lauberhorn]") {
  for (const unsigned services : {8u, 64u}) {
    Bench b({}, [&](nic::LauberhornParameters& p) {
      p.services = services;
      p.sessions = 2 * services;
      p.processes = 3 + services;
    });
    CHECK(b.get(LAUB_SERVICES) == services);
    CHECK(b.get(LAUB_SESSIONS) == 2 * services);
    CHECK(b.get(LAUB_PROCESSES) == 3 + services);
    CHECK(b.get(LAUB_WORKERS) == 3);
    CHECK((b.get4(LAUB_DECODER + RPCD_CAPACITY) & RPCD_CAPACITY_SERVICES) == services);
    CHECK((b.get4(LAUB_ENCODER + RPCE_CAPACITY) & RPCE_CAPACITY_SCHEMAS) == 128);
    const auto error_of = [&b](std::uint64_t commit, std::uint32_t entry) {
      b.set(commit, LAUB_COMMIT_VALID | entry);
      const std::uint64_t error = b.get(LAUB_ERROR);
      b.set(LAUB_ERROR, error);
      return error;
    };
    CHECK(error_of(LAUB_SERVICE_COMMIT, services - 1) == 0);
    CHECK(error_of(LAUB_SERVICE_COMMIT, services) == LAUB_ERROR_ENTRY);
    CHECK(error_of(LAUB_PROCESS_COMMIT, 3 + services) == 0);
    CHECK(error_of(LAUB_PROCESS_COMMIT, 4 + services) == LAUB_ERROR_ENTRY);
    b.set4(LAUB_DECODER + RPCD_COMMIT, RPCD_COMMIT_VALID | (services - 1));
    CHECK(b.get4(LAUB_DECODER + RPCD_ERROR) == 0);
    b.set4(LAUB_DECODER + RPCD_COMMIT, RPCD_COMMIT_VALID | services);
    CHECK(b.get4(LAUB_DECODER + RPCD_ERROR) == RPCD_ERROR_ENTRY);
    b.set4(LAUB_ENCODER + RPCE_COMMIT, RPCE_COMMIT_VALID | 127);
    CHECK(b.get4(LAUB_ENCODER + RPCE_ERROR) == 0);
    b.set4(LAUB_ENCODER + RPCE_COMMIT, RPCE_COMMIT_VALID | 128);
    CHECK(b.get4(LAUB_ENCODER + RPCE_ERROR) == RPCE_ERROR_ENTRY);
  }
}

TEST_CASE("lines that are none are refused, and so is a load beside one that waits", "[lauberhorn]") {
  std::vector<int> loaded;
  Bench b(
      {[&](Bench& at, LineHart& h) {
         const std::uint64_t end = LAUB_OVERFLOW + LAUB_OVERFLOW_BYTES;
         for (const std::uint64_t at_offset : {LAUB_RX + end, LAUB_TX + end, std::uint64_t{LAUB_ENDPOINT_SIZE - kLine}})
           loaded.push_back(h.load(kLines + at_offset));
         at.kernel(h).wait();
       },
       [&](Bench& at, LineHart& h) {
         h.at(1_us);
         loaded.push_back(h.load(kLines + LAUB_KERNEL(0) + kLine));  // hart 0 waits at the other line
         (void)at;
       }});
  CHECK(loaded == std::vector<int>{-1, -1, -1, -1});
}

TEST_CASE("a reset of NIC and caches lets everything begin again", "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
    Side line = at.user(h, 1);
    at.send(call(1, 0));
    REQUIRE(line.wait() == LAUB_CALL);
    line.reply(LAUB_REPLY, 0);
    at.send(call(2, 0));
    at.send(call(3, 2));
    h.at(h.runner.time() + 100_ns);  // in the pipelines
    at.nic->mac().reset();
    at.nic->reset();
    at.lines.reset();
    h.at(h.runner.time() + 10_us);
    CHECK(at.station.replies.empty());
    CHECK(at.get(LAUB_IPV4) == 0);
    at.set(LAUB_IPV4, kHostAddress);
    at.add_process(1, 2);
    at.add_service(0, 0, 1);
    at.send(call(4, 0));
    line.which = kLine;
    REQUIRE(line.wait() == LAUB_CALL);
    CHECK(line.get(LAUB_HEAD_XID) == 4);
    line.reply(LAUB_REPLY, 0);
    line.next();
    line.wait();
    done = true;
  }});
  REQUIRE(done);
  REQUIRE(b.station.replies.size() == 1);
  CHECK(b.station.replies[0].xid == 4);
}

TEST_CASE("a call that the kernel keeps is answered by its transmit lines, when it likes", "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
    Side kernel = at.kernel(h), tx = at.kernel(h, LAUB_TX);
    at.send(call(1, 0));
    REQUIRE(kernel.wait() == LAUB_CALL);
    const auto session = static_cast<std::uint32_t>(kernel.get(LAUB_HEAD_SESSION) & 0xffff0000);
    kernel.reply(LAUB_KEPT, 0);
    kernel.next();
    at.send(call(2, 2));  // meanwhile the kernel line is free for others
    REQUIRE(kernel.wait() == LAUB_CALL);
    kernel.reply(LAUB_REPLY, 0);
    kernel.next();
    h.at(h.runner.time() + kLong);
    at.set(LAUB_KERNEL_LINE(0), LAUB_KERNEL_DONE);
    h.at(h.runner.time() + kLong);
    CHECK(at.station.replies.size() == 1);
    tx.wait();
    tx.set(LAUB_HEAD_SESSION, session);
    tx.reply(LAUB_REPLY, 0, RPC_SYSTEM_ERR);
    tx.next();
    tx.wait();
    tx.set(LAUB_HEAD_SESSION, session);  // there is no such session any more
    tx.reply(LAUB_REPLY, 0);
    tx.next();
    tx.wait();
    h.at(h.runner.time() + kLong);
    done = true;
  }});
  REQUIRE(done);
  REQUIRE(b.station.replies.size() == 2);
  CHECK(b.station.replies[0].xid == 2);
  CHECK(b.station.replies[1].xid == 1);
  CHECK(b.station.replies[1].accept_stat == RPC_SYSTEM_ERR);
  CHECK(b.counter("kept") == 1);
  CHECK(b.counter("message_errors") == 1);
}

TEST_CASE("a kernel line that never waits is answered at once", "[lauberhorn]") {
  std::vector<base::Time> times;
  Bench b({[&](Bench& at, LineHart& h) {
    Side kernel = at.kernel(h);
    h.at(1_us);
    at.set(LAUB_KERNEL_LINE(0), LAUB_KERNEL_NO_WAIT);
    CHECK(kernel.wait() == -1);
    times.push_back(h.runner.time());
    kernel.next();
    at.set(LAUB_KERNEL_LINE(0), 0);
    CHECK(kernel.wait() == -1);
    times.push_back(h.runner.time());
  }});
  CHECK(times == std::vector<base::Time>{1_us, 21_us});
}

TEST_CASE("a call whose software is lost is answered by the NIC, or dropped", "[lauberhorn]") {
  for (const bool drop : {false, true}) {
    Bench b({[&](Bench& at, LineHart& h) {
              Side line = at.user(h, 1);
              at.send(call(1, 0));
              REQUIRE(line.wait() == LAUB_CALL);
              at.set(LAUB_LOST, 1 << 16 | 0);
              at.set(LAUB_LOST, 1 << 16 | 1);  // has nothing
              at.set(LAUB_LOST, 9 << 16);      // there is no such process
              h.at(h.runner.time() + kLong);
            }},
            [&](nic::LauberhornParameters& p) { p.lost = drop ? nic::LostRequest::drop : nic::LostRequest::answer; });
    CHECK(b.counter("lost") == 1);
    CHECK(b.get(LAUB_ERROR) == LAUB_ERROR_ENTRY);
    REQUIRE(b.station.replies.size() == (drop ? 0 : 1));
    if (!drop) CHECK(b.station.replies[0].accept_stat == RPC_SYSTEM_ERR);
  }
}

TEST_CASE("a core that the NIC does not know gets no line", "[lauberhorn]") {
  std::vector<int> loaded;
  Bench b({[&](Bench& at, LineHart& h) { at.user(h, 1).wait(); },
           [&](Bench&, LineHart& h) { loaded.push_back(h.load(kLines + LAUB_USER(1, 3, 1, 1))); }},
          [](nic::LauberhornParameters& p) { p.cores = 1; });
  CHECK(loaded == std::vector<int>{-1});
}

TEST_CASE("overflow lines are there with a message only, so that caches never hold what changes", "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
    at.lines.check();
    Side line = at.user(h, 2);
    CHECK(h.load(line.place(200)) == -1);
    Bytes arguments = words({200});
    arguments.resize(204, 7);
    at.send(call(1, 1, arguments));
    REQUIRE(line.wait() == LAUB_CALL);
    CHECK(h.load(line.place(203)) == 7);
    done = true;
  }});
  REQUIRE(done);
}

TEST_CASE("a service that is withdrawn or given to another process leaves calls that have come as they were",
          "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
    at.send(call(1, 0));
    at.send(call(2, 2));
    h.at(5_us);
    at.set(LAUB_SERVICE_COMMIT, 0);
    at.add_service(2, 2, 2);
    Side first = at.user(h, 1), third = at.user(h, 3);
    REQUIRE(first.wait() == LAUB_CALL);
    CHECK(first.get(LAUB_HEAD_DATA, 8) == 0x5000);
    first.next();
    REQUIRE(third.wait() == LAUB_CALL);
    CHECK(third.get(LAUB_HEAD_PROCESS) == (3 | 103 << 16));
    done = true;
  }});
  REQUIRE(done);
}

TEST_CASE("what comes for a process that may have no core waits", "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
    at.add_process(1, 0);
    Side line = at.user(h, 1);
    CHECK(line.wait() == LAUB_YIELDNOW);
    line.next();
    at.send(call(1, 0));
    Side kernel = at.kernel(h);
    CHECK(kernel.wait() == -1);
    kernel.next();
    at.add_process(1, 2);
    REQUIRE(kernel.wait() == LAUB_CALL);
    CHECK(kernel.get(LAUB_HEAD_XID) == 1);
    done = true;
  }});
  REQUIRE(done);
}

TEST_CASE("of two replies to a kept call one counts", "[lauberhorn]") {
  std::uint32_t session = 0;
  const auto twice = [&](Bench& at, LineHart& h, std::uint32_t value) {
    Side tx = at.kernel(h, LAUB_TX);
    tx.wait();
    for (unsigned n = 0; n < 300; ++n) h.store(tx.place(n), 1);
    h.at(20_us);
    tx.set(LAUB_HEAD_SESSION, session);
    tx.reply(LAUB_REPLY, 300, value);
    tx.next();
    tx.wait();
  };
  Bench b({[&](Bench& at, LineHart& h) {
             Side kernel = at.kernel(h);
             at.send(call(1, 1, words({0})));
             REQUIRE(kernel.wait() == LAUB_CALL);
             session = static_cast<std::uint32_t>(kernel.get(LAUB_HEAD_SESSION) & 0xffff0000);
             kernel.reply(LAUB_KEPT, 0);
             at.set(LAUB_KERNEL_LINE(0), LAUB_KERNEL_DONE);
             twice(at, h, 5);
           },
           [&](Bench& at, LineHart& h) { twice(at, h, 4); }});
  CHECK(b.station.replies.size() == 1);
  CHECK(b.counter("message_errors") == 1);
}
