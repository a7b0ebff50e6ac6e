// SPDX-License-Identifier: Apache-2.0
// What firmware makes of XDR by a schema, and of what handlers give, is what the hardware makes of it.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include "models/nic/rpc_decoder/decode.h"
#include "models/nic/rpc_encoder/encode.h"
#include "rpc_schemas.h"
#include "tests/rtl/rpc_frames.h"
#include "tests/rtl/rpc_packets.h"

extern "C" {
#include "firmware/rpc/schema.h"
}

using namespace sluice;
using namespace sluice::nic::rpc;
using Bytes = std::vector<std::uint8_t>;

namespace {

void copy_parts(rpc_schema_part* to, const std::array<Part, RPCD_PARTS>& parts) {
  for (unsigned i = 0; i < RPCD_PARTS; ++i) to[i] = {parts[i].classes, parts[i].shape()};
}

std::vector<std::uint32_t> words_of(const Bytes& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / 4 + 1);  // one more, so that there is an address
  std::memcpy(words.data(), bytes.data(), bytes.size() / 4 * 4);
  return words;
}

Bytes bytes_of(const std::vector<std::uint32_t>& words, std::size_t bytes) {
  Bytes b(bytes);
  std::memcpy(b.data(), words.data(), bytes);
  return b;
}

/// As firmware finds it where the parts are one opaque of variable length.
bool is_one_opaque(const std::array<Part, RPCD_PARTS>& parts) {
  return parts[0].words == 0 && parts[0].counted && parts[0].array == Part::Array::opaque && parts[1].shape() == 0;
}

/// A part without any word ends firmware's list of parts, which a compiler of schemas never puts before others.
bool is_compiled(const std::array<Part, RPCD_PARTS>& parts) {
  bool ended = false;
  for (const Part& p : parts) {
    if (ended && p.shape() != 0) return false;
    ended = ended || p.shape() == 0;
  }
  return true;
}

rpc_schema_result result_of(const Schema& schema, const std::vector<std::optional<Schema>>& all) {
  rpc_schema_result r{};
  r.has_status = schema.is_union();
  if (!schema.is_union()) {
    r.arm_count = 1;
    copy_parts(r.arms[0].parts, schema.parts);
    return r;
  }
  for (const Arm& arm : schema.arms) {
    if (!arm.valid) continue;
    rpc_schema_arm& a = r.arms[r.arm_count++];
    a.value = arm.value;
    a.is_default = arm.is_default;
    copy_parts(a.parts, all[arm.entry]->parts);
  }
  return r;
}

/// Whether firmware can have the schema: its arms lead to entries that are there and no unions.
bool is_usable(const Schema& schema, const std::vector<std::optional<Schema>>& all) {
  if (!schema.is_union()) return is_compiled(schema.parts);
  for (const Arm& arm : schema.arms)
    if (arm.valid && (!all[arm.entry] || all[arm.entry]->is_union() || !is_compiled(all[arm.entry]->parts)))
      return false;
  return true;
}

}  // namespace

TEST_CASE("results become the XDR that the encoder makes of them, and go back") {
  test::RpcPackets random(7);
  unsigned compared = 0, back = 0, short_ways = 0;
  for (unsigned round = 0; round < 40; ++round) {
    const std::vector<std::optional<Schema>> schemas = random.schemas();
    for (unsigned n = 0; n < 200; ++n) {
      const test::RpcPacket p = random.packet();
      if (!p.is_right || p.input.request.schema >= kSchemas || !schemas[p.input.request.schema]) continue;
      const Schema& schema = *schemas[p.input.request.schema];
      if (!is_usable(schema, schemas)) continue;
      const rpc_schema_result result = result_of(schema, schemas);
      std::vector<std::uint32_t> words = words_of(p.little);
      INFO("round " << round << ", packet " << n);
      REQUIRE(rpc_marshal(&result, words.data(), static_cast<std::uint32_t>(p.little.size())));
      REQUIRE(bytes_of(words, p.xdr.size()) == p.xdr);
      ++compared;
      if (!schema.is_union() && is_one_opaque(schema.parts)) {
        rpc_schema_arguments same{};
        copy_parts(same.parts, schema.parts);
        const rpc_schema short_way{&same, &result, schema.parts[0].limit, schema.parts[0].limit, true, true, true};
        words = words_of(p.little);
        REQUIRE(rpc_result_leaves(&short_way, words.data(), static_cast<std::uint32_t>(p.little.size())));
        REQUIRE(bytes_of(words, p.xdr.size()) == p.xdr);
        REQUIRE(rpc_arguments_arrive(&short_way, words.data(), static_cast<std::uint32_t>(p.xdr.size())));
        REQUIRE(bytes_of(words, p.little.size()) == p.little);
        REQUIRE_FALSE(rpc_result_leaves(&short_way, words.data(), static_cast<std::uint32_t>(p.little.size() + 4)));
        words = words_of(p.xdr);
        REQUIRE_FALSE(rpc_arguments_arrive(&short_way, words.data(), static_cast<std::uint32_t>(p.xdr.size() - 4)));
        const rpc_schema none{&same, &result, 0, 0, true, true, true};
        words = words_of(p.xdr);
        REQUIRE(rpc_arguments_arrive(&none, words.data(), static_cast<std::uint32_t>(p.xdr.size())) == (words[0] == 0));
        ++short_ways;
      }
      // A word too few, and one too many, are none of the schema.
      words = words_of(p.little);
      words.push_back(0);
      REQUIRE_FALSE(rpc_marshal(&result, words.data(), static_cast<std::uint32_t>(p.little.size() + 4)));
      if (!p.little.empty()) {
        words = words_of(p.little);
        REQUIRE_FALSE(rpc_marshal(&result, words.data(), static_cast<std::uint32_t>(p.little.size() - 4)));
      }
      if (schema.is_union()) continue;
      rpc_schema_arguments arguments{};
      copy_parts(arguments.parts, schema.parts);
      words = words_of(p.xdr);
      REQUIRE(rpc_unmarshal(&arguments, words.data(), static_cast<std::uint32_t>(p.xdr.size())));
      REQUIRE(bytes_of(words, p.little.size()) == p.little);
      ++back;
    }
  }
  CHECK(compared > 1000);
  CHECK(back > 500);
  CHECK(short_ways > 20);
}

TEST_CASE("arguments become what the decoder's control line has, or are refused where it refuses them") {
  test::RpcFrames random(3);
  std::vector<Service> services;
  unsigned good = 0, refused = 0;
  for (unsigned round = 0; round < 60; ++round) {
    services.clear();
    for (unsigned i = 0; i < kServices; ++i) services.push_back(random.service(i));
    for (unsigned n = 0; n < 200; ++n) {
      const Service& s = services[random.upto(kServices - 1)];
      if (!is_compiled(s.parts)) continue;
      ServiceTable table;  // without the others: a changed call may be one of theirs
      table.set(n % kServices, s);
      const test::FrameBytes frame = random.one_in(2) ? random.changed(s) : random.call(s);
      Decoded d;
      Path path;
      decode(frame, table, d, path);
      if (d.verdict != RPCD_CALL && d.verdict != RPCD_ARGUMENTS) continue;
      const std::uint32_t bytes = path.arguments;
      rpc_schema_arguments arguments{};
      copy_parts(arguments.parts, s.parts);
      std::size_t from = 0;
      for (const Path::Strip& strip : path.strips) from += strip.skip;
      Bytes xdr(frame.begin() + static_cast<std::ptrdiff_t>(from),
                frame.begin() + static_cast<std::ptrdiff_t>(from + bytes));
      std::vector<std::uint32_t> words = words_of(xdr);
      INFO("round " << round << ", frame " << n);
      REQUIRE(rpc_unmarshal(&arguments, words.data(), bytes) == (d.verdict == RPCD_CALL));
      if (d.verdict != RPCD_CALL) {
        ++refused;
        continue;
      }
      const std::span<const std::uint8_t> line = std::span(d.line).subspan(RPCD_LINE_HEAD_BYTES);
      REQUIRE(line.size() <= xdr.size());
      const Bytes own = bytes_of(words, line.size() / 4 * 4);
      REQUIRE(std::equal(own.begin(), own.end(), line.begin()));
      ++good;
    }
  }
  CHECK(good > 500);
  CHECK(refused > 20);
}
