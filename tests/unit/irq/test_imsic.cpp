// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "models/irq/imsic.h"
#include "models/irq/imsic_regs.h"
#include "tests/unit/irq/register_access.h"

using namespace sluice;
using irq::Imsic;

namespace {

struct Bench {
  Imsic imsic{"imsic", {.identities = 127}, 2};
  irq::ImsicFile& file(unsigned hart, Imsic::Level level = Imsic::kSupervisor) { return imsic.file(hart, level); }
  base::Answer message(Imsic::Level level, std::uint64_t offset, std::uint32_t data) {
    return imsic.write(level, offset, &data, sizeof data);
  }
  static std::uint64_t get(irq::ImsicFile& f, unsigned select) {
    std::uint64_t value = 0x5555;
    REQUIRE(f.read(select, value));
    return value;
  }
  static void set(irq::ImsicFile& f, unsigned select, std::uint64_t value) { REQUIRE(f.write(select, value)); }
  static void open(irq::ImsicFile& f) {
    set(f, IMSIC_EIDELIVERY, 1);
    set(f, IMSIC_EIE0, ~0ull);
    set(f, IMSIC_EIE0 + 2, ~0ull);
  }
};

}  // namespace

TEST_CASE("a message reaches the file of its hart and level", "[imsic]") {
  Bench b;
  for (const unsigned hart : {0u, 1u}) {
    Bench::open(b.file(hart, Imsic::kMachine));
    Bench::open(b.file(hart, Imsic::kSupervisor));
  }
  CHECK(b.message(Imsic::kSupervisor, IMSIC_PAGE, 65) == base::Answer::ok);
  CHECK(b.file(1).line.level());
  CHECK(b.file(1).top() == (65u << 16 | 65u));
  CHECK_FALSE(b.file(0).line.level());
  CHECK_FALSE(b.file(1, Imsic::kMachine).line.level());
  CHECK(Bench::get(b.file(1), IMSIC_EIP0 + 2) == 2);

  CHECK(b.message(Imsic::kMachine, IMSIC_SETEIPNUM_BE, 0x0300'0000) == base::Answer::ok);
  CHECK(b.file(0, Imsic::kMachine).top() == (3u << 16 | 3u));
}

TEST_CASE("the lowest identity comes first, and a claim takes it", "[imsic]") {
  Bench b;
  irq::ImsicFile& f = b.file(0);
  Bench::open(f);
  for (const unsigned identity : {100u, 7u, 127u}) CHECK(f.set_pending(identity));
  CHECK(f.top() >> 16 == 7);
  f.claim(7);
  CHECK(f.top() >> 16 == 100);
  f.claim(100);
  f.claim(100);
  CHECK(f.top() >> 16 == 127);
  CHECK(f.line.level());
  f.claim(127);
  CHECK(f.top() == 0);
  CHECK_FALSE(f.line.level());
}

TEST_CASE("enable, threshold and delivery each hold an interrupt back", "[imsic]") {
  Bench b;
  irq::ImsicFile& f = b.file(0);
  f.set_pending(20);
  CHECK(f.top() == 0);
  Bench::set(f, IMSIC_EIE0, 1u << 20);
  CHECK(f.top() >> 16 == 20);
  CHECK_FALSE(f.line.level());  // delivery is off after reset; topei shows the interrupt all the same
  Bench::set(f, IMSIC_EIDELIVERY, 1);
  CHECK(f.line.level());
  Bench::set(f, IMSIC_EITHRESHOLD, 20);
  CHECK_FALSE(f.line.level());
  CHECK(f.top() == 0);
  Bench::set(f, IMSIC_EITHRESHOLD, 21);
  CHECK(f.line.level());
  Bench::set(f, IMSIC_EIE0, 0);
  CHECK_FALSE(f.line.level());
}

TEST_CASE("eip can be written", "[imsic]") {
  Bench b;
  irq::ImsicFile& f = b.file(0);
  Bench::open(f);
  Bench::set(f, IMSIC_EIP0, 0x11);
  CHECK(Bench::get(f, IMSIC_EIP0) == 0x10);  // there is no identity 0
  CHECK(f.top() >> 16 == 4);
  Bench::set(f, IMSIC_EIP0, 0);
  CHECK_FALSE(f.line.level());
}

TEST_CASE("what an interrupt file does not have", "[imsic]") {
  Bench b;
  irq::ImsicFile& f = b.file(0);
  std::uint64_t value = 0;
  for (const unsigned select : {0x00u, 0x30u, 0x6fu, 0x81u, 0xbfu, 0xc1u, 0xffu, 0x100u}) {
    CHECK_FALSE(f.read(select, value));
    CHECK_FALSE(f.write(select, 1));
  }
  for (const unsigned select : {0x71u, 0x73u, 0x7fu, IMSIC_EIP0 + 4, IMSIC_EIE0 + 62}) {  // reserved, or beyond 127
    Bench::set(f, select, ~0ull);
    CHECK(Bench::get(f, select) == 0);
  }
  Bench::set(f, IMSIC_EIDELIVERY, 1);
  Bench::set(f, IMSIC_EIDELIVERY, 0x4000'0000);  // delivery from a PLIC is not supported
  CHECK(Bench::get(f, IMSIC_EIDELIVERY) == 1);
  Bench::set(f, IMSIC_EITHRESHOLD, ~0ull);
  CHECK(Bench::get(f, IMSIC_EITHRESHOLD) == 127);
  CHECK_FALSE(f.set_pending(0));
  CHECK_FALSE(f.set_pending(128));
  CHECK_FALSE(f.set_pending(~0ull));
  f.claim(~0ull);
}

TEST_CASE("the pages read as zero and ignore what names nothing", "[imsic]") {
  Bench b;
  Bench::open(b.file(0));
  CHECK(b.message(Imsic::kSupervisor, 0, 128) == base::Answer::ok);
  CHECK(b.message(Imsic::kSupervisor, 0, 0) == base::Answer::ok);
  CHECK(b.message(Imsic::kSupervisor, 8, 1) == base::Answer::ok);
  CHECK_FALSE(b.file(0).line.level());
  b.message(Imsic::kSupervisor, 0, 1);
  std::uint64_t value = ~0ull;
  for (const unsigned offset : {0u, 4u, 8u, 0xffcu}) {
    CHECK(b.imsic.read(Imsic::kSupervisor, offset, &value, 4) == base::Answer::ok);
    CHECK(static_cast<std::uint32_t>(value) == 0);
  }
}

TEST_CASE("accesses outside the pages or of another form are refused", "[imsic]") {
  Bench b;
  std::uint64_t value = 1;
  CHECK(b.imsic.region_size() == 2 * IMSIC_PAGE);
  CHECK(b.imsic.write(Imsic::kMachine, 2 * IMSIC_PAGE, &value, 4) == base::Answer::unmapped);
  CHECK(b.imsic.write(Imsic::kMachine, ~0ull - 3, &value, 4) == base::Answer::unmapped);
  CHECK(b.imsic.write(Imsic::kMachine, 0, &value, 8) == base::Answer::wrong_width);
  CHECK(b.imsic.write(Imsic::kMachine, 0, &value, 1) == base::Answer::wrong_width);
  CHECK(b.imsic.read(Imsic::kMachine, 2, &value, 4) == base::Answer::misaligned);
  CHECK(b.file(0, Imsic::kMachine).top() == 0);
}

TEST_CASE("identities are a multiple of 64 less one", "[imsic]") {
  const auto& schema = base::schema_of<Imsic::Parameters>();
  Imsic::Parameters p;
  schema.find("identities")->assign_text(&p, "2047");
  CHECK_THROWS_AS(schema.find("identities")->assign_text(&p, "64"), base::ValueError);
  CHECK(p.identities == 2047);
}

TEST_CASE("a debugger sees each file by its hart and level", "[imsic]") {
  Bench b;
  Bench::open(b.file(1));
  Bench::set(b.file(1), IMSIC_EITHRESHOLD, 100);
  CHECK(b.message(Imsic::kSupervisor, IMSIC_PAGE, 65) == base::Answer::ok);
  auto seen = test::look("imsic.hart1.supervisor");
  CHECK(seen["eidelivery"] == 1);
  CHECK(seen["eithreshold"] == 100);
  CHECK(seen["eip0"] == 0);
  CHECK(seen["eip2"] == 2);
  CHECK(seen["eie0"] == ~std::uint64_t{1});
  CHECK(seen.count("eip4") == 0);
  for (const char* other : {"imsic.hart1.machine", "imsic.hart0.supervisor"}) CHECK(test::look(other)["eip2"] == 0);
  CHECK(b.file(1).top() == (65u << 16 | 65u));
}
