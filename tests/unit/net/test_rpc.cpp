// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/net/frame.h"
#include "models/net/traffic/calls.h"
#include "models/net/traffic/rpc.h"
#include "protocols/rpc/onc_rpc.h"
#include "tests/unit/net/rpc_server.h"

using namespace sluice;
using namespace sluice::net;
using test::RpcServer;

namespace {

std::string encoded(const CallMaker& maker, const Call& call, std::uint32_t xid) {
  std::vector<std::uint8_t> buffer(16384, 0xaa);
  const std::uint32_t length = maker.encode(call, xid, buffer.data());
  return {reinterpret_cast<const char*>(buffer.data()), length};
}

std::string verdict(const CallMaker& maker, const Call& call, std::uint32_t xid, const std::string& reply) {
  const std::vector<std::uint8_t> exact(reply.begin(), reply.end());
  const char* wrong = maker.check(call, xid, exact.data(), exact.size());
  return wrong ? wrong : "right";
}

const std::pair<const char*, std::uint32_t> kKinds[] = {
    {"null", 0},  {"echo", 0}, {"echo", 1}, {"echo", 64}, {"echo", 71}, {"add", 0}, {"checksum", 100}, {"checksum", 3},
    {"sort", 80}, {"sort", 0}, {"spin", 4}, {"kv", 37},   {"kv", 0},    {"raw", 4}, {"raw", 18},       {"raw", 64}};

}  // namespace

TEST_CASE("a call's header is RFC 5531's", "[rpc]") {
  std::uint8_t header[RPC_CALL_HEADER_BYTES];
  put_call_header(header, 0x12345678, 100000, 2, 3);
  const std::uint32_t words[] = {0x12345678, 0, 2, 100000, 2, 3, 0, 0, 0, 0};
  for (unsigned i = 0; i < 10; ++i) REQUIRE(load32(header + 4 * i) == words[i]);
  CallView view;
  REQUIRE(parse_call(header, sizeof header, view) == nullptr);
  REQUIRE(view.procedure == 3);
  REQUIRE(view.length == 0);
}

namespace {

/// Nanoseconds that calls of spin ask for.
std::vector<double> service_times(const CallParameters& p, unsigned calls) {
  std::vector<double> times;
  CallMaker maker(p, {1, 0}, "test.rpc");
  for (std::uint32_t xid = 1; xid <= calls; ++xid) {
    const std::string message = encoded(maker, maker.next(), xid);
    times.push_back(RpcServer::read(message, RPC_CALL_HEADER_BYTES));
  }
  return times;
}

}  // namespace

TEST_CASE("service times have the distribution that was asked for", "[rpc]") {
  CallParameters p{.program = "spin", .service = base::Time::ns(2'500), .service_times = ServiceTimes::constant};
  for (const double t : service_times(p, 100)) REQUIRE(t == 2'500);

  constexpr unsigned kCalls = 40'000;
  p.service_times = ServiceTimes::exponential;
  double sum = 0, squares = 0;
  for (const double t : service_times(p, kCalls)) sum += t, squares += t * t;
  const double mean = sum / kCalls, deviation = std::sqrt(squares / kCalls - mean * mean);
  CHECK(std::abs(mean - 2'500) < 4 * 2'500 / std::sqrt(kCalls));
  CHECK(std::abs(deviation / mean - 1) < 0.03);

  p.service_times = ServiceTimes::bimodal;
  p.service_long = base::Time::ns(90'000);
  p.service_long_share = base::Ratio(1, 10);
  unsigned longer = 0;
  for (const double t : service_times(p, kCalls)) {
    REQUIRE((t == 2'500 || t == 90'000));
    longer += t == 90'000;
  }
  CHECK(std::abs(longer - 0.1 * kCalls) < 4 * std::sqrt(0.1 * 0.9 * kCalls));

  // The longest that the parameters allow fits what a call carries.
  p.service_times = ServiceTimes::exponential;
  p.service = base::Time::ns(50'000'000);
  for (const double t : service_times(p, kCalls)) REQUIRE(t < 44.4 * 50'000'000);
}

TEST_CASE("a reply is right to the last byte or wrong", "[rpc]") {
  for (const auto& [kind, bytes] : kKinds) {
    CAPTURE(kind, bytes);
    RpcServer server;
    CallMaker maker({kind, bytes, 4, 50}, {1, 0}, "test.rpc");
    for (std::uint32_t xid = 1; xid < 12; ++xid) {
      const Call call = maker.next();
      const std::string message = encoded(maker, call, xid);
      REQUIRE(message.size() <= CallParameters{kind, bytes, 4, 50}.calls()->largest_message());
      REQUIRE(CallMaker::xid_of(RpcServer::bytes(message), message.size()) == xid);
      const std::string reply = kind == std::string("raw") ? message : server.answer(message);
      REQUIRE(verdict(maker, call, xid, reply) == "right");
      REQUIRE(verdict(maker, call, xid + 1, reply) != "right");
      for (std::size_t at = 0; at < reply.size(); ++at) {
        std::string bad = reply;
        bad[at] = static_cast<char>(bad[at] ^ 1 << at % 8);
        REQUIRE(verdict(maker, call, xid, bad) != "right");
        REQUIRE(verdict(maker, call, xid, reply.substr(0, at)) != "right");
      }
      REQUIRE(verdict(maker, call, xid, reply + '\0') != "right");
      maker.answered(call);
    }
  }
}

TEST_CASE("calls differ from each other and repeat with their seed", "[rpc]") {
  CallMaker a({"echo", 16}, {1, 0}, "x"), b({"echo", 16}, {1, 0}, "x"), c({"echo", 16}, {2, 0}, "x");
  const Call first = a.next();
  REQUIRE(encoded(a, first, 1) == encoded(b, b.next(), 1));
  REQUIRE(encoded(a, first, 1) != encoded(a, a.next(), 1));
  REQUIRE(encoded(a, first, 1) != encoded(c, c.next(), 1));
}

TEST_CASE("a key is read only after its put was answered", "[rpc]") {
  RpcServer server;
  CallMaker maker({"kv", 8, 3, 100}, {1, 0}, "test.rpc");
  unsigned puts = 0, gets = 0;
  for (std::uint32_t xid = 1; xid < 100; ++xid) {
    const Call call = maker.next();
    REQUIRE(verdict(maker, call, xid, server.answer(encoded(maker, call, xid))) == "right");
    (call.put ? puts : gets) += 1;
    if (xid >= 10) maker.answered(call);
  }
  REQUIRE(puts == 9 + 3);
  REQUIRE(gets == 99 - puts);
}

TEST_CASE("keys do not depend on when puts are answered, and each instance has its own", "[rpc]") {
  const auto keys = [](bool answer, std::uint32_t instances) {
    CallMaker maker({"kv", 8, 5, 50}, {1, 0}, "test.rpc", instances);
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < 200; ++i) {
      const Call call = maker.next(static_cast<std::uint16_t>(i % instances));
      if (answer) maker.answered(call);
      all.push_back(call.key);
    }
    return all;
  };
  REQUIRE(keys(true, 1) == keys(false, 1));
  REQUIRE(keys(true, 1) == keys(true, 3));

  CallMaker maker({"kv", 8, 1, 100}, {1, 0}, "test.rpc", 2);
  maker.answered(maker.next(0));
  REQUIRE_FALSE(maker.next(0).put);
  REQUIRE(maker.next(1).put);
}

TEST_CASE("an error reply is told by its name", "[rpc]") {
  CallMaker maker({"add"}, {1, 0}, "test.rpc");
  const Call call = maker.next();
  const auto accepted = [](std::uint32_t status) {
    return RpcServer::word(9) + RpcServer::word(1) + std::string(12, '\0') + RpcServer::word(status);
  };
  const auto denied = [](std::uint32_t status) {
    return RpcServer::word(9) + RpcServer::word(1) + RpcServer::word(1) + RpcServer::word(status);
  };
  REQUIRE(verdict(maker, call, 9, accepted(RPC_PROG_UNAVAIL)) == "PROG_UNAVAIL");
  REQUIRE(verdict(maker, call, 9, accepted(RPC_PROG_MISMATCH)) == "PROG_MISMATCH");
  REQUIRE(verdict(maker, call, 9, accepted(RPC_PROC_UNAVAIL)) == "PROC_UNAVAIL");
  REQUIRE(verdict(maker, call, 9, accepted(RPC_GARBAGE_ARGS)) == "GARBAGE_ARGS");
  REQUIRE(verdict(maker, call, 9, accepted(RPC_SYSTEM_ERR)) == "SYSTEM_ERR");
  REQUIRE(verdict(maker, call, 9, accepted(77)) == "unknown accept status");
  REQUIRE(verdict(maker, call, 9, denied(RPC_MISMATCH)) == "RPC_MISMATCH");
  REQUIRE(verdict(maker, call, 9, denied(RPC_AUTH_ERROR)) == "AUTH_ERROR");
  REQUIRE(verdict(maker, call, 9, denied(5)) == "unknown reject status");
  REQUIRE(verdict(maker, call, 9, RpcServer::word(9) + RpcServer::word(0)) == "not an RPC reply");
}

TEST_CASE("random bytes are no message, or one within its bounds", "[rpc]") {
  base::RandomStream random({1, 0}, "test.rpc", "noise");
  for (int i = 0; i < 50'000; ++i) {
    std::vector<std::uint8_t> bytes(random.below(80));
    for (std::size_t at = 0; at < bytes.size(); ++at)
      bytes[at] = static_cast<std::uint8_t>(at % 4 == 3 ? random.below(40) : 0);
    ReplyView reply;
    if (!parse_reply(bytes.data(), bytes.size(), reply))
      REQUIRE(reply.results + reply.length == bytes.data() + bytes.size());
    CallView call;
    if (!parse_call(bytes.data(), bytes.size(), call))
      REQUIRE(call.arguments + call.length == bytes.data() + bytes.size());
  }
}

TEST_CASE("the parameters of calls refuse what the programs do not take", "[rpc]") {
  const auto& schema = base::schema_of<CallParameters>();
  const auto broken = [&](const CallParameters& p) {
    std::string all;
    for (const auto& rule : schema.rules()) all += rule.broken(&p);
    return all;
  };
  REQUIRE(broken({}).empty());
  REQUIRE(broken({"sort", 6}) == "must be a multiple of 4 for sort");
  REQUIRE(broken({"kv", 513}) == "must be at most 512 for kv");
  REQUIRE(broken({"raw", 3}) == "must be at least 4 for raw: they hold the request's number");
}
