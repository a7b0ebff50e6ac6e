// SPDX-License-Identifier: Apache-2.0
/// Calls that handlers make to services of the same NIC, and what becomes of their results.
#include "tests/unit/nic/lauberhorn_nested_bench.h"

using namespace sluice;
using namespace sluice::lauberhorn_test;

TEST_CASE("a handler's call goes to its service, and the request goes on with the result", "[lauberhorn]") {
  for (const unsigned size : {4u, 80u, 92u, 93u, 3000u}) {
    CAPTURE(size);
    bool done = false;
    Bytes data(size);
    for (unsigned n = 0; n < size; ++n) data[n] = static_cast<std::uint8_t>(n * 7);
    Bench b({[&](Bench& at, LineHart& h) {
               Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
               tx.wait();
               at.send(call(77, 0));
               REQUIRE(line.wait() == LAUB_CALL);
               const std::uint32_t request = request_in(line);
               CHECK(call_service(tx, request, data) == 0);
               line.reply(LAUB_KEPT, 0);
               line.next();
               REQUIRE(wait_long(line) == LAUB_CONTINUE);
               CHECK(line.get(LAUB_HEAD_XID) == RPCE_SUCCESS);
               CHECK(line.get(LAUB_HEAD_CODE, 8) == kCode);
               CHECK(line.get(LAUB_HEAD_DATA, 8) == kData);
               CHECK(line.get(LAUB_HEAD_PROCESS) == (1u | 101u << 16));
               CHECK(request_in(line) == request);
               REQUIRE(line.length() == 4 + (size + 3) / 4 * 4);
               CHECK(h.load(line.place(4)) == data[0] + 1);
               for (unsigned n = 1; n < size; ++n) REQUIRE(h.load(line.place(4 + n)) == data[n]);
               line.reply(LAUB_REPLY, 0);
               line.next();
               done = true;
               rest(line);
             },
             [&](Bench& at, LineHart& h) {
               Side line = at.user(h, 2);
               serve(line);
               rest(line);
             }});
    REQUIRE(done);
    REQUIRE(b.station.replies.size() == 1);
    CHECK(b.station.replies[0].xid == 77);
    CHECK(b.station.replies[0].accept_stat == RPCE_SUCCESS);
    CHECK(b.counter("nested_calls") == 1);
    CHECK(b.counter("kept") == 1);
    CHECK(b.counter("replies") == 1);
    CHECK(b.counter("late_results") == 0);
    CHECK(b.station.others.empty());
  }
}

TEST_CASE("a result that comes before its handler has ended waits for that", "[lauberhorn]") {
  base::Time ended, continued;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             const std::uint32_t request = take_call(at, line, tx);
             call_service(tx, request, {1, 2, 3, 4});
             h.at(h.runner.time() + 20_us);
             CHECK(at.counter("late_results") == 0);
             line.reply(LAUB_KEPT, 0);
             line.next();
             ended = h.runner.time();
             REQUIRE(line.wait() == LAUB_CONTINUE);
             continued = h.runner.time();
             line.reply(LAUB_REPLY, 0);
             line.next();
             rest(line);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             serve(line);
             rest(line);
           }});
  CHECK(b.station.replies.size() == 1);
  // The line goes back, the result through the stream into the line: no call is made in this time.
  CHECK(continued - ended < 1_us);
}

TEST_CASE("a call without a result in time goes on with SYSTEM_ERR, and the result is late", "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             at.set(LAUB_CALL_TIMEOUT, 10'000);  // of 4 ns
             const std::uint32_t request = take_call(at, line, tx);
             call_service(tx, request, {1, 2, 3, 4});
             const base::Time made = h.runner.time();
             line.reply(LAUB_KEPT, 0);
             line.next();
             REQUIRE(wait_long(line) == LAUB_CONTINUE);
             CHECK(h.runner.time() - made < 41_us);
             CHECK(h.runner.time() - made > 39_us);
             CHECK(line.get(LAUB_HEAD_XID) == RPCE_SYSTEM_ERR);
             CHECK(line.length() == 0);
             line.reply(LAUB_REPLY, 0, RPCE_SYSTEM_ERR);
             line.next();
             done = true;
             rest(line);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             REQUIRE(line.wait() == LAUB_CALL);
             h.at(100_us);
             line.reply(LAUB_REPLY, line.length());
             line.next();
             rest(line);
           }});
  REQUIRE(done);
  CHECK(b.counter("nested_timeouts") == 1);
  CHECK(b.counter("late_results") == 1);
  REQUIRE(b.station.replies.size() == 1);
  CHECK(b.station.replies[0].accept_stat == RPCE_SYSTEM_ERR);
}

TEST_CASE("calls that are none are refused in the next line", "[lauberhorn]") {
  bool done = false;
  constexpr std::uint32_t kRefused = LAUB_WORD_VALID;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             tx.wait();
             at.send(call(1, 0));
             at.send(call(2, 2));
             line.wait();
             const std::uint32_t request = request_in(line);
             h.at(h.runner.time() + 5_us);
             const auto refuses = [&](std::uint32_t of, std::uint32_t service) {
               at.set(LAUB_ERROR, LAUB_ERROR_MESSAGE);
               CHECK(commit_call(tx, of, service, {1, 2, 3, 4}, 4) == kRefused);
               CHECK(at.get(LAUB_ERROR) == LAUB_ERROR_MESSAGE);
             };
             refuses(request, 9);           // no such service
             refuses(request, 3);           // withdrawn
             refuses(request + 1, kAsked);  // the request of process 3
             refuses(4711, kAsked);
             at.set(LAUB_SERVICE_PROCESS, 2);
             at.set(LAUB_SERVICE_ARGUMENTS, LAUB_NO_SCHEMA);
             at.set(LAUB_SERVICE_COMMIT, LAUB_COMMIT_VALID | 5);
             refuses(request, 5);       // not for handlers
             line.reply(LAUB_KEPT, 0);  // nothing will come
             line.next();
             CHECK(line.wait() == -1);
             done = true;
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 3);
             REQUIRE(line.wait() == LAUB_CALL);
             h.at(500_us);
             line.reply(LAUB_REPLY, 0);
             line.next();
             rest(line);
           }});
  REQUIRE(done);
  CHECK(b.counter("nested_calls") == 0);
  CHECK(b.counter("message_errors") == 6);
  REQUIRE(b.station.replies.size() == 2);
  CHECK(b.station.replies[0].accept_stat == RPCE_SYSTEM_ERR);
}

TEST_CASE("a table without room refuses a call, and a reply end-point is free when its result is dealt with",
          "[lauberhorn]") {
  bool done = false;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             const std::uint32_t request = take_call(at, line, tx);
             CHECK(call_service(tx, request, {1, 2, 3, 4}) == 0);
             CHECK(call_service(tx, request, {5, 6, 7, 8}) == 0);
             CHECK(call_service(tx, request, {9, 9, 9, 9}) == LAUB_WORD_VALID);
             line.reply(LAUB_KEPT, 0);
             line.next();
             REQUIRE(line.wait() == LAUB_CONTINUE);
             CHECK(call_service(tx, request, {9, 9, 9, 9}) == LAUB_WORD_VALID);
             line.reply(LAUB_KEPT, 0);
             line.next();
             REQUIRE(line.wait() == LAUB_CONTINUE);
             CHECK(call_service(tx, request, {9, 9, 9, 9}) == 0);
             line.reply(LAUB_KEPT, 0);
             line.next();
             REQUIRE(line.wait() == LAUB_CONTINUE);
             line.reply(LAUB_REPLY, 0);
             line.next();
             done = true;
             rest(line);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             for (int n = 0; n < 3; ++n) serve(line);
             rest(line);
           }},
          [](nic::LauberhornParameters& p) { p.continuations = 2; });
  REQUIRE(done);
  CHECK(b.counter("nested_refused") == 2);
  CHECK(b.counter("nested_calls") == 3);
  CHECK(b.station.replies.size() == 1);
}

TEST_CASE("arguments and results that do not fit their schema reach nobody", "[lauberhorn]") {
  std::vector<std::uint64_t> got;
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             at.set(LAUB_CALL_TIMEOUT, 5'000);
             const std::uint32_t request = take_call(at, line, tx);
             CHECK(commit_call(tx, request, kAsked, {1, 2, 3, 4}, 400) == 0);  // more than there are
             CHECK(commit_call(tx, request, kAsked, {1, 2, 3, 4}, 4) == 0);
             line.reply(LAUB_KEPT, 0);
             line.next();
             for (int n = 0; n < 2; ++n) {
               REQUIRE(wait_long(line) == LAUB_CONTINUE);
               got.push_back(line.get(LAUB_HEAD_XID));
               CHECK(line.length() == 0);
               line.reply(n == 0 ? LAUB_KEPT : LAUB_REPLY, 0);
               line.next();
             }
             rest(line);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             REQUIRE(line.wait() == LAUB_CALL);
             CHECK(line.get(line.which == 0 ? LAUB_HEAD_BYTES : LAUB_HEAD_BYTES) == 4);
             line.set(LAUB_HEAD_BYTES, 10'000);  // bytes of data, above the schema's most
             line.reply(LAUB_REPLY, 8);
             line.next();
             rest(line);
           }});
  // The result is an error, and the other call has none.
  CHECK(got == std::vector<std::uint64_t>{RPCE_SYSTEM_ERR, RPCE_SYSTEM_ERR});
  CHECK(b.counter("nested_timeouts") == 1);
  CHECK(b.counter("calls") == 2);
}

TEST_CASE("a request that is answered at once waits for no result", "[lauberhorn]") {
  Bench b({[&](Bench& at, LineHart& h) {
             Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
             const std::uint32_t request = take_call(at, line, tx);
             call_service(tx, request, {1, 2, 3, 4});
             line.reply(LAUB_REPLY, 0);
             line.next();
             CHECK(line.wait() == -1);
           },
           [&](Bench& at, LineHart& h) {
             Side line = at.user(h, 2);
             REQUIRE(line.wait() == LAUB_CALL);
             h.at(h.runner.time() + 10_us);
             line.reply(LAUB_REPLY, line.length());
             line.next();
             rest(line);
           }});
  CHECK(b.station.replies.size() == 1);
  CHECK(b.counter("late_results") == 1);
}

TEST_CASE("the end of a process answers what it has kept, and results that come then go nowhere", "[lauberhorn]") {
  for (const bool queued : {false, true}) {
    CAPTURE(queued);
    bool done = false;
    Bench b({[&](Bench& at, LineHart& h) {
               Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
               const std::uint32_t request = take_call(at, line, tx);
               call_service(tx, request, {1, 2, 3, 4});
               line.reply(LAUB_KEPT, 0);
               line.next();
               CHECK(line.wait() == LAUB_YIELDNOW);
               at.set(LAUB_LOST, 1u << 16 | LAUB_LOST_KEPT);
               at.add_process(1, 2);
               line.next();
               CHECK(line.wait() == -1);
               done = true;
             },
             [&](Bench& at, LineHart& h) {
               Side line = at.user(h, 2);
               REQUIRE(line.wait() == LAUB_CALL);
               at.add_process(1, 0);  // it has ended
               if (!queued) h.at(h.runner.time() + 15_us);
               line.reply(LAUB_REPLY, line.length());
               line.next();
               rest(line);
             }});
    REQUIRE(done);
    CHECK(b.counter("lost") == 1);
    CHECK(b.counter("late_results") == 1);
    REQUIRE(b.station.replies.size() == 1);
    CHECK(b.station.replies[0].accept_stat == RPCE_SYSTEM_ERR);
  }
}

TEST_CASE("a thousand handlers wait for results at a time", "[lauberhorn]") {
  constexpr unsigned kMany = 1000;
  unsigned continued = 0;
  Bench b(
      {[&](Bench& at, LineHart& h) {
         Side line = at.user(h, 1), tx = at.user(h, 1, LAUB_TX);
         at.add_process(2, 1);  // one core, which it has
         at.set(LAUB_RUNS(1), 2);
         tx.wait();
         for (unsigned n = 0; n < kMany; ++n) {
           at.send(call(n, 0));
           REQUIRE(line.wait() == LAUB_CALL);
           REQUIRE(call_service(tx, request_in(line), {static_cast<std::uint8_t>(n), 2, 3, 4}) == 0);
           line.reply(LAUB_KEPT, 0);
           line.next();
         }
         while (continued < kMany) {
           if (const int type = line.wait(); type != -1) {
             REQUIRE(type == LAUB_CONTINUE);
             ++continued;
             line.reply(LAUB_REPLY, 0);
           }
           line.next();
         }
         rest(line);
       },
       [&](Bench& at, LineHart& h) {
         Side line = at.user(h, 2);
         while (at.counter("nested_calls") < kMany) h.at(h.runner.time() + 10_us);
         for (unsigned n = 0; n < kMany; ++n) serve(line);
         rest(line);
       }},
      [](nic::LauberhornParameters& p) {
        p.continuations = kMany;
        p.sessions = 2 * kMany;
        p.queue = kMany;
        p.rx_buffer = 4_MiB;
        p.call_timeout = 100_ms;
      },
      20_ms);
  CHECK(continued == kMany);
  CHECK(b.station.replies.size() == kMany);
  CHECK(b.counter("late_results") == 0);
}
