// SPDX-License-Identifier: Apache-2.0
// The RPC decoder's registers alone, by AXI4-Lite.

#include "Varguments_bench.h"
#include "models/nic/rpc_decoder/decode.h"
#include "tests/rtl/block_bench.h"

using namespace sluice;
using namespace sluice::test;
using nic::rpc::kServices;

namespace {

/// What a COMMIT has put out to the table.
struct Write {
  unsigned entry = 0;
  bool valid = false;
  std::array<std::uint32_t, 4> key{};       ///< procedure, version, program, port
  std::array<std::uint32_t, 11> service{};  ///< parts, function pointer, owner
  bool operator==(const Write&) const = default;
};

class Registers {
 public:
  explicit Registers(std::uint64_t seed) : dut(seed) {
    dut->which = 0;
    dut->enable = dut->in_valid = dut->table_write = 0;
    dut->awvalid = dut->wvalid = dut->bready = dut->arvalid = dut->rready = dut->counted = 0;
    dut->rst = 1;
    cycle();
    dut->rst = 0;
  }
  void cycle() {
    dut->clk = 0;
    dut->eval();
    if (dut->write != 0 && dut->rst == 0) {
      Write w;
      w.entry = dut->write_entry;
      w.valid = dut->write_valid != 0;
      for (unsigned i = 0; i < 4; ++i) w.key[i] = dut->write_key[i];
      for (unsigned i = 0; i < 11; ++i) w.service[i] = dut->write_service[i];
      writes.push_back(w);
    }
    dut->clk = 1;
    dut->eval();
  }
  /// The address comes some cycles before the data, or behind it; the answer is taken some cycles later.
  void write(std::uint32_t offset, std::uint32_t value, int data_after = 0, unsigned answer_after = 0) {
    dut->awaddr = static_cast<std::uint16_t>(offset);
    dut->wdata = value;
    dut->awvalid = data_after >= 0;
    dut->wvalid = data_after <= 0;
    for (int i = 0; i < std::abs(data_after); ++i) {
      dut->clk = 0;
      dut->eval();
      REQUIRE(dut->awready == 0);
      REQUIRE(dut->wready == 0);
      cycle();
      REQUIRE(dut->bvalid == 0);
    }
    dut->awvalid = dut->wvalid = 1;
    dut->clk = 0;
    dut->eval();
    REQUIRE(dut->awready == 1);
    REQUIRE(dut->wready == 1);
    cycle();
    // The next one is not taken before the answer to this one.
    for (unsigned i = 0; i < answer_after; ++i) {
      dut->clk = 0;
      dut->eval();
      REQUIRE(dut->bvalid == 1);
      REQUIRE(dut->awready == 0);
      cycle();
    }
    dut->awvalid = dut->wvalid = 0;
    dut->bready = 1;
    dut->clk = 0;
    dut->eval();
    REQUIRE(dut->bvalid == 1);
    cycle();
    REQUIRE(dut->bvalid == 0);
    dut->bready = 0;
  }
  std::uint32_t read(std::uint32_t offset, unsigned answer_after = 0) {
    dut->arvalid = 1;
    dut->araddr = static_cast<std::uint16_t>(offset);
    dut->clk = 0;
    dut->eval();
    REQUIRE(dut->arready == 1);
    cycle();
    for (unsigned i = 0; i < answer_after; ++i) {
      dut->clk = 0;
      dut->eval();
      REQUIRE(dut->rvalid == 1);
      REQUIRE(dut->arready == 0);
      cycle();
    }
    dut->arvalid = 0;
    const std::uint32_t value = dut->rdata;
    dut->rready = 1;
    cycle();
    REQUIRE(dut->rvalid == 0);
    dut->rready = 0;
    return value;
  }
  RandomDut<Varguments_bench> dut;
  std::vector<Write> writes;
};

/// Halves of hypers are together. Classes of words that the part does not have may be any.
nic::rpc::Part valid_part(std::mt19937_64& random) {
  nic::rpc::Part part = nic::rpc::Part::of(static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random()));
  part.words = static_cast<std::uint8_t>(random() % (RPCD_PART_WORDS_MOST + 1));
  for (unsigned w = 0; w < part.words; ++w) {
    if ((part.classes >> 2 * w & 3) < RPCD_CLASS_HYPER_HIGH) continue;
    part.classes &= ~(3u << 2 * w);
    if (w + 1 == part.words) continue;
    part.classes |= RPCD_CLASS_HYPER_HIGH << 2 * w | RPCD_CLASS_HYPER_LOW << 2 * (w + 1);
    ++w;
  }
  if (part.array == nic::rpc::Part::Array::hypers && !part.counted) part.limit &= 0xfffe;
  return part;
}

/// Writes the registers of an entry in any order, and returns what it is to be.
Write fill(Registers& r, std::mt19937_64& random) {
  Write w;
  const auto any = [&] { return static_cast<std::uint32_t>(random()); };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;
  for (const std::uint32_t at :
       {RPCD_PROGRAM, RPCD_VERSION, RPCD_PROCEDURE, RPCD_PORT, RPCD_FUNCTION_LOW, RPCD_FUNCTION_HIGH, RPCD_OWNER})
    writes.emplace_back(at, any());
  w.key = {writes[2].second, writes[1].second, writes[0].second, writes[3].second & 0xffff};
  w.service[8] = writes[4].second;
  w.service[9] = writes[5].second;
  w.service[10] = writes[6].second & 0xffff;
  for (unsigned p = 0; p < RPCD_PARTS; ++p) {
    const nic::rpc::Part part = valid_part(random);
    writes.emplace_back(RPCD_PART_CLASSES(p), part.classes);
    // Bits that the register does not have are 0 to it.
    constexpr std::uint32_t kHas = RPCD_SHAPE_WORDS | RPCD_SHAPE_ARRAY | RPCD_SHAPE_COUNTED | RPCD_SHAPE_LIMIT;
    writes.emplace_back(RPCD_PART_SHAPE(p), part.shape() | (any() & ~kHas));
    w.service[2 * p] = part.classes;
    // words, kind, counted and limit, as part_t has them
    w.service[2 * p + 1] = part.words | static_cast<std::uint32_t>(part.array) << 5 | std::uint32_t{part.counted} << 7 |
                           std::uint32_t{part.limit} << 8;
  }
  std::shuffle(writes.begin(), writes.end(), random);
  for (const auto& [at, value] : writes)
    r.write(at, value, static_cast<int>(random() % 7) - 3, static_cast<unsigned>(random() % 3));
  return w;
}

}  // namespace

TEST_CASE("the decoder's registers say what it is and can, and nothing elsewhere") {
  Registers r(1);
  CHECK(r.read(RPCD_IDENTITY) == RPCD_IDENTITY_VALUE);
  CHECK(r.read(RPCD_CAPACITY, 3) == (kServices | 4u << RPCD_CAPACITY_PARTS_SHIFT | 16u << RPCD_CAPACITY_WORDS_SHIFT));
  for (std::uint32_t at = 0x8; at < 0x1000; at += 4) {
    INFO("register " << at);
    CHECK(r.read(at) == 0);
  }
  // A write to where nothing is does nothing.
  for (const std::uint32_t at :
       {0x0u, 0x4u, 0xcu, 0x30u, 0x60u, 0x7cu, 0x80u, 0xbcu, 0xc0u, 0x410u, 0x42cu, 0x840u, 0xffcu})
    r.write(at, 0x80000000u);
  CHECK(r.writes.empty());
  CHECK(r.read(RPCD_IDENTITY) == RPCD_IDENTITY_VALUE);
  CHECK(r.read(RPCD_COUNTERS) == 0);
  r.write(RPCD_COMMIT, 0);
  REQUIRE(r.writes.size() == 1);
  CHECK(r.writes[0] == Write{});
}

TEST_CASE("a commit gives the table what was written, to each entry") {
  Registers r(2);
  std::mt19937_64 random(2);
  for (unsigned i = 0; i < 3 * kServices; ++i) {
    INFO("commit " << i);
    Write w = fill(r, random);
    w.entry = i % kServices;
    w.valid = i % 5 != 0;
    r.writes.clear();
    // Bits that the register does not have are 0 to it.
    r.write(RPCD_COMMIT, w.entry | (w.valid ? RPCD_COMMIT_VALID : 0) | (random() & 0x7fff0000u),
            static_cast<int>(random() % 5) - 2, 2);
    REQUIRE(r.writes == std::vector{w});
    CHECK(r.read(RPCD_ERROR) == 0);
  }
}

TEST_CASE("a commit to no entry or of a part with too many words writes nothing and is told") {
  Registers r(3);
  std::mt19937_64 random(3);
  fill(r, random);
  r.writes.clear();
  for (const std::uint32_t entry : {kServices, kServices + 1, 255u, 256u, 0x8000u, 0xffffu}) {
    r.write(RPCD_COMMIT, RPCD_COMMIT_VALID | entry);
    CHECK(r.writes.empty());
    CHECK(r.read(RPCD_ERROR) == RPCD_ERROR_ENTRY);
    r.write(RPCD_ERROR, RPCD_ERROR_ENTRY);
    CHECK(r.read(RPCD_ERROR) == 0);
  }
  for (unsigned part = 0; part < RPCD_PARTS; ++part) {
    r.write(RPCD_PART_CLASSES(part), 0);
    for (std::uint32_t words = 0; words < 32; ++words) {
      INFO("part " << part << " words " << words);
      r.write(RPCD_PART_SHAPE(part), words);
      r.writes.clear();
      r.write(RPCD_COMMIT, RPCD_COMMIT_VALID | (kServices - 1));
      CHECK(r.writes.size() == (words <= RPCD_PART_WORDS_MOST ? 1 : 0));
      CHECK(r.read(RPCD_ERROR) == (words <= RPCD_PART_WORDS_MOST ? 0 : RPCD_ERROR_SCHEMA));
      r.write(RPCD_ERROR, ~0u);
    }
    r.write(RPCD_PART_SHAPE(part), 16);
  }
  // Both at once; each is cleared alone, and what is not cleared stays.
  r.write(RPCD_PART_SHAPE(2), 17);
  r.write(RPCD_COMMIT, kServices);
  CHECK(r.read(RPCD_ERROR) == (RPCD_ERROR_ENTRY | RPCD_ERROR_SCHEMA));
  r.write(RPCD_ERROR, RPCD_ERROR_ENTRY);
  CHECK(r.read(RPCD_ERROR) == RPCD_ERROR_SCHEMA);
  r.write(RPCD_ERROR, 0);
  CHECK(r.read(RPCD_ERROR) == RPCD_ERROR_SCHEMA);
  r.write(RPCD_ERROR, RPCD_ERROR_SCHEMA);
  CHECK(r.read(RPCD_ERROR) == 0);
}

TEST_CASE("a commit of a part with half of a hyper writes nothing and is told") {
  Registers r(5);
  const auto taken = [&](unsigned part, std::uint32_t classes, std::uint32_t shape) {
    r.write(RPCD_PART_CLASSES(part), classes);
    r.write(RPCD_PART_SHAPE(part), shape);
    r.writes.clear();
    r.write(RPCD_COMMIT, RPCD_COMMIT_VALID);
    const std::uint32_t error = r.read(RPCD_ERROR);
    r.write(RPCD_ERROR, error);
    r.write(RPCD_PART_SHAPE(part), 0);
    REQUIRE(error == (r.writes.empty() ? RPCD_ERROR_SCHEMA : 0));
    return !r.writes.empty();
  };
  constexpr std::uint32_t kHigh = RPCD_CLASS_HYPER_HIGH, kLow = RPCD_CLASS_HYPER_LOW, kPair = kLow << 2 | kHigh;
  for (unsigned part = 0; part < RPCD_PARTS; ++part) {
    INFO("part " << part);
    for (unsigned w = 0; w < RPCD_PART_WORDS_MOST; ++w) {
      INFO("word " << w);
      CHECK_FALSE(taken(part, kHigh << 2 * w, 16));     // no second half
      CHECK_FALSE(taken(part, kLow << 2 * w, 16));      // no first half
      CHECK_FALSE(taken(part, kPair << 2 * w, w + 1));  // it ends between them
      CHECK(taken(part, kPair << 2 * w, w));            // it ends before them
      if (w + 1 == RPCD_PART_WORDS_MOST) continue;
      CHECK(taken(part, kPair << 2 * w, w + 2));                                       // both
      CHECK_FALSE(taken(part, kHigh << 2 * w | kHigh << 2 * (w + 1), 16));             // two first halves
      if (w < 14) CHECK_FALSE(taken(part, kPair << 2 * w | kLow << 2 * (w + 2), 16));  // two second halves
    }
    CHECK(taken(part, 0xeeeeeeee, 16));  // eight hypers
    // An array of hypers has an even number of words, unless it is counted: then its limit is one of elements.
    for (const std::uint32_t limit : {0u, 1u, 2u, 3u, 0xfffeu, 0xffffu}) {
      INFO("limit " << limit);
      for (const std::uint32_t array : {RPCD_ARRAY_NONE, RPCD_ARRAY_OPAQUE, RPCD_ARRAY_SCALARS, RPCD_ARRAY_HYPERS}) {
        const std::uint32_t shape = limit << RPCD_SHAPE_LIMIT_SHIFT | array << RPCD_SHAPE_ARRAY_SHIFT;
        CHECK(taken(part, 0, shape) == (array != RPCD_ARRAY_HYPERS || limit % 2 == 0));
        CHECK(taken(part, 0, shape | RPCD_SHAPE_COUNTED));
      }
    }
  }
}

TEST_CASE("a read goes on during a write, and the other way round") {
  Registers r(4);
  r.write(RPCD_COMMIT, kServices);
  // Both in the same cycle: the read is of what was before the write.
  r.dut->awvalid = r.dut->wvalid = r.dut->arvalid = 1;
  r.dut->awaddr = r.dut->araddr = RPCD_ERROR;
  r.dut->wdata = RPCD_ERROR_ENTRY;
  r.cycle();
  CHECK(r.dut->bvalid == 1);
  CHECK(r.dut->rvalid == 1);
  CHECK(r.dut->rdata == RPCD_ERROR_ENTRY);
  r.dut->awvalid = r.dut->wvalid = 0;
  // The write's answer waits while reads go on.
  r.dut->rready = 1;
  r.cycle();
  CHECK(r.dut->rvalid == 0);
  r.cycle();
  CHECK(r.dut->rvalid == 1);
  CHECK(r.dut->rdata == 0);
  CHECK(r.dut->bvalid == 1);
  r.dut->arvalid = 0;
  r.dut->bready = 1;
  r.cycle();
  CHECK(r.dut->rvalid == 0);
  CHECK(r.dut->bvalid == 0);
  // A reset in the middle of both.
  r.dut->rready = r.dut->bready = 0;
  r.dut->awvalid = r.dut->wvalid = r.dut->arvalid = 1;
  r.dut->awaddr = RPCD_COMMIT;
  r.dut->wdata = 99;
  r.cycle();
  r.dut->awvalid = r.dut->wvalid = r.dut->arvalid = 0;
  r.dut->rst = 1;
  r.cycle();
  CHECK(r.dut->rvalid == 0);
  CHECK(r.dut->bvalid == 0);
  r.dut->rst = 0;
  CHECK(r.read(RPCD_ERROR) == 0);
}

TEST_CASE("each verdict has its counter") {
  Registers r(5);
  for (unsigned reason = 0; reason < RPCD_VERDICTS; ++reason)
    for (unsigned i = 0; i < 3 * reason + 5; ++i) {
      r.dut->counted_reason = static_cast<std::uint8_t>(reason);
      r.dut->counted = 1;
      r.cycle();
      r.dut->counted = 0;
      if (i % 2 != 0) r.cycle();
    }
  for (unsigned reason = 0; reason < RPCD_VERDICTS; ++reason)
    CHECK(r.read(RPCD_COUNTERS + 4 * reason) == 3 * reason + 5);
  CHECK(r.read(RPCD_COUNTERS + 4 * RPCD_VERDICTS) == 0);
  r.dut->rst = 1;
  r.cycle();
  r.dut->rst = 0;
  CHECK(r.read(RPCD_COUNTERS + 4 * RPCD_ARGUMENTS) == 0);
}
