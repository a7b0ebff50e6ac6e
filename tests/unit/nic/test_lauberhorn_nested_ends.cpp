// SPDX-License-Identifier: Apache-2.0
/// Handlers' calls that go wrong: what must not reach another request, another process, or the next one of the same
/// number.
#include "tests/unit/nic/lauberhorn_nested_bench.h"

using namespace sluice;
using namespace sluice::lauberhorn_test;

TEST_CASE("a call that does not fit its schema takes nothing from the call behind it", "[lauberhorn]") {
  std::vector<std::uint64_t> got;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             at.set(LAUB_CALL_TIMEOUT, 5'000);
             const std::uint32_t request = take_call(at, line, tx);
             CHECK(commit_call(tx, request, kAsked, {1, 2, 3, 4}, 400) == 0);
             // unanswered: no reply leaves
             line.next();
             at.send(call(2, 0));
             REQUIRE(wait_long(line) == LAUB_CALL);
             CHECK(call_service(tx, request_in(line), {1, 2, 3, 4}) == 0);
             line.reply(LAUB_KEPT, 0);
             line.next();
             REQUIRE(wait_long(line) == LAUB_CONTINUE);
             got.push_back(line.get(LAUB_HEAD_XID));
             line.reply(LAUB_REPLY, 0);
             line.next();
             rest(line);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             serve(line);
             rest(line);
           }});
  CHECK(got == std::vector<std::uint64_t>{RPCE_SUCCESS});
  CHECK(b.counter("nested_timeouts") == 0);
  CHECK(b.counter("late_results") == 0);
}

TEST_CASE("a handler may call again when a call has not fitted its schema", "[lauberhorn]") {
  std::vector<std::uint64_t> got;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             at.set(LAUB_CALL_TIMEOUT, 5'000);
             const std::uint32_t request = take_call(at, line, tx);
             CHECK(commit_call(tx, request, kAsked, {1, 2, 3, 4}, 400) == 0);
             line.reply(LAUB_KEPT, 0);
             line.next();
             for (int n = 0; n < 2; ++n) {
               REQUIRE(wait_long(line) == LAUB_CONTINUE);
               got.push_back(line.get(LAUB_HEAD_XID));
               if (n == 0) CHECK(call_service(tx, request, {1, 2, 3, 4}) == 0);
               line.reply(n == 0 ? LAUB_KEPT : LAUB_REPLY, 0);
               line.next();
             }
             rest(line);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             serve(line);
             rest(line);
           }});
  CHECK(got == std::vector<std::uint64_t>{RPCE_SYSTEM_ERR, RPCE_SUCCESS});
}

TEST_CASE("a request that the kernel has kept waits for its handler, whatever results come", "[lauberhorn]") {
  bool ended = false;
  int early = -2;
  std::uint32_t first = 0, reused = 0xffffffff;
  Bench b(
      {[&](Bench& at, LineHart& h) {  // worker 0 of process 1: takes the result
         Side line = at.user(h, 1);
         h.at(30_us);
         early = wait_long(line);
         CHECK(ended);
         line.reply(LAUB_REPLY, 0);
         line.next();
         rest(line);
       },
       [&](Bench& at, LineHart& h) {
         Side line = at.user(h, 2);
         serve(line);
         rest(line);
       },
       [&](Bench& at, LineHart& h) {  // the hart whose kernel line brings the call; the handler of process 1 runs here
         Side kernel = at.kernel(h), ktx = at.kernel(h, LAUB_TX), tx = at.user(h, 1, LAUB_TX);
         tx.wait();
         ktx.wait();
         at.send(call(1, 0));
         REQUIRE(wait_long(kernel) == LAUB_CALL);
         first = request_in(kernel);
         kernel.reply(LAUB_KEPT, 0);  // the handler is set aside
         kernel.next();
         at.set(LAUB_KERNEL_LINE(2), LAUB_KERNEL_DONE);
         h.at(h.runner.time() + 5_us);
         CHECK(call_service(tx, first, {1, 2, 3, 4}) == 0);  // it goes on, and calls
         h.at(100_us);                                       // it is still in its handler
         // A request of process 3, which the kernel of another hart has kept, gets its number.
         at.send(call(2, 2, {}, 2));
         REQUIRE(wait_long(kernel) == LAUB_CALL);
         reused = request_in(kernel);
         kernel.reply(LAUB_KEPT, 0);
         kernel.next();
         at.set(LAUB_KERNEL_LINE(2), LAUB_KERNEL_DONE);
         h.at(h.runner.time() + 5_us);
         // The handler of process 1 ends, with a fault: the kernel answers what it has kept.
         ended = true;
         ktx.set(LAUB_HEAD_SESSION, first << 16);
         ktx.reply(LAUB_REPLY, 0, RPCE_SYSTEM_ERR);
         ktx.next();
         ktx.get(0);
       }});
  for (const auto& r : b.station.replies) CHECK((r.xid != 2 || r.accept_stat == 0));
}

TEST_CASE("a result behind the timeout is late, though its handler has not ended", "[lauberhorn]") {
  std::uint64_t got = 99;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             at.set(LAUB_CALL_TIMEOUT, 2'500);  // 10 us
             const std::uint32_t request = take_call(at, line, tx);
             CHECK(call_service(tx, request, {1, 2, 3, 4}) == 0);
             h.at(h.runner.time() + 50_us);
             line.reply(LAUB_KEPT, 0);
             line.next();
             REQUIRE(wait_long(line) == LAUB_CONTINUE);
             got = line.get(LAUB_HEAD_XID);
             line.reply(LAUB_REPLY, 0);
             line.next();
             rest(line);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             REQUIRE(wait_long(line) == LAUB_CALL);
             h.at(h.runner.time() + 20_us);
             line.reply(LAUB_REPLY, line.length());
             line.next();
             rest(line);
           }});
  CHECK(b.counter("nested_timeouts") == 1);
  CHECK(b.counter("late_results") == 1);
  CHECK(got == RPCE_SYSTEM_ERR);
}

TEST_CASE("a result ends where its schema does", "[lauberhorn]") {
  unsigned length = 9999;
  std::uint64_t rest_of_count = 0;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             const std::uint32_t request = take_call(at, line, tx);
             CHECK(call_service(tx, request, {1, 2, 3, 4}) == 0);
             line.reply(LAUB_KEPT, 0);
             line.next();
             REQUIRE(wait_long(line) == LAUB_CONTINUE);
             length = line.length();
             rest_of_count = line.get(LAUB_HEAD_XID);
             line.reply(LAUB_REPLY, 0);
             line.next();
             rest(line);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             REQUIRE(wait_long(line) == LAUB_CALL);
             line.reply(LAUB_REPLY, 5000);  // the schema's data are 8 bytes
             line.next();
             rest(line);
           }});
  CHECK(rest_of_count == RPCE_SUCCESS);
  CHECK(length == 8);
}

TEST_CASE("a call that a process has written and not committed ends with it", "[lauberhorn]") {
  std::uint32_t word = 99;
  int second = -2;
  std::uint64_t errors = 0;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             at.add_process(1, 1);
             const std::uint32_t request = take_call(at, line, tx);
             CHECK(call_service(tx, request, {1, 2, 3, 4}) == 0);
             write_call(tx, request, kAsked, {1, 2, 3, 4}, 4);  // and it ends here
             at.set(LAUB_LOST, 1u << 16 | 0);
             at.add_process(1, 0);
             h.at(h.runner.time() + 10_us);
             at.set(LAUB_LOST, 1u << 16 | LAUB_LOST_KEPT);
             at.add_process(1, 1);
             h.at(h.runner.time() + 10_us);
             // The new process, which begins with control line 0, as firmware/user/by_lines.c does.
             at.send(call(2, 0));
             Side again = at.user(h, 1), out = at.user(h, 1, LAUB_TX);
             REQUIRE(wait_long(again) == LAUB_CALL);
             CHECK(request_in(again) == request);
             errors = at.get(LAUB_ERROR);
             word = static_cast<std::uint32_t>(out.get(0));
             CHECK(at.counter("nested_calls") == 1);
             again.reply(LAUB_KEPT, 0);
             again.next();
             second = again.wait();
             CHECK(again.get(LAUB_HEAD_CODE, 8) != kCode);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             serve(line);
             serve(line);
             rest(line);
           }});
  CHECK(second != LAUB_CONTINUE);
}

TEST_CASE("a process that is gone keeps nothing", "[lauberhorn]") {
  int second = -2;
  std::uint64_t code = 0;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             at.add_process(1, 1);
             const std::uint32_t request = take_call(at, line, tx);
             CHECK(call_service(tx, request, {1, 2, 3, 4}) == 0);
             at.set(LAUB_PROCESS_COMMIT, 1);  // it ends
             line.reply(LAUB_KEPT, 0);
             line.next();
             CHECK(line.wait() == LAUB_YIELDNOW);
             h.at(h.runner.time() + 10_us);
             at.add_process(1, 1);  // a new one
             line.next();
             second = line.wait();
             code = line.get(LAUB_HEAD_CODE, 8);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             serve(line);
             rest(line);
           }});
  CHECK(second != LAUB_CONTINUE);
  CHECK(code != kCode);
}

TEST_CASE("results that nobody takes fill the table of reply end-points and nothing else", "[lauberhorn]") {
  unsigned made = 0;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             at.add_process(2, 1);
             at.set(LAUB_RUNS(1), 2);
             const std::uint32_t request = take_call(at, line, tx);
             CHECK(call_service(tx, request, {1, 2, 3, 4}) == 0);
             line.reply(LAUB_KEPT, 0);
             line.next();
             REQUIRE(wait_long(line) == LAUB_CONTINUE);
             for (unsigned n = 0; n < 50; ++n) {
               made += call_service(tx, request, Bytes(200)) == 0;
               h.at(h.runner.time() + 3_us);
             }
             CHECK(at.nic->scheduler().queued(1) == 1);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             serve(line);
             serve(line);
             rest(line);
           }},
          [](nic::LauberhornParameters& p) { p.continuations = 2; });
  CHECK(made == 1);
  CHECK(b.counter("nested_refused") == 49);
}

TEST_CASE("a handler calls for requests that it has, and not for those that wait", "[lauberhorn]") {
  Bench b({[&](Bench& at, LineHart& h) {
    Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
    at.add_process(1, 1);
    const std::uint32_t request = take_call(at, line, tx);
    at.send(call(2, 0));
    h.at(h.runner.time() + 5_us);
    REQUIRE(at.nic->scheduler().queued(1) == 1);
    CHECK(call_service(tx, request + 1, {1, 2, 3, 4}) == LAUB_WORD_VALID);
  }});
  CHECK(b.counter("nested_calls") == 0);
  CHECK(b.counter("message_errors") == 1);
}

TEST_CASE("a link that goes down in the middle of a commit leaves nothing of the call", "[lauberhorn]") {
  for (unsigned ns = 0; ns < 1500; ns += 50) {
    CAPTURE(ns);
    bool again = false;
    Bench b({[&](Bench& at, LineHart& h) {
      Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
      const std::uint32_t request = take_call(at, line, tx);
      write_call(tx, request, kAsked, Bytes(3000), 3000);
      tx.next();
      h.at(200_us);
      base::calendar().at(200_us + base::Time::ns(ns), base::path_key("test"), [&at] {
        at.link.hold_down(true);
        at.link.hold_down(false);
      });
      if (h.lines.hold(0, tx.base + tx.which, false)) h.lines.let_go(0);
      h.at(400_us);
      Side later = at.user(h, 1, LAUB_TX);
      later.wait();
      CHECK(commit_call(later, 30'000, kAsked, {1, 2, 3, 4}, 4) == LAUB_WORD_VALID);
      again = true;
    }});
    CHECK(again);
    CHECK(b.counter("nested_calls") <= 1);
  }
}
