// SPDX-License-Identifier: Apache-2.0
/// Headers as the specification lays them out, byte enables, sizes on the wire, completions of split reads.
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "models/pcie/completions.h"
#include "models/pcie/tlp.h"

using namespace sluice::pcie;

namespace {
std::vector<unsigned> header(const Tlp& t) {
  const auto bytes = t.encode_header();
  return {bytes.begin(), bytes.begin() + t.header_bytes()};
}
}  // namespace

TEST_CASE("headers have the specification's bytes", "[pcie]") {
  Tlp t;
  t.requester = routing_id(1, 2, 3);
  t.tag = 0x5a;

  SECTION("a memory write above 4 GiB has four DWs") {
    t.type = TlpType::kMWr;
    t.cover(0x12'3456'7804, 8);
    REQUIRE(header(t) ==
            std::vector<unsigned>{0x60, 0, 0, 2, 0x01, 0x13, 0x5a, 0xff, 0, 0, 0, 0x12, 0x34, 0x56, 0x78, 0x04});
  }
  SECTION("a memory read below 4 GiB has three, and relaxed ordering is attribute bit 1") {
    t.type = TlpType::kMRd;
    t.relaxed_ordering = true;
    t.cover(0x8000'0001, 2);
    REQUIRE(header(t) == std::vector<unsigned>{0x00, 0, 0x20, 1, 0x01, 0x13, 0x5a, 0x06, 0x80, 0, 0, 0});
  }
  SECTION("4 KiB is length 0, and a 10-bit tag has two bits in the second byte") {
    t.type = TlpType::kMRd;
    t.tag = 0x35a;
    t.cover(0x8000'0000, 4096);
    REQUIRE(header(t) == std::vector<unsigned>{0x00, 0x88, 0, 0, 0x01, 0x13, 0x5a, 0xff, 0x80, 0, 0, 0});
  }
  SECTION("a configuration write of type 1") {
    t.type = TlpType::kCfgWr1;
    t.length = 1;
    t.first_be = 0xc;
    t.target = routing_id(4, 5, 6);
    t.reg = 0x104;
    REQUIRE(header(t) == std::vector<unsigned>{0x45, 0, 0, 1, 0x01, 0x13, 0x5a, 0x0c, 0x04, 0x2e, 0x01, 0x04});
  }
  SECTION("a completion with data") {
    t.type = TlpType::kCplD;
    t.length = 16;
    t.completer = routing_id(7, 0, 0);
    t.byte_count = 0x200;
    t.lower_address = 0x40;
    REQUIRE(header(t) == std::vector<unsigned>{0x4a, 0, 0, 16, 0x07, 0x00, 0x02, 0x00, 0x01, 0x13, 0x5a, 0x40});
  }
  SECTION("an unsupported request") {
    t.type = TlpType::kCpl;
    t.status = CompletionStatus::kUnsupportedRequest;
    t.byte_count = 4;
    REQUIRE(header(t) == std::vector<unsigned>{0x0a, 0, 0, 0, 0, 0, 0x20, 0x04, 0x01, 0x13, 0x5a, 0x00});
  }
  SECTION("an INTx message") {
    t.type = TlpType::kMsg;
    t.tag = 0;
    t.message_code = kDeassertIntA;
    REQUIRE(header(t) == std::vector<unsigned>{0x34, 0, 0, 0, 0x01, 0x13, 0, 0x24, 0, 0, 0, 0, 0, 0, 0, 0});
  }
}

TEST_CASE("a TLP takes header, payload in whole DWs and 8 bytes of framing", "[pcie]") {
  Tlp t;
  t.type = TlpType::kMWr;
  t.cover(0x1'0000'0000, 64);
  REQUIRE(t.wire_bytes() == 24 + 64);
  t.cover(0x8000'0000, 64);
  REQUIRE(t.wire_bytes() == 20 + 64);
  t.cover(0x8000'0003, 2);  // two DWs for two bytes
  REQUIRE(t.wire_bytes() == 20 + 8);
  t.type = TlpType::kMRd;
  t.cover(0x1'0000'0000, 512);
  REQUIRE(t.wire_bytes() == 24);
  t.type = TlpType::kCplD;
  t.length = 16;
  REQUIRE(t.wire_bytes() == 20 + 64);
  REQUIRE(t.data_units() == 4);
}

TEST_CASE("byte enables cover exactly the bytes asked for", "[pcie]") {
  Tlp t;
  t.type = TlpType::kMWr;
  for (std::uint64_t first = 0x1000; first < 0x1004; ++first) {
    for (std::uint32_t bytes = 1; bytes <= 16; ++bytes) {
      t.cover(first, bytes);
      REQUIRE(t.first_byte() == first);
      REQUIRE(t.enabled_bytes() == bytes);
      REQUIRE(t.contiguous());
      for (std::uint64_t a = 0x1000; a < 0x1018; ++a)
        REQUIRE(t.enabled(static_cast<std::uint32_t>(a - 0x1000)) == (a >= first && a < first + bytes));
    }
  }
  t.cover(0x1000, 4);
  t.first_be = 0b1001;
  REQUIRE_FALSE(t.contiguous());
  REQUIRE(t.enabled_bytes() == 4);
  t.first_be = 0;
  REQUIRE(t.enabled_bytes() == 0);
}

TEST_CASE("completions break at the read completion boundary", "[pcie]") {
  struct Piece {
    std::uint32_t offset, bytes, byte_count, lower;
    bool operator==(const Piece&) const = default;
  };
  Tlp request;
  request.carries_journey = true;
  const auto split = [&](std::uint64_t first, std::uint32_t bytes, std::uint32_t most) {
    std::vector<Piece> pieces;
    unsigned journeys = 0;
    make_completions(request, 0, first, bytes, 64, most, [&](TlpPtr t, std::uint32_t offset, std::uint32_t n) {
      REQUIRE(t->length == ((first + offset) % 4 + n + 3) / 4);
      journeys += t->carries_journey;
      pieces.push_back({offset, n, t->byte_count, t->lower_address});
    });
    REQUIRE(journeys == 1);
    return pieces;
  };
  REQUIRE(split(0x1000, 64, 64) == std::vector<Piece>{{0, 64, 64, 0}});
  REQUIRE(split(0x1030, 70, 64) == std::vector<Piece>{{0, 16, 70, 0x30}, {16, 54, 54, 0x40}});
  REQUIRE(split(0x1030, 300, 256) == std::vector<Piece>{{0, 208, 300, 0x30}, {208, 92, 92, 0}});
  REQUIRE(split(0x1001, 1, 256) == std::vector<Piece>{{0, 1, 1, 1}});
}

TEST_CASE("the pool gives back clean packets", "[pcie]") {
  const std::size_t before = TlpPool::instance().taken();
  {
    TlpPtr t = make_tlp(TlpType::kMWr);
    t->cover(0x1234, 3);
    t->spans.add({0, 3, 17});
    t->arrival_stage = {SLUICE_STAGE_poll, 3};
    t->carries_journey = true;
    REQUIRE(TlpPool::instance().taken() == before + 1);
  }
  TlpPtr t = make_tlp(TlpType::kMRd);
  REQUIRE(t->enabled_bytes() == 0);
  REQUIRE(t->spans.empty());
  REQUIRE_FALSE(t->arrival_stage.set());
  REQUIRE_FALSE(t->carries_journey);
}
