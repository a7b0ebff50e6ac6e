#include "models/net/calls.h"

#include <algorithm>
#include <cstring>

#include "firmware/rpc/programs.h"
#include "models/net/frame.h"
#include "models/net/rpc.h"

namespace sluice::net {

namespace {

constexpr std::uint32_t kKeyBytes = 16;

std::uint32_t padded(std::uint32_t bytes) { return (bytes + 3u) & ~3u; }

/// Word i of the data that follow from a seed: SplitMix64's output function over a counter.
std::uint64_t data_word(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void put_data(std::uint8_t* out, std::uint64_t seed, std::uint32_t bytes) {
  std::uint32_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    const std::uint64_t w = data_word(seed, at / 8);
    std::memcpy(out + at, &w, 8);
  }
  if (at == bytes) return;
  const std::uint64_t w = data_word(seed, at / 8);
  std::memcpy(out + at, &w, bytes - at);
}

bool is_data(const std::uint8_t* bytes, std::uint64_t seed, std::uint32_t length) {
  std::uint64_t difference = 0;
  std::uint32_t at = 0;
  for (; at + 8 <= length; at += 8) {
    std::uint64_t w;
    std::memcpy(&w, bytes + at, 8);
    difference |= w ^ data_word(seed, at / 8);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes + at, length - at);
  if (length > at) difference |= rest ^ (data_word(seed, at / 8) & ((std::uint64_t{1} << 8 * (length - at)) - 1));
  return difference == 0;
}

/// An XDR opaque of data: length, bytes, zeros up to a multiple of 4. Returns its size.
std::uint32_t put_opaque(std::uint8_t* out, std::uint64_t seed, std::uint32_t bytes) {
  store32(out, bytes);
  std::memset(out + 4 + (bytes & ~3u), 0, padded(bytes) - (bytes & ~3u));
  put_data(out + 4, seed, bytes);
  return 4 + padded(bytes);
}

std::uint32_t adler32(std::uint64_t seed, std::uint32_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  put_data(data.data(), seed, bytes);
  std::uint32_t a = 1, b = 0;
  for (const std::uint8_t byte : data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

std::uint64_t value_seed(std::uint32_t key) { return 0x6b65790000000000u + key; }

struct Target {
  std::uint32_t program, version, procedure;
};

Target target_of(Procedure p, bool put) {
  switch (p) {
    case Procedure::add:
      return {RPC_PROGRAM_CALC, CALC_VERSION, CALC_ADD};
    case Procedure::checksum:
      return {RPC_PROGRAM_CALC, CALC_VERSION, CALC_CHECKSUM};
    case Procedure::sort:
      return {RPC_PROGRAM_CALC, CALC_VERSION, CALC_SORT};
    case Procedure::kv:
      return {RPC_PROGRAM_KV, KV_VERSION, put ? KV_PUT : KV_GET};
    case Procedure::echo:
      return {RPC_PROGRAM_ECHO, ECHO_VERSION, ECHO_ECHO};
    default:
      return {RPC_PROGRAM_ECHO, ECHO_VERSION, ECHO_NULL};
  }
}

}  // namespace

void CallParameters::describe(base::Schema<CallParameters>& s) {
  s.summary("what the calls ask for");
  s.add("program", &CallParameters::program, "null, echo, add, checksum, sort, kv; raw: UDP payload that comes back")
      .choices({{"null", Procedure::null},
                {"echo", Procedure::echo},
                {"add", Procedure::add},
                {"checksum", Procedure::checksum},
                {"sort", Procedure::sort},
                {"kv", Procedure::kv},
                {"raw", Procedure::raw}})
      .setting();
  s.add("bytes", &CallParameters::bytes, "data in a call: opaque of echo and checksum, integers of sort, value of kv")
      .range(0, 9600)
      .unit("bytes")
      .setting();
  s.add("keys", &CallParameters::keys, "kv: different keys").range(1, 65536).unit("keys").setting();
  s.add("reads_percent", &CallParameters::reads_percent, "kv: gets among the calls to keys that have been put")
      .range(0, 100)
      .unit("%")
      .setting();
  s.rule("bytes", [](const CallParameters& p) -> std::string {
    if (p.program == Procedure::sort && p.bytes % 4) return "must be a multiple of 4 for sort";
    if (p.program == Procedure::kv && p.bytes > KV_VALUE_MAX)
      return "must be at most " + std::to_string(KV_VALUE_MAX) + " for kv";
    if (p.program == Procedure::raw && p.bytes < 4) return "must be at least 4 for raw: they hold the request's number";
    return {};
  });
}

std::uint32_t CallParameters::largest_message() const {
  switch (program) {
    case Procedure::null:
      return RPC_CALL_HEADER_BYTES;
    case Procedure::add:
      return RPC_CALL_HEADER_BYTES + 8;
    case Procedure::kv:
      return RPC_CALL_HEADER_BYTES + 4 + kKeyBytes + 4 + padded(bytes);
    case Procedure::raw:
      return bytes;
    default:
      return RPC_CALL_HEADER_BYTES + 4 + padded(bytes);
  }
}

std::uint32_t CallParameters::smallest_call() const {
  return program == Procedure::kv ? RPC_CALL_HEADER_BYTES + 4 + kKeyBytes : largest_message();
}

CallMaker::CallMaker(const CallParameters& p, base::RandomSeed seed, std::string_view path)
    : parameters_(p), random_(seed, path, "calls"), stored_(p.keys) {}

Call CallMaker::next() {
  Call call;
  if (parameters_.program == Procedure::kv) {
    call.key = static_cast<std::uint32_t>(random_.below(parameters_.keys));
    call.put = !stored_[call.key] || !random_.chance(parameters_.reads_percent, 100);
  } else if (parameters_.program != Procedure::null) {
    call.seed = random_.next();
  }
  return call;
}

std::uint32_t CallMaker::encode(const Call& call, std::uint32_t xid, std::uint8_t* out) const {
  const Procedure p = parameters_.program;
  if (p == Procedure::raw) {
    put_data(out, call.seed, parameters_.bytes);
    store32(out, xid);
    return parameters_.bytes;
  }
  const Target t = target_of(p, call.put);
  put_call_header(out, xid, t.program, t.version, t.procedure);
  std::uint8_t* arguments = out + RPC_CALL_HEADER_BYTES;
  switch (p) {
    case Procedure::add:
      store32(arguments, static_cast<std::uint32_t>(call.seed));
      store32(arguments + 4, static_cast<std::uint32_t>(call.seed >> 32));
      return RPC_CALL_HEADER_BYTES + 8;
    case Procedure::sort:
      store32(arguments, parameters_.bytes / 4);
      put_data(arguments + 4, call.seed, parameters_.bytes);
      return RPC_CALL_HEADER_BYTES + 4 + parameters_.bytes;
    case Procedure::kv: {
      std::uint32_t length = put_opaque(arguments, ~value_seed(call.key), kKeyBytes);
      if (call.put) length += put_opaque(arguments + length, value_seed(call.key), parameters_.bytes);
      return RPC_CALL_HEADER_BYTES + length;
    }
    case Procedure::echo:
    case Procedure::checksum:
      return RPC_CALL_HEADER_BYTES + put_opaque(arguments, call.seed, parameters_.bytes);
    default:
      return RPC_CALL_HEADER_BYTES;
  }
}

std::uint32_t CallMaker::xid_of(const std::uint8_t* payload, std::size_t length) {
  return length >= 4 ? load32(payload) : 0;
}

const char* CallMaker::check(const Call& call, std::uint32_t xid, const std::uint8_t* payload,
                             std::size_t length) const {
  if (parameters_.program == Procedure::raw) {
    if (length != parameters_.bytes) return "payload has another length";
    std::uint64_t first = 0;
    put_data(reinterpret_cast<std::uint8_t*>(&first), call.seed, std::min<std::uint32_t>(8, parameters_.bytes));
    store32(reinterpret_cast<std::uint8_t*>(&first), xid);
    if (std::memcmp(payload, &first, std::min<std::size_t>(8, length)) != 0) return "payload differs";
    for (std::size_t at = 8; at < length; at += 8) {
      const std::uint64_t w = data_word(call.seed, at / 8);
      if (std::memcmp(payload + at, &w, std::min<std::size_t>(8, length - at)) != 0) return "payload differs";
    }
    return nullptr;
  }
  ReplyView reply;
  if (const char* wrong = parse_reply(payload, length, reply)) return wrong;
  if (reply.xid != xid) return "xid is another call's";
  if (reply.verifier_flavor != RPC_AUTH_NONE || reply.verifier_length != 0) return "verifier is not AUTH_NONE";
  if (const char* wrong = reply_failure(reply)) return wrong;
  switch (parameters_.program) {
    case Procedure::add:
      if (reply.length != 4) return "result has another length";
      return load32(reply.results) ==
                     static_cast<std::uint32_t>(call.seed) + static_cast<std::uint32_t>(call.seed >> 32)
                 ? nullptr
                 : "sum is wrong";
    case Procedure::checksum:
      if (reply.length != 4) return "result has another length";
      return load32(reply.results) == adler32(call.seed, parameters_.bytes) ? nullptr : "checksum is wrong";
    case Procedure::sort:
      return check_sorted(call.seed, reply.results, reply.length);
    case Procedure::echo:
      return check_opaque(call.seed, reply.results, reply.length);
    case Procedure::kv:
      return check_kv(call, reply.results, reply.length);
    default:
      return reply.length == 0 ? nullptr : "result has another length";
  }
}

const char* CallMaker::check_opaque(std::uint64_t seed, const std::uint8_t* results, std::size_t length) const {
  const std::uint32_t bytes = parameters_.bytes;
  if (length != 4 + padded(bytes) || load32(results) != bytes) return "result has another length";
  if (!is_data(results + 4, seed, bytes)) return "data differ";
  for (std::size_t at = 4 + bytes; at < length; ++at)
    if (results[at] != 0) return "padding is not zero";
  return nullptr;
}

const char* CallMaker::check_sorted(std::uint64_t seed, const std::uint8_t* results, std::size_t length) const {
  const std::uint32_t n = parameters_.bytes / 4;
  if (length != 4 + 4 * n || load32(results) != n) return "result has another length";
  std::vector<std::uint8_t> data(parameters_.bytes);
  put_data(data.data(), seed, parameters_.bytes);
  std::vector<std::int32_t> values(n);
  for (std::uint32_t i = 0; i < n; ++i) values[i] = static_cast<std::int32_t>(load32(&data[4 * i]));
  std::sort(values.begin(), values.end());
  for (std::uint32_t i = 0; i < n; ++i)
    if (static_cast<std::int32_t>(load32(results + 4 + 4 * i)) != values[i]) return "values are not the sorted ones";
  return nullptr;
}

const char* CallMaker::check_kv(const Call& call, const std::uint8_t* results, std::size_t length) const {
  if (length < 4) return "result has another length";
  const std::uint32_t status = load32(results);
  if (status == KV_FULL) return "the store is full";
  if (status == KV_NOT_FOUND) return "the store has lost a key";
  if (status != KV_OK) return "unknown kv status";
  if (call.put) return length == 4 ? nullptr : "result has another length";
  return check_opaque(value_seed(call.key), results + 4, length - 4);
}

void CallMaker::answered(const Call& call) {
  if (call.put) stored_[call.key] = true;
}

}  // namespace sluice::net
