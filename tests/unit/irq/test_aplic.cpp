// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "models/irq/aplic.h"
#include "models/irq/aplic_regs.h"
#include "tests/unit/irq/register_access.h"

using namespace sluice;
using namespace sluice::base::literals;
using irq::Aplic;
using irq::AplicDomain;
using test::read;
using test::write;

namespace {

constexpr std::uint64_t kMachineImsic = 0x2400'0000, kSupervisorImsic = 0x2800'0000;

struct Message {
  base::Time at;
  std::uint64_t address;
  std::uint32_t data;
  bool operator==(const Message&) const = default;
};

struct Bench {
  explicit Bench(AplicDomain::Level owner = AplicDomain::Level::supervisor)
      : aplic("aplic", {.sources = 40, .owner = owner, .msi_latency = 20_ns}, {kMachineImsic, kSupervisorImsic, 4}) {
    base::calendar().clear();
    base::calendar().set_now(0_ns);
    aplic.send_msi = [this](std::uint64_t address, std::uint32_t data) {
      messages.push_back({base::now(), address, data});
    };
  }
  base::RegisterBank& s() { return aplic.supervisor().registers(); }
  base::RegisterBank& m() { return aplic.machine().registers(); }
  /// A source of the supervisor domain that sends `identity` to `hart`.
  void connect(unsigned source, std::uint32_t mode, unsigned hart, unsigned identity) {
    write(s(), APLIC_SOURCECFG(source), mode);
    write(s(), APLIC_TARGET(source), hart << APLIC_TARGET_HART_SHIFT | identity);
    write(s(), APLIC_SETIENUM, source);
    write(s(), APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE | APLIC_DOMAINCFG_DM);
  }
  std::size_t run() {
    while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();
    return messages.size();
  }
  bool pending(unsigned source) { return (read(s(), APLIC_SETIP(source / 32)) >> source % 32 & 1) != 0; }

  Aplic aplic;
  std::vector<Message> messages;
};

}  // namespace

TEST_CASE("a wire becomes a message to its target after the latency", "[aplic]") {
  Bench b;
  b.connect(33, APLIC_SOURCECFG_LEVEL1, 2, 65);
  base::calendar().set_now(100_ns);
  b.aplic.set_source(33, true);
  REQUIRE(b.run() == 1);
  CHECK(b.messages[0] == Message{120_ns, kSupervisorImsic + 0x2000, 65});
  CHECK_FALSE(b.pending(33));
}

TEST_CASE("a level-sensitive source sends once for each rise", "[aplic]") {
  Bench b;
  b.connect(1, APLIC_SOURCECFG_LEVEL1, 0, 1);
  b.aplic.set_source(1, true);
  CHECK(b.run() == 1);
  b.aplic.set_source(1, true);
  CHECK(b.run() == 1);
  b.aplic.set_source(1, false);
  b.aplic.set_source(1, true);
  CHECK(b.run() == 2);
}

TEST_CASE("setipnum sends again for a level-sensitive source that is still high", "[aplic]") {
  Bench b;
  b.connect(1, APLIC_SOURCECFG_LEVEL1, 0, 1);
  b.aplic.set_source(1, true);
  write(b.s(), APLIC_SETIPNUM, 1);
  CHECK(b.run() == 2);
  b.aplic.set_source(1, false);
  write(b.s(), APLIC_SETIPNUM, 1);
  write(b.s(), APLIC_SETIP(0), 2);
  CHECK(b.run() == 2);
}

TEST_CASE("a pending level-sensitive source is forgotten when its wire falls, an edge is not", "[aplic]") {
  Bench b;
  write(b.s(), APLIC_SOURCECFG(1), APLIC_SOURCECFG_LEVEL1);
  write(b.s(), APLIC_SOURCECFG(2), APLIC_SOURCECFG_EDGE1);
  for (const bool level : {true, false}) {
    b.aplic.set_source(1, level);
    b.aplic.set_source(2, level);
    CHECK(b.pending(1) == level);
    CHECK(b.pending(2));
  }
  write(b.s(), APLIC_CLRIPNUM, 2);
  CHECK_FALSE(b.pending(2));
}

TEST_CASE("inverted sources take the other sense", "[aplic]") {
  Bench b;
  write(b.s(), APLIC_SOURCECFG(1), APLIC_SOURCECFG_EDGE0);
  write(b.s(), APLIC_SOURCECFG(2), APLIC_SOURCECFG_LEVEL0);
  CHECK(read(b.s(), APLIC_IN_CLRIP(0)) == 6);  // both wires are low
  CHECK_FALSE(b.pending(1));                   // no edge yet
  CHECK(b.pending(2));
  b.aplic.set_source(1, true);
  b.aplic.set_source(2, true);
  CHECK_FALSE(b.pending(1));
  CHECK_FALSE(b.pending(2));
  CHECK(read(b.s(), APLIC_IN_CLRIP(0)) == 0);
  b.aplic.set_source(1, false);
  CHECK(b.pending(1));
}

TEST_CASE("a detached source is driven by software only", "[aplic]") {
  Bench b;
  b.connect(3, APLIC_SOURCECFG_DETACHED, 1, 9);
  b.aplic.set_source(3, true);
  CHECK(b.run() == 0);
  write(b.s(), APLIC_SETIPNUM_LE, 3);
  REQUIRE(b.run() == 1);
  CHECK(b.messages[0].address == kSupervisorImsic + 0x1000);
  CHECK(b.messages[0].data == 9);
}

TEST_CASE("nothing is sent while the source or the domain is disabled", "[aplic]") {
  Bench b;
  b.connect(1, APLIC_SOURCECFG_EDGE1, 0, 1);
  b.connect(2, APLIC_SOURCECFG_EDGE1, 0, 2);
  write(b.s(), APLIC_CLRIENUM, 1);
  write(b.s(), APLIC_DOMAINCFG, 0);
  b.aplic.set_source(2, true);
  b.aplic.set_source(1, true);
  CHECK(b.run() == 0);
  write(b.s(), APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE);
  REQUIRE(b.run() == 1);
  CHECK(b.messages[0].data == 2);
  write(b.s(), APLIC_SETIE(0), 2);
  REQUIRE(b.run() == 2);
  CHECK(b.messages[1].data == 1);
}

TEST_CASE("simultaneous sources are sent lowest number first", "[aplic]") {
  Bench b;
  for (const unsigned source : {40u, 3u, 35u}) b.connect(source, APLIC_SOURCECFG_DETACHED, 0, source);
  write(b.s(), APLIC_DOMAINCFG, 0);
  for (const unsigned source : {40u, 3u, 35u}) write(b.s(), APLIC_SETIPNUM, source);
  write(b.s(), APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE);
  REQUIRE(b.run() == 3);
  CHECK(b.messages[0].data == 3);
  CHECK(b.messages[1].data == 35);
  CHECK(b.messages[2].data == 40);
}

TEST_CASE("a source belongs to the domain that it is delegated to", "[aplic]") {
  Bench b(AplicDomain::Level::machine);
  write(b.s(), APLIC_SOURCECFG(4), APLIC_SOURCECFG_LEVEL1);
  CHECK(read(b.s(), APLIC_SOURCECFG(4)) == 0);  // not delegated: as if not implemented

  write(b.m(), APLIC_SOURCECFG(4), APLIC_SOURCECFG_LEVEL1);
  write(b.m(), APLIC_TARGET(4), 3u << APLIC_TARGET_HART_SHIFT | 17);
  write(b.m(), APLIC_SETIENUM, 4);
  write(b.m(), APLIC_DOMAINCFG, APLIC_DOMAINCFG_IE);
  b.aplic.set_source(4, true);
  REQUIRE(b.run() == 1);
  CHECK(b.messages[0].address == kMachineImsic + 0x3000);

  write(b.m(), APLIC_SOURCECFG(4), APLIC_SOURCECFG_D);
  CHECK(read(b.m(), APLIC_TARGET(4)) == 0);
  CHECK(read(b.m(), APLIC_SETIE(0)) == 0);
  CHECK(read(b.s(), APLIC_SOURCECFG(4)) == 0);
  b.connect(4, APLIC_SOURCECFG_LEVEL1, 1, 18);  // the wire is high already
  REQUIRE(b.run() == 2);
  CHECK(b.messages[1].address == kSupervisorImsic + 0x1000);

  write(b.m(), APLIC_SOURCECFG(4), 0);  // withdrawn
  CHECK(read(b.s(), APLIC_SOURCECFG(4)) == 0);
  CHECK(read(b.s(), APLIC_SETIE(0)) == 0);
}

TEST_CASE("registers of inactive and of missing sources are read-only zero", "[aplic]") {
  Bench b;
  for (const unsigned source : {5u, 41u, 1023u}) {
    write(b.s(), APLIC_TARGET(source), ~0u);
    CHECK(read(b.s(), APLIC_TARGET(source)) == 0);
    write(b.s(), APLIC_SETIENUM, source);
    write(b.s(), APLIC_SETIPNUM, source);
  }
  write(b.s(), APLIC_SETIE(0), ~0u);
  write(b.s(), APLIC_SETIE(31), ~0u);
  CHECK(read(b.s(), APLIC_SETIE(0)) == 0);
  CHECK(read(b.s(), APLIC_SETIE(31)) == 0);
  write(b.s(), APLIC_SOURCECFG(41), APLIC_SOURCECFG_EDGE1);
  CHECK(read(b.s(), APLIC_SOURCECFG(41)) == 0);
  write(b.s(), APLIC_SOURCECFG(5), APLIC_SOURCECFG_D | APLIC_SOURCECFG_EDGE1);  // a leaf cannot delegate
  CHECK(read(b.s(), APLIC_SOURCECFG(5)) == 0);
  write(b.s(), APLIC_SOURCECFG(5), 2);  // reserved mode
  CHECK(read(b.s(), APLIC_SOURCECFG(5)) == 0);
  write(b.s(), APLIC_SETIPNUM, 0xffff'ffff);
  write(b.s(), APLIC_SETIPNUM, 0);
  b.aplic.set_source(0, true);
  b.aplic.set_source(41, true);
  CHECK(b.run() == 0);
}

TEST_CASE("an inactive source loses its pending and enable bits and its target", "[aplic]") {
  Bench b;
  write(b.s(), APLIC_SOURCECFG(5), APLIC_SOURCECFG_EDGE1);
  write(b.s(), APLIC_TARGET(5), ~0u);
  CHECK(read(b.s(), APLIC_TARGET(5)) == (APLIC_TARGET_HART | APLIC_TARGET_EIID));
  write(b.s(), APLIC_SETIENUM, 5);
  write(b.s(), APLIC_SETIPNUM, 5);
  CHECK(b.pending(5));
  write(b.s(), APLIC_SOURCECFG(5), 0);
  write(b.s(), APLIC_SOURCECFG(5), APLIC_SOURCECFG_EDGE1);
  CHECK_FALSE(b.pending(5));
  CHECK(read(b.s(), APLIC_SETIE(0)) == 0);
  CHECK(read(b.s(), APLIC_TARGET(5)) == 0);
}

TEST_CASE("genmsi sends whatever the domain's enable says, and is busy until then", "[aplic]") {
  Bench b;
  write(b.s(), APLIC_GENMSI, 3u << APLIC_TARGET_HART_SHIFT | 77);
  CHECK(read(b.s(), APLIC_GENMSI) == (3u << APLIC_TARGET_HART_SHIFT | APLIC_GENMSI_BUSY | 77));
  write(b.s(), APLIC_GENMSI, 1);  // ignored while busy
  REQUIRE(b.run() == 1);
  CHECK(b.messages[0] == Message{20_ns, kSupervisorImsic + 0x3000, 77});
  CHECK(read(b.s(), APLIC_GENMSI) == (3u << APLIC_TARGET_HART_SHIFT | 77));
  write(b.m(), APLIC_GENMSI, 5);
  REQUIRE(b.run() == 2);
  CHECK(b.messages[1].address == kMachineImsic);
}

TEST_CASE("a message from before a reset makes no genmsi idle that was written behind it", "[aplic][reset]") {
  Bench b;
  write(b.s(), APLIC_GENMSI, 7);
  base::calendar().set_now(10_ns);
  b.aplic.reset();
  CHECK(read(b.s(), APLIC_GENMSI) == 0);
  write(b.s(), APLIC_GENMSI, 8);
  base::calendar().dispatch();
  CHECK(b.messages.size() == 1);
  CHECK(read(b.s(), APLIC_GENMSI) == (APLIC_GENMSI_BUSY | 8));
  CHECK(b.run() == 2);
  CHECK(read(b.s(), APLIC_GENMSI) == 8);
}

TEST_CASE("the address registers place groups and strides, until they are locked", "[aplic]") {
  Bench b;
  CHECK(read(b.m(), APLIC_MMSIADDRCFG) == kMachineImsic >> 12);
  CHECK(read(b.m(), APLIC_MMSIADDRCFGH) == 2u << 12);  // LHXW: four harts
  // Two harts a group, groups 2^(12+12+4) B apart, 8 KiB from supervisor file to supervisor file.
  write(b.m(), APLIC_MMSIADDRCFGH, 4u << 24 | 1u << 16 | 1u << 12 | 0x001);
  write(b.m(), APLIC_SMSIADDRCFGH, 1u << 20 | 0x002);
  write(b.s(), APLIC_GENMSI, 3u << APLIC_TARGET_HART_SHIFT | 1);
  write(b.m(), APLIC_GENMSI, 3u << APLIC_TARGET_HART_SHIFT | 1);
  REQUIRE(b.run() == 2);
  CHECK(b.messages[0].address == (0x2ull << 44 | kSupervisorImsic | 1ull << 28 | 0x2000));
  CHECK(b.messages[1].address == (0x1ull << 44 | kMachineImsic | 1ull << 28 | 0x1000));

  write(b.m(), APLIC_MMSIADDRCFGH, ~0u);
  CHECK(read(b.m(), APLIC_MMSIADDRCFGH) == 0x9f77'ffff);
  for (const std::uint32_t offset : {APLIC_MMSIADDRCFG, APLIC_MMSIADDRCFGH, APLIC_SMSIADDRCFG, APLIC_SMSIADDRCFGH}) {
    const std::uint64_t before = read(b.m(), offset);
    write(b.m(), offset, 0);
    CHECK(read(b.m(), offset) == before);
  }
}

TEST_CASE("reserved words read as zero; other forms of access are refused", "[aplic]") {
  Bench b;
  AplicDomain& s = b.aplic.supervisor();
  CHECK(read(s.registers(), APLIC_DOMAINCFG) == (APLIC_DOMAINCFG_FIXED | APLIC_DOMAINCFG_DM));
  for (const std::uint64_t offset : {0x1000u, APLIC_MMSIADDRCFG, 0x2004u, 0x3000u - 4}) {
    std::uint64_t value = 0xffff'ffff;
    CHECK(s.write(offset, &value, 4) == base::Answer::ok);
    CHECK(s.read(offset, &value, 4) == base::Answer::ok);
    CHECK(value == 0);
  }
  std::uint64_t value = 0;
  CHECK(s.read(APLIC_SIZE, &value, 4) == base::Answer::unmapped);
  CHECK(s.read(0x1000, &value, 8) == base::Answer::unmapped);
  CHECK(s.read(APLIC_DOMAINCFG, &value, 8) == base::Answer::wrong_width);
  CHECK(s.read(APLIC_DOMAINCFG, &value, 1) == base::Answer::wrong_width);
}

TEST_CASE("parameters of an APLIC", "[aplic]") {
  const auto& schema = base::schema_of<Aplic::Parameters>();
  Aplic::Parameters p;
  schema.find("owner")->assign_text(&p, "machine");
  CHECK(p.owner == AplicDomain::Level::machine);
  CHECK_THROWS_AS(schema.find("owner")->assign_text(&p, "user"), base::ValueError);
  CHECK_THROWS_AS(schema.find("msi_latency")->assign_text(&p, "1 ms"), base::ValueError);
}
