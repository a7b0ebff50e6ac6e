// SPDX-License-Identifier: Apache-2.0
// The RPC encoder in RTL against its twin: the same frames, verdicts, counters and cycles; and both against what others
// say of the frames.

#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>

#include <catch2/catch.hpp>

#include "models/net/headers.h"
#include "models/nic/rpc_decoder/decode.h"
#include "models/nic/rpc_encoder/timing.h"
#include "tests/rtl/encoder_bench.h"
#include "tests/rtl/pattern.h"
#include "tests/rtl/rpc_packets.h"

using namespace sluice;
using namespace sluice::nic::rpc;
using test::EncoderBench;
using test::EncoderInput;
using test::EncoderOutput;
using test::RpcFrames;
using test::RpcPacket;
using test::RpcPackets;

namespace {

constexpr std::size_t kReplyHead = 66, kCallHead = 82;
#ifdef SLUICE_CHECKED_RTL
// One in so many of the packets, because it is slow; for the coverage all of them.
const unsigned kShare = std::getenv("SLUICE_RTL_COVERAGE") != nullptr ? 1 : 10;
#else
constexpr unsigned kShare = 1;
#endif
constexpr unsigned kResetsAfter = 8;  // batches: then another encoder goes on, from other values of its registers

bool always(std::uint64_t) { return true; }

std::uint32_t be16(const std::vector<std::uint8_t>& f, std::size_t at) { return std::uint32_t{f[at]} << 8 | f[at + 1]; }
std::uint32_t be32(const std::vector<std::uint8_t>& f, std::size_t at) { return be16(f, at) << 16 | be16(f, at + 2); }

/// Whether a frame is what RFC 894, 791, 768 and 5531 say, by code that the encoder's twin does not have.
void check_frame(const std::vector<std::uint8_t>& f, const Request& r, unsigned verdict, const RpcPacket& packet) {
  REQUIRE(f.size() >= kReplyHead);
  REQUIRE((std::uint64_t{be32(f, 0)} << 16 | be16(f, 4)) == r.peer_mac);
  REQUIRE((std::uint64_t{be32(f, 6)} << 16 | be16(f, 10)) == r.own_mac);
  REQUIRE(be16(f, 12) == 0x0800);
  REQUIRE(be16(f, 14) == 0x4500);
  REQUIRE(be16(f, 16) == f.size() - 14);
  REQUIRE(be32(f, 18) == 0x4000);
  REQUIRE(be16(f, 22) == 64 * 256 + 17);
  REQUIRE(be16(f, 38) == f.size() - 34);
  REQUIRE(be16(f, 40) != 0);
  REQUIRE(net::internet_sum(&f[14], 20) == 0xffff);
  REQUIRE(net::internet_sum(&f[34], f.size() - 34,
                            std::accumulate(&f[26], &f[34], 0u,
                                            [&, i = 0u](std::uint32_t sum, std::uint8_t b) mutable {
                                              return sum + (i++ % 2 == 0 ? b * 256u : b);
                                            }) +
                                17 + static_cast<std::uint32_t>(f.size() - 34)) == 0xffff);
  REQUIRE(be32(f, 26) == r.own_address);
  REQUIRE(be32(f, 30) == r.peer_address);
  REQUIRE(be16(f, 34) == r.own_port);
  REQUIRE(be16(f, 36) == r.peer_port);
  REQUIRE(be32(f, 42) == r.xid);
  if (r.is_call) {
    REQUIRE(verdict == RPCE_CALL);
    const std::array<std::uint32_t, 9> words = {0, 2, r.program, r.version, r.procedure, 0, 0, 0, 0};
    for (std::size_t i = 0; i < words.size(); ++i) REQUIRE(be32(f, 46 + 4 * i) == words[i]);
    if (packet.is_right) REQUIRE(std::vector(f.begin() + kCallHead, f.end()) == packet.xdr);
    return;
  }
  REQUIRE(be32(f, 46) == 1);
  for (std::size_t at = 50; at < 62; at += 4) REQUIRE(be32(f, at) == 0);
  REQUIRE(be32(f, 62) == (verdict == RPCE_REPLY     ? 0
                          : verdict == RPCE_REFUSAL ? r.accept_stat
                                                    : std::uint32_t{RPCE_SYSTEM_ERR}));
  if (verdict == RPCE_REFUSAL && r.accept_stat == RPCE_PROG_MISMATCH) {
    REQUIRE(f.size() == kReplyHead + 8);
    REQUIRE(be32(f, 66) == r.program);
    REQUIRE(be32(f, 70) == r.version);
  } else if (verdict != RPCE_REPLY) {
    REQUIRE(f.size() == kReplyHead);
  } else if (packet.is_right) {
    REQUIRE(std::vector(f.begin() + kReplyHead, f.end()) == packet.xdr);
  }
}

/// The RPC decoder gives the arguments back, little endian.
void check_call(const std::vector<std::uint8_t>& frame, const Request& r, const Schema& schema,
                const RpcPacket& packet) {
  ServiceTable services;
  services.set(0, Service{{r.program, r.version, r.procedure, r.peer_port}, 7, 0x1234, schema.parts});
  Decoded decoded;
  Path path;
  decode(frame, services, decoded, path);
  REQUIRE(decoded.verdict == RPCD_CALL);
  REQUIRE(decoded.source == r.own_address);
  REQUIRE(decoded.source_port == r.own_port);
  REQUIRE(std::vector(decoded.line.begin() + RPCD_LINE_HEAD_BYTES, decoded.line.end()) == packet.little);
}

/// The cycles in which the RTL gives the beats of these packets, all of them the same, one behind the other.
std::vector<std::uint64_t> back_to_back(EncoderBench& bench, const EncoderInput& packet, unsigned count) {
  const EncoderOutput out = bench.run(std::vector(count, packet), count, always, always);
  REQUIRE(out.frames.size() == count);
  std::vector<std::uint64_t> left;
  for (const test::EncoderFrame& f : out.frames) left.insert(left.end(), f.left.begin(), f.left.end());
  return left;
}

}  // namespace

TEST_CASE("the RTL and its twin encode the same, in the same cycles") {
  const unsigned total = test::packets_to_test() / kShare;
  std::optional<EncoderBench> bench;
  SchemaTable table;
  std::array<std::uint32_t, RPCE_VERDICTS> counted{}, seen{};
  unsigned right_replies = 0, right_calls = 0, decoded_calls = 0, right_unions = 0;
  for (unsigned done = 0, batch = 0; done < total; ++batch) {
    INFO("batch " << batch);
    if (batch % kResetsAfter == 0) {
      bench.emplace(1 + batch);
      counted = {};
    }
    RpcPackets source(batch);
    const std::vector<std::optional<Schema>>& schemas = source.schemas();
    for (unsigned i = 0; i < kSchemas; ++i) {
      bench->set(i, schemas[i]);
      table.set(i, schemas[i]);
    }
    std::vector<RpcPacket> packets;
    std::vector<EncoderInput> inputs;
    std::vector<Encoded> encoded;
    std::size_t frames = 0;
    const bool small = source.random().one_in(3);
    while (packets.size() < 200) {
      RpcPacket p = source.packet();
      if (small && p.input.data.size() > 130) continue;
      packets.push_back(p);
      inputs.push_back(p.input);
      encode(p.input.data, p.input.request, table, encoded.emplace_back());
      if (!encoded.back().frame.empty()) ++frames;
    }
    test::Pattern offers(source.random(), source.random().one_in(3), 400),
        ready(source.random(), source.random().one_in(3), 400);
    const EncoderOutput rtl = bench->run(inputs, frames, std::ref(offers), std::ref(ready));
    REQUIRE(rtl.frames.size() == frames);

    EncoderTiming timing(std::ref(ready));
    std::uint64_t next = 0;
    std::size_t frame = 0;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const RpcPacket& p = packets[i];
      const Request& r = p.input.request;
      const Encoded& twin = encoded[i];
      INFO("packet " << i << " of " << p.input.data.size() << " bytes, schema " << +r.schema);
      ++counted[twin.verdict];
      ++seen[twin.verdict];
      if (p.is_right) REQUIRE(twin.verdict == (r.is_call ? RPCE_CALL : RPCE_REPLY));
      if (!twin.frame.empty()) {
        REQUIRE(rtl.frames[frame].verdict == twin.verdict);
        REQUIRE(rtl.frames[frame].bytes == twin.frame);
        check_frame(twin.frame, r, twin.verdict, p);
        if (p.is_right) {
          ++(r.is_call ? right_calls : right_replies);
          if (p.is_union) ++right_unions;
          if (r.is_call && !p.is_union) {
            check_call(twin.frame, r, *schemas[r.schema], p);
            ++decoded_calls;
          }
        }
        ++frame;
      }
      timing.begin(static_cast<std::uint32_t>(p.input.data.size()), static_cast<std::uint32_t>(twin.frame.size()));
      std::vector<std::uint64_t> came;
      for (std::size_t at = 0; at == 0 || at < p.input.data.size(); at += 64) {
        while (!offers(next)) ++next;
        came.push_back(timing.offer(next));
        next = came.back() + 1;
      }
      REQUIRE(rtl.came[i] == came);
    }
    auto left = timing.finish().begin();
    for (std::size_t i = 0; i < frames; ++i) {
      INFO("frame " << i << " of " << rtl.frames[i].bytes.size() << " bytes");
      const std::size_t beats = (rtl.frames[i].bytes.size() + 63) / 64;
      REQUIRE(rtl.frames[i].left == std::vector(left, left + static_cast<std::ptrdiff_t>(beats)));
      left += static_cast<std::ptrdiff_t>(beats);
    }
    REQUIRE(left == timing.finish().end());
    for (unsigned v = 0; v < RPCE_VERDICTS; ++v) REQUIRE(bench->read(RPCE_COUNTERS + 4 * v) == counted[v]);
    done += static_cast<unsigned>(packets.size());
  }
  // Every verdict was among them, and what was checked apart from the twin.
  for (unsigned v = 0; v < RPCE_VERDICTS; ++v) {
    INFO("verdict " << v);
    CHECK(seen[v] > total / 500);
  }
  CHECK(right_replies > total / 10);
  CHECK(right_calls > total / 20);
  CHECK(decoded_calls > total / 20);
  CHECK(right_unions > total / 50);
}

TEST_CASE("frames leave one behind the other when the output takes every beat") {
  EncoderBench bench;
  Schema schema;
  schema.parts[0] = {0, 0, Part::Array::opaque, true, 9212};
  bench.set(0, Schema());
  bench.set(1, schema);
  const auto reply = [](std::uint8_t entry, std::uint32_t bytes) {
    EncoderInput p;
    p.request.schema = entry;
    if (entry == 0) return p;
    p.data.assign(4 + std::size_t{bytes}, 0x33);
    for (unsigned i = 0; i < 4; ++i) p.data[i] = static_cast<std::uint8_t>(bytes >> 8 * i);
    return p;
  };
  struct Shape {
    EncoderInput packet;
    unsigned frame_beats;
    std::uint64_t first;  // cycle of the first frame's first beat
  };
  // A reply of 66 bytes; one of 1,514; the longest; one whose data fill their beat.
  const Shape shapes[] = {
      {reply(0, 0), 2, 27}, {reply(1, 1444), 24, 49}, {reply(1, 9212), 146, 170}, {reply(1, 60), 3, 27}};
  for (const Shape& s : shapes) {
    INFO(s.packet.data.size() << " bytes");
    const unsigned count = 200;
    const std::vector<std::uint64_t> left = back_to_back(bench, s.packet, count);
    REQUIRE(left.size() == count * s.frame_beats);
    for (std::size_t i = 0; i < left.size(); ++i) REQUIRE(left[i] == s.first + i);
  }
}

TEST_CASE("checksums are right where their sums carry, and a UDP checksum of 0 is sent as 0xffff") {
  EncoderBench bench;
  SchemaTable table;
  bench.set(0, Schema());
  table.set(0, Schema());
  // With an address and a transaction id of 0: what is left to 0xffff in both sums.
  EncoderInput p;
  p.request = {false, RPCE_SUCCESS, 0, 1, 2, 0xffff0001, 0, 900, 0x801, 0, 0, 0, 0};
  Encoded without;
  encode(p.data, p.request, table, without);
  const std::uint32_t ipv4 = be16(without.frame, 24), udp = be16(without.frame, 40);
  std::vector<EncoderInput> packets;
  for (std::uint32_t i = 0; i < 80; ++i) {
    p.request.own_address = (ipv4 + 40 - i) & 0xffff;
    p.request.xid = 0;
    packets.push_back(p);
    p.request.own_address = 0;
    p.request.xid = (udp + 40 - i) & 0xffff;
    packets.push_back(p);
    p.request.xid |= 0xffff0000;
    packets.push_back(p);
  }
  const EncoderOutput out = bench.run(packets, packets.size(), always, always);
  REQUIRE(out.frames.size() == packets.size());
  unsigned zeros = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    Encoded twin;
    encode({}, packets[i].request, table, twin);
    REQUIRE(out.frames[i].bytes == twin.frame);
    check_frame(twin.frame, packets[i].request, RPCE_REPLY, {});
    zeros += be16(twin.frame, 40) == 0xffff;
  }
  REQUIRE(zeros >= 2);
}

TEST_CASE("each entry of the encoder's table has its own parts, and an arm can name each") {
  EncoderBench bench;
  SchemaTable table;
  const auto set = [&](unsigned entry, const Schema& s) {
    bench.set(entry, s);
    table.set(entry, s);
  };
  /// An entry has as many words as its number says, and one more.
  const auto words = [](unsigned entry) {
    Schema s;
    s.parts[0].array = Part::Array::scalars;
    s.parts[0].limit = static_cast<std::uint16_t>(entry + 1);
    return s;
  };
  const auto check = [&](unsigned entry, const std::vector<std::uint8_t>& data) {
    EncoderInput packet;
    packet.request.schema = static_cast<std::uint8_t>(entry);
    packet.data = data;
    const auto out = bench.run({packet}, 1, always, always);
    Encoded twin;
    encode(data, packet.request, table, twin);
    REQUIRE(out.frames.at(0).verdict == RPCE_REPLY);
    REQUIRE(out.frames[0].bytes == twin.frame);
    REQUIRE(twin.frame.size() == 66 + data.size());
  };
  for (unsigned entry = 0; entry < kSchemas; ++entry) set(entry, words(entry));
  for (unsigned entry = 0; entry < kSchemas; ++entry) {
    INFO("entry " << entry);
    check(entry, std::vector<std::uint8_t>(4 * (entry + 1), 7));
  }
  // A union: its status is 0, and the words of the other entry follow it.
  for (unsigned entry = 0; entry < kSchemas; ++entry) {
    INFO("a union at entry " << entry);
    const unsigned other = kSchemas - 1 - entry;
    Schema s;
    s.arms[3] = {true, true, static_cast<std::uint8_t>(other), 0};
    set(entry, s);
    check(entry, std::vector<std::uint8_t>(4 + 4 * (other + 1)));
    set(entry, words(entry));
  }
}

TEST_CASE("software's mistakes with the encoder's table are kept, and nothing is written") {
  EncoderBench bench;
  REQUIRE(bench.read(RPCE_IDENTITY) == RPCE_IDENTITY_VALUE);
  REQUIRE(bench.read(RPCE_CAPACITY) ==
          (RPCE_ARMS << RPCE_CAPACITY_ARMS_SHIFT | RPCE_PART_WORDS_MOST << RPCE_CAPACITY_WORDS_SHIFT |
           RPCE_PARTS << RPCE_CAPACITY_PARTS_SHIFT | kSchemas));
  const auto replies = [&] { return bench.run({EncoderInput()}, 1, always, always).frames.at(0).verdict; };
  REQUIRE(replies() == RPCE_NO_SCHEMA);
  bench.set(kSchemas, Schema());
  REQUIRE(bench.read(RPCE_ERROR) == RPCE_ERROR_ENTRY);
  bench.write(RPCE_ERROR, RPCE_ERROR_ENTRY);
  REQUIRE(bench.read(RPCE_ERROR) == 0);
  for (unsigned part = 0; part < RPCE_PARTS; ++part) {
    Schema s;
    s.parts[part].words = RPCE_PART_WORDS_MOST + 1;
    bench.set(0, s);
    REQUIRE(bench.read(RPCE_ERROR) == RPCE_ERROR_SCHEMA);
    bench.write(RPCE_ERROR, RPCE_ERROR_SCHEMA);
  }
  for (unsigned arm = 0; arm < RPCE_ARMS; ++arm) {
    Schema s;
    s.arms[arm] = {true, false, kSchemas, 0};
    bench.set(0, s);
    REQUIRE(bench.read(RPCE_ERROR) == RPCE_ERROR_SCHEMA);
    bench.write(RPCE_ERROR, RPCE_ERROR_SCHEMA);
  }
  REQUIRE(replies() == RPCE_NO_SCHEMA);
  bench.set(0, Schema());
  REQUIRE(bench.read(RPCE_ERROR) == 0);
  REQUIRE(replies() == RPCE_REPLY);
  bench.set(0, std::nullopt);
  REQUIRE(replies() == RPCE_NO_SCHEMA);
}
