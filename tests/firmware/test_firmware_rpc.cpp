// SPDX-License-Identifier: Apache-2.0
// ONC RPC, the portmapper and the services of the firmware, message by message.
#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include "tests/firmware/protocol_bench.h"

using namespace sluice::firmware_test;

namespace {

/// A call with the parts that a test wants different.
struct Call {
  uint32_t program = RPC_PROGRAM_CALC, version = 1, procedure = 0;
  Bytes args = {};
  uint32_t rpc_version = 2, type = 0;
  Bytes credential = Writer().u32(0).u32(0);
  Bytes verifier = Writer().u32(0).u32(0);
  uint32_t port = RPC_PORT_SERVICES;

  Bytes message() const {
    Writer w;
    w.u32(0xdecade).u32(type).u32(rpc_version).u32(program).u32(version).u32(procedure);
    return w.bytes(credential).bytes(verifier).bytes(args);
  }
  Bytes frame() const { return udp(message(), {.destination = port}); }
};

Call portmapper(uint32_t procedure, const Bytes& args = {}) {
  return {.program = RPC_PROGRAM_PORTMAPPER, .version = 2, .procedure = procedure, .args = args, .port = 111};
}

Bytes reply_to(ProtocolBench& bench, const Call& call) { return udp_payload(bench.exchange(call.frame())); }

/// Results of a call that must succeed.
Bytes result_of(ProtocolBench& bench, const Call& call) {
  Bytes reply = reply_to(bench, call);
  REQUIRE(reply.size() >= RPC_REPLY_HEADER_BYTES);
  Writer header;
  header.u32(0xdecade).u32(1).u32(0).u32(0).u32(0).u32(0);
  REQUIRE(Bytes(reply.begin(), reply.begin() + RPC_REPLY_HEADER_BYTES) == header.done());
  return Bytes(reply.begin() + RPC_REPLY_HEADER_BYTES, reply.end());
}

Bytes accepted(uint32_t stat, const Bytes& rest = {}) {
  return Writer().u32(0xdecade).u32(1).u32(0).u32(0).u32(0).u32(stat).bytes(rest);
}
Bytes denied(uint32_t stat, const Bytes& rest) { return Writer().u32(0xdecade).u32(1).u32(1).u32(stat).bytes(rest); }

Bytes auth_sys(uint32_t name_length = 4, uint32_t gids = 1, uint32_t extra = 0) {
  Writer body;
  body.u32(1).opaque(Bytes(name_length, 'h')).u32(0).u32(0).u32(gids);
  for (uint32_t i = 0; i < gids; i++) body.u32(i);
  for (uint32_t i = 0; i < extra; i++) body.u32(0);
  return Writer().u32(1).opaque(body);
}

}  // namespace

TEST_CASE("the NULL procedure of every program answers", "[firmware]") {
  for (bool offload : {false, true}) {
    ProtocolBench bench(offload);
    if (offload) {
      CHECK_FALSE(bench.exchange(Call{}.frame(), NIC_FRAME_CHECKED).empty());
      continue;
    }
    CHECK(result_of(bench, {.program = RPC_PROGRAM_CALC}).empty());
    CHECK(result_of(bench, {.program = RPC_PROGRAM_ECHO}).empty());
    CHECK(result_of(bench, {.program = RPC_PROGRAM_KV}).empty());
    CHECK(result_of(bench, portmapper(PORTMAPPER_NULL)).empty());
    CHECK(bench.port().counters.calls == 4);
  }
}

TEST_CASE("another RPC version is denied with the range", "[firmware]") {
  ProtocolBench bench;
  for (uint32_t version : {0u, 1u, 3u, 0xffffffffu}) {
    CHECK(reply_to(bench, {.rpc_version = version}) == denied(RPC_MISMATCH, Writer().u32(2).u32(2)));
  }
  // Such a message needs nothing behind its RPC version.
  Bytes shortest = Writer().u32(0xdecade).u32(0).u32(3);
  CHECK(udp_payload(bench.exchange(udp(shortest))) == denied(RPC_MISMATCH, Writer().u32(2).u32(2)));
}

TEST_CASE("credentials: none and AUTH_SYS are taken, others refused with the reason", "[firmware]") {
  ProtocolBench bench;
  auto error = [](uint32_t stat) { return denied(RPC_AUTH_ERROR, Writer().u32(stat)); };
  CHECK(result_of(bench, {.credential = auth_sys()}).empty());
  CHECK(result_of(bench, {.credential = auth_sys(255, 16)}).empty());
  CHECK(reply_to(bench, {.credential = auth_sys(256)}) == error(RPC_AUTH_BADCRED));
  CHECK(reply_to(bench, {.credential = auth_sys(4, 17)}) == error(RPC_AUTH_BADCRED));
  CHECK(reply_to(bench, {.credential = auth_sys(4, 1, 1)}) == error(RPC_AUTH_BADCRED));
  CHECK(reply_to(bench, {.credential = Writer().u32(1).u32(0)}) == error(RPC_AUTH_BADCRED));
  CHECK(reply_to(bench, {.credential = Writer().u32(3).u32(4).u32(0)}) == error(RPC_AUTH_REJECTEDCRED));
  CHECK(reply_to(bench, {.credential = Writer().u32(0).opaque(Bytes(404))}) == error(RPC_AUTH_BADCRED));
  CHECK(reply_to(bench, {.verifier = Writer().u32(1).u32(4).u32(0)}) == error(RPC_AUTH_REJECTEDVERF));
  CHECK(reply_to(bench, {.verifier = Writer().u32(0).opaque(Bytes(404))}) == error(RPC_AUTH_BADVERF));
  CHECK(bench.port().counters.refused == 8);
}

TEST_CASE("unknown program, version and procedure are told apart", "[firmware]") {
  ProtocolBench bench;
  CHECK(reply_to(bench, {.program = 0x20000000}) == accepted(RPC_PROG_UNAVAIL));
  CHECK(reply_to(bench, {.program = RPC_PROGRAM_KV + 1}) == accepted(RPC_PROG_UNAVAIL));
  CHECK(reply_to(bench, {.program = RPC_PROGRAM_CALC, .port = 111}) == accepted(RPC_PROG_UNAVAIL));
  CHECK(reply_to(bench, {.program = RPC_PROGRAM_PORTMAPPER, .version = 2}) == accepted(RPC_PROG_UNAVAIL));
  for (uint32_t version : {0u, 2u}) {
    CHECK(reply_to(bench, {.version = version}) == accepted(RPC_PROG_MISMATCH, Writer().u32(1).u32(1)));
  }
  CHECK(reply_to(bench, {.procedure = CALC_SPIN + 1}) == accepted(RPC_PROC_UNAVAIL));
  CHECK(reply_to(bench, {.procedure = 0xffffffff}) == accepted(RPC_PROC_UNAVAIL));
}

TEST_CASE("messages that are no call are dropped and counted", "[firmware]") {
  ProtocolBench bench;
  CHECK(bench.exchange(Call{.type = 1}.frame()).empty());
  Bytes message = Call{}.message();
  for (size_t n = 0; n < message.size(); n++) {
    CHECK(bench.exchange(udp(Bytes(message.begin(), message.begin() + static_cast<long>(n)))).empty());
  }
  CHECK(bench.exchange(Call{.credential = Writer().u32(1).u32(396)}.frame()).empty());
  CHECK(bench.exchange(Call{.verifier = Writer().u32(0).u32(4)}.frame()).empty());
  CHECK(bench.port().counters.malformed == 3 + message.size());
  CHECK(bench.exchange(Call{.port = 112}.frame()).empty());
  CHECK(bench.port().counters.no_port == 1);
}

TEST_CASE("calc adds modulo 2^32", "[firmware]") {
  ProtocolBench bench;
  auto add = [&](uint32_t a, uint32_t b) {
    return get32(result_of(bench, {.procedure = CALC_ADD, .args = Writer().u32(a).u32(b)}), 0);
  };
  CHECK(add(2, 3) == 5);
  CHECK(add(0xffffffff, 2) == 1);
  CHECK(reply_to(bench, {.procedure = CALC_ADD, .args = Writer().u32(1)}) == accepted(RPC_GARBAGE_ARGS));
}

TEST_CASE("calc computes Adler-32", "[firmware]") {
  ProtocolBench bench;
  auto checksum = [&](const Bytes& data) {
    return get32(result_of(bench, {.procedure = CALC_CHECKSUM, .args = Writer().opaque(data)}), 0);
  };
  CHECK(checksum({}) == 1);
  CHECK(checksum(text("Wikipedia")) == 0x11e60398);
  CHECK(checksum(Bytes(1400, 0xff)) == 0xca3472d4);
  CHECK(reply_to(bench, {.procedure = CALC_CHECKSUM, .args = Writer().u32(5).u32(0)}) == accepted(RPC_GARBAGE_ARGS));
  CHECK(reply_to(bench, {.procedure = CALC_CHECKSUM, .args = Writer().u32(0xffffffff).u32(0)}) ==
        accepted(RPC_GARBAGE_ARGS));
}

TEST_CASE("calc answers a spin with nothing", "[firmware]") {
  ProtocolBench bench;
  CHECK(result_of(bench, {.procedure = CALC_SPIN, .args = Writer().u32(1000)}).empty());
  CHECK(reply_to(bench, {.procedure = CALC_SPIN, .args = {}}) == accepted(RPC_GARBAGE_ARGS));
}

TEST_CASE("calc sorts signed integers of every count", "[firmware]") {
  ProtocolBench bench;
  std::mt19937 random(2);
  for (uint32_t n : {0u, 1u, 2u, 3u, 17u, 100u, 350u}) {
    std::vector<int32_t> values(n);
    for (auto& v : values) v = static_cast<int32_t>(random()) >> random() % 28;
    Writer args, expected;
    args.u32(n);
    for (int32_t v : values) args.u32(static_cast<uint32_t>(v));
    std::sort(values.begin(), values.end());
    expected.u32(n);
    for (int32_t v : values) expected.u32(static_cast<uint32_t>(v));
    CHECK(result_of(bench, {.procedure = CALC_SORT, .args = args}) == expected.done());
  }
  for (uint32_t n : {2u, 0x40000001u, 0xffffffffu}) {
    CHECK(reply_to(bench, {.procedure = CALC_SORT, .args = Writer().u32(n).u32(7)}) == accepted(RPC_GARBAGE_ARGS));
  }
}

TEST_CASE("echo returns its bytes up to one frame, in every alignment", "[firmware]") {
  ProtocolBench bench;
  for (size_t n : {0u, 1u, 2u, 3u, 4u, 64u, 1427u, 1428u}) {
    Bytes data(n);
    for (size_t i = 0; i < n; i++) data[i] = static_cast<uint8_t>(i * 11 + 1);
    Call call{.program = RPC_PROGRAM_ECHO, .procedure = ECHO_ECHO, .args = Writer().opaque(data)};
    CHECK(result_of(bench, call) == call.args);
  }
  Call with_credential{.program = RPC_PROGRAM_ECHO,
                       .procedure = ECHO_ECHO,
                       .args = Writer().opaque(text("hello")),
                       .credential = auth_sys(200, 16)};
  CHECK(result_of(bench, with_credential) == with_credential.args);
  Call garbage{.program = RPC_PROGRAM_ECHO, .procedure = ECHO_ECHO, .args = Writer().u32(5).u32(0)};
  CHECK(reply_to(bench, garbage) == accepted(RPC_GARBAGE_ARGS));
}

TEST_CASE("kv stores, replaces and finds", "[firmware]") {
  ProtocolBench bench;
  auto put = [&](const std::string& key, const Bytes& value) {
    Writer args;
    args.opaque(text(key)).opaque(value);
    return get32(result_of(bench, {.program = RPC_PROGRAM_KV, .procedure = KV_PUT, .args = args}), 0);
  };
  auto get = [&](const std::string& key) {
    return result_of(bench, {.program = RPC_PROGRAM_KV, .procedure = KV_GET, .args = Writer().opaque(text(key))});
  };
  CHECK(get("kv-none") == Bytes(Writer().u32(KV_NOT_FOUND)));
  CHECK(put("kv-a", text("one")) == KV_OK);
  CHECK(put("kv-b", text("two!")) == KV_OK);
  CHECK(get("kv-a") == Bytes(Writer().u32(KV_OK).opaque(text("one"))));
  CHECK(put("kv-a", Bytes(KV_VALUE_MAX, 9)) == KV_OK);
  CHECK(get("kv-a") == Bytes(Writer().u32(KV_OK).opaque(Bytes(KV_VALUE_MAX, 9))));
  CHECK(get("kv-b") == Bytes(Writer().u32(KV_OK).opaque(text("two!"))));
  CHECK(put(std::string(KV_KEY_MAX, 'k'), {}) == KV_OK);
  CHECK(get(std::string(KV_KEY_MAX, 'k')) == Bytes(Writer().u32(KV_OK).u32(0)));
  CHECK(get(std::string(KV_KEY_MAX - 1, 'k')) == Bytes(Writer().u32(KV_NOT_FOUND)));

  Call long_key{.program = RPC_PROGRAM_KV, .procedure = KV_GET, .args = Writer().opaque(Bytes(KV_KEY_MAX + 1, 'k'))};
  CHECK(reply_to(bench, long_key) == accepted(RPC_GARBAGE_ARGS));
  Call no_value{.program = RPC_PROGRAM_KV, .procedure = KV_PUT, .args = Writer().opaque(text("kv-a"))};
  CHECK(reply_to(bench, no_value) == accepted(RPC_GARBAGE_ARGS));
}

TEST_CASE("kv holds some thousand keys, and says so when a bucket is full", "[firmware]") {
  ProtocolBench bench;
  uint32_t stored = 0, full = 0;
  for (uint32_t i = 0; i < 60000; i++) {
    Bytes key = Writer().u32(i);
    Writer args;
    args.opaque(key).opaque(key);
    uint32_t status = get32(result_of(bench, {.program = RPC_PROGRAM_KV, .procedure = KV_PUT, .args = args}), 0);
    (status == KV_OK ? stored : full)++;
    if (i == 5000) CHECK(full == 0);
  }
  CHECK(stored <= KV_BUCKETS * KV_BUCKET_ENTRIES);
  CHECK(stored > KV_BUCKETS * KV_BUCKET_ENTRIES * 9 / 10);
  Bytes key = Writer().u32(77);
  CHECK(result_of(bench, {.program = RPC_PROGRAM_KV, .procedure = KV_GET, .args = Writer().opaque(key)}) ==
        Bytes(Writer().u32(KV_OK).opaque(key)));
}

TEST_CASE("the portmapper answers versions 3 and 4 with its range", "[firmware]") {
  ProtocolBench bench;
  for (uint32_t version : {0u, 3u, 4u}) {
    Call call = portmapper(3);
    call.version = version;
    CHECK(reply_to(bench, call) == accepted(RPC_PROG_MISMATCH, Writer().u32(2).u32(2)));
  }
}

TEST_CASE("GETPORT and DUMP tell where the services are", "[firmware]") {
  ProtocolBench bench;
  auto port = [&](uint32_t program, uint32_t version, uint32_t protocol) {
    Writer args;
    args.u32(program).u32(version).u32(protocol).u32(0);
    return get32(result_of(bench, portmapper(PORTMAPPER_GETPORT, args)), 0);
  };
  CHECK(port(RPC_PROGRAM_CALC, 1, 17) == RPC_PORT_SERVICES);
  CHECK(port(RPC_PROGRAM_KV, 9, 17) == RPC_PORT_SERVICES);  // its server will say PROG_MISMATCH
  CHECK(port(RPC_PROGRAM_PORTMAPPER, 2, 17) == 111);
  CHECK(port(RPC_PROGRAM_CALC, 1, 6) == 0);
  CHECK(port(100003, 3, 17) == 0);
  CHECK(port(0, 0, 0) == 0);
  CHECK(reply_to(bench, portmapper(PORTMAPPER_GETPORT, Bytes(12))) == accepted(RPC_GARBAGE_ARGS));

  Bytes dump = result_of(bench, portmapper(PORTMAPPER_DUMP));
  CHECK(dump.size() == 5 * 20 + 4);
  CHECK(get32(dump, 0) == 1);
  CHECK(get32(dump, 4) == RPC_PROGRAM_PORTMAPPER);
  CHECK(get32(dump, 100) == 0);
  CHECK(reply_to(bench, portmapper(6)) == accepted(RPC_PROC_UNAVAIL));
}

TEST_CASE("SET and UNSET manage mappings, but not the built-in ones", "[firmware]") {
  ProtocolBench bench;
  auto change = [&](uint32_t procedure, uint32_t program, uint32_t port) {
    Writer args;
    args.u32(program).u32(1).u32(17).u32(port);
    return get32(result_of(bench, portmapper(procedure, args)), 0);
  };
  CHECK(change(PORTMAPPER_SET, 0x20001000, 900) == 1);
  CHECK(change(PORTMAPPER_SET, 0x20001000, 901) == 0);
  CHECK(change(PORTMAPPER_GETPORT, 0x20001000, 0) == 900);
  CHECK(change(PORTMAPPER_UNSET, 0x20001000, 0) == 1);
  CHECK(change(PORTMAPPER_UNSET, 0x20001000, 0) == 0);
  CHECK(change(PORTMAPPER_GETPORT, 0x20001000, 0) == 0);
  CHECK(change(PORTMAPPER_UNSET, RPC_PROGRAM_CALC, 0) == 0);
  CHECK(change(PORTMAPPER_UNSET, 0, 0) == 0);
  CHECK(change(PORTMAPPER_SET, 0, 900) == 0);
  for (uint32_t i = 0; i < 16; i++) CHECK(change(PORTMAPPER_SET, 0x20002000 + i, 900) == 1);
  CHECK(change(PORTMAPPER_SET, 0x20003000, 900) == 0);
  CHECK(result_of(bench, portmapper(PORTMAPPER_DUMP)).size() == 21 * 20 + 4);
  for (uint32_t i = 0; i < 16; i++) CHECK(change(PORTMAPPER_UNSET, 0x20002000 + i, 0) == 1);
}

TEST_CASE("CALLIT calls a service and keeps silent about errors", "[firmware]") {
  ProtocolBench bench;
  auto callit = [](uint32_t program, uint32_t procedure, const Bytes& args) {
    return portmapper(PORTMAPPER_CALLIT, Writer().u32(program).u32(1).u32(procedure).opaque(args));
  };
  Bytes sum = result_of(bench, callit(RPC_PROGRAM_CALC, CALC_ADD, Writer().u32(20).u32(22)));
  CHECK(sum == Bytes(Writer().u32(RPC_PORT_SERVICES).opaque(Writer().u32(42))));
  Bytes inner = Writer().opaque(text("hello there"));
  CHECK(result_of(bench, callit(RPC_PROGRAM_ECHO, ECHO_ECHO, inner)) ==
        Bytes(Writer().u32(RPC_PORT_SERVICES).opaque(inner)));
  CHECK(bench.exchange(callit(RPC_PROGRAM_CALC, CALC_ADD, Bytes(4)).frame()).empty());
  CHECK(bench.exchange(callit(RPC_PROGRAM_CALC, 9, {}).frame()).empty());
  CHECK(bench.exchange(callit(0x20000099, 0, {}).frame()).empty());
  CHECK(bench.exchange(callit(RPC_PROGRAM_PORTMAPPER, PORTMAPPER_DUMP, {}).frame()).empty());
  CHECK(bench.exchange(portmapper(PORTMAPPER_CALLIT, Bytes(8)).frame()).empty());
  CHECK(bench.exchange(portmapper(PORTMAPPER_CALLIT, Writer().u32(RPC_PROGRAM_CALC).u32(1).u32(1).u32(99)).frame())
            .empty());
}
