// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/measure/mistakes.h"
#include "models/base/registers/register_bank.h"

using namespace sluice::base;

namespace {

/// A bank of 64 KiB.
struct Bench {
  RegisterBank bank{"nic.eth0", 0x10000};
  Bench() { mistakes().clear(); }
  std::uint64_t read(std::uint64_t offset, unsigned size = 4) {
    std::uint64_t v = 0;
    REQUIRE(bank.read(offset, &v, size) == Answer::ok);
    return v;
  }
  void write(std::uint64_t offset, std::uint64_t v, unsigned size = 4) {
    REQUIRE(bank.write(offset, &v, size) == Answer::ok);
  }
  Answer try_read(std::uint64_t offset, unsigned size) {
    std::uint64_t v = 0x5555;
    const Answer a = bank.read(offset, &v, size);
    REQUIRE((a == Answer::ok || v == 0x5555));
    return a;
  }
  Answer try_write(std::uint64_t offset, unsigned size) {
    const std::uint64_t v = ~0ull;
    return bank.write(offset, &v, size);
  }
};

}  // namespace

TEST_CASE("a register starts at its reset value and keeps the bits outside its mask", "[register_bank]") {
  Bench b;
  const auto id = b.bank.add({.name = "control", .offset = 8, .reset = 0xa0, .write_mask = 0x0f});
  REQUIRE(b.read(8) == 0xa0);
  b.write(8, 0xffffffff);
  REQUIRE(b.read(8) == 0xaf);
  b.bank.value(id) = 0x1234;
  REQUIRE(b.read(8) == 0x1234);
  b.bank.reset();
  REQUIRE(b.read(8) == 0xa0);
}

TEST_CASE("a range of the bank knows its registers", "[register_bank]") {
  RegisterBank bank("nic.eth0", 0x100);
  bank.add({.name = "wide", .offset = 8, .width = 8});
  bank.add({.name = "each", .offset = 0x40, .count = 3, .stride = 16});
  REQUIRE(bank.register_in(0, 8).empty());
  REQUIRE(bank.register_in(0, 9) == "wide");
  REQUIRE(bank.register_in(15, 1) == "wide");
  REQUIRE(bank.register_in(16, 0x30).empty());
  REQUIRE(bank.register_in(0x5c, 0x10) == "each[2]");
  REQUIRE(bank.register_in(0x44, 12).empty());
}

TEST_CASE("each access policy does what it says", "[register_bank]") {
  Bench b;
  const auto status = b.bank.add({.name = "status", .offset = 0, .access = Access::ro, .reset = 7});
  const auto key = b.bank.add({.name = "key", .offset = 4, .access = Access::wo});
  const auto cause =
      b.bank.add({.name = "cause", .offset = 8, .access = Access::w1c, .reset = 0xff, .write_mask = 0x3c});
  const auto count = b.bank.add({.name = "count", .offset = 12, .access = Access::rc, .reset = 99});

  REQUIRE(b.try_write(0, 4) == Answer::read_only);
  REQUIRE(b.bank.value(status) == 7);
  REQUIRE(b.try_read(4, 4) == Answer::write_only);
  b.write(4, 0x77);
  REQUIRE(b.bank.value(key) == 0x77);
  b.write(8, 0x0f);
  REQUIRE(b.read(8) == 0xf3);
  REQUIRE(b.bank.value(cause) == 0xf3);
  REQUIRE(b.try_write(12, 4) == Answer::read_only);
  REQUIRE(b.read(12) == 99);
  REQUIRE(b.read(12) == 0);
  REQUIRE(b.bank.value(count) == 0);
}

TEST_CASE("bad widths, alignments and offsets are refused, counted and told", "[register_bank]") {
  Bench b;
  b.bank.add({.name = "four", .offset = 0x10, .reset = 1});
  b.bank.add({.name = "next", .offset = 0x14, .reset = 2});
  b.bank.add({.name = "eight", .offset = 0x20, .width = 8, .reset = 3});
  b.bank.add({.name = "split", .offset = 0x28, .width = 8, .reset = 4, .halves = true});

  for (const unsigned size : {1u, 2u, 8u, 3u, 0u}) {
    REQUIRE(b.try_read(0x10, size) == Answer::wrong_width);
    REQUIRE(b.try_write(0x10, size) == Answer::wrong_width);
  }
  REQUIRE(b.try_read(0x20, 4) == Answer::wrong_width);
  REQUIRE(b.try_read(0x24, 4) == Answer::wrong_width);
  REQUIRE(b.try_read(0x12, 4) == Answer::misaligned);
  REQUIRE(b.try_write(0x24, 8) == Answer::misaligned);
  REQUIRE(b.try_read(0x2c, 8) == Answer::misaligned);
  REQUIRE(b.try_read(0x0, 4) == Answer::unmapped);
  REQUIRE(b.try_read(0x18, 8) == Answer::unmapped);
  REQUIRE(b.try_read(0xfffc, 8) == Answer::unmapped);
  REQUIRE(b.try_write(0x10000, 4) == Answer::unmapped);
  REQUIRE(b.try_read(~0ull, 4) == Answer::unmapped);
  REQUIRE(b.try_read(0x4'0000'0010, 4) == Answer::unmapped);

  REQUIRE(b.bank.refused(Answer::wrong_width) == 12);
  REQUIRE(b.bank.refused(Answer::misaligned) == 3);
  REQUIRE(b.bank.refused(Answer::unmapped) == 6);
  REQUIRE(b.bank.refused() == 21);
  REQUIRE(mistakes().reports() == 21);
  const auto& said = mistakes().list();
  REQUIRE(said.front().what == "nic.eth0: read of 1 bytes at 0x10: not the register's width (four)");
  REQUIRE(std::any_of(said.begin(), said.end(), [](const Mistake& m) {
    return m.what == "nic.eth0: read of 4 bytes at 0x0: no register there";
  }));
  REQUIRE(b.read(0x10) == 1);
  REQUIRE(b.read(0x20, 8) == 3);
}

TEST_CASE("a 4-byte narrow register may be accessed in parts of 1 and 2", "[register_bank]") {
  Bench b;
  std::vector<RegisterWrite> writes;
  const auto id =
      b.bank.add({.name = "control", .offset = 0x40, .narrow = true, .on_write = [&](const RegisterWrite& w) {
                    writes.push_back(w);
                  }});
  b.write(0x40, 0x44332211);
  b.write(0x42, 0xbbaa, 2);
  b.write(0x41, 0xcc, 1);
  REQUIRE(b.bank.value(id) == 0xbbaacc11);
  REQUIRE(b.read(0x40, 2) == 0xcc11);
  REQUIRE(b.read(0x43, 1) == 0xbb);
  REQUIRE(writes.size() == 3);
  REQUIRE(writes[1].lanes == 0xffff0000);
  REQUIRE(writes[2].written == 0xcc00);
  REQUIRE(b.try_read(0x41, 2) == Answer::misaligned);
  REQUIRE(b.try_read(0x40, 3) == Answer::wrong_width);
  REQUIRE(b.try_read(0x40, 8) == Answer::wrong_width);
}

TEST_CASE("an 8-byte register with halves may be accessed in two", "[register_bank]") {
  Bench b;
  std::vector<RegisterWrite> writes;
  const auto id = b.bank.add({.name = "base",
                              .offset = 0x40,
                              .width = 8,
                              .write_mask = 0x0000ffff'fffff000,
                              .halves = true,
                              .on_write = [&](const RegisterWrite& w) { writes.push_back(w); }});
  b.write(0x40, 0x12345678);
  b.write(0x44, 0xabcdef01);
  REQUIRE(b.bank.value(id) == 0x0000ef01'12345000);
  REQUIRE(b.read(0x40) == 0x12345000);
  REQUIRE(b.read(0x44) == 0x0000ef01);
  b.write(0x40, ~0ull, 8);
  REQUIRE(b.read(0x40, 8) == 0x0000ffff'fffff000);

  REQUIRE(writes.size() == 3);
  REQUIRE(writes[0].lanes == 0x00000000'ffffffff);
  REQUIRE(writes[0].written == 0x12345678);
  REQUIRE(writes[1].lanes == 0xffffffff'00000000);
  REQUIRE(writes[1].written == 0xabcdef01'00000000);
  REQUIRE(writes[1].value == 0x0000ef01'12345000);
  REQUIRE(writes[2].lanes == ~0ull);
}

TEST_CASE("a read clears only the half that was read", "[register_bank]") {
  Bench b;
  b.bank.add(
      {.name = "octets", .offset = 0, .width = 8, .access = Access::rc, .reset = 0x11111111'22222222, .halves = true});
  REQUIRE(b.read(4) == 0x11111111);
  REQUIRE(b.read(0, 8) == 0x22222222);
}

TEST_CASE("callbacks see the element and replace what is read", "[register_bank]") {
  Bench b;
  unsigned pops = 0;
  std::vector<std::pair<unsigned, std::uint64_t>> doorbells;
  b.bank.add({.name = "tail", .offset = 0x1000, .count = 8, .stride = 0x100, .on_write = [&](const RegisterWrite& w) {
                doorbells.emplace_back(w.index, w.value);
              }});
  b.bank.add(
      {.name = "head", .offset = 0x1004, .access = Access::ro, .count = 8, .stride = 0x100, .on_read = [](unsigned i) {
         return std::uint64_t{100} + i;
       }});
  b.bank.add({.name = "fifo",
              .offset = 0,
              .access = Access::ro,
              .on_read = [&](unsigned) { return std::uint64_t{++pops}; },
              .read_acts = true});
  b.bank.add({.name = "claim",
              .offset = 8,
              .on_read = [&](unsigned) { return std::uint64_t{++pops}; },
              .read_acts = true,
              .on_peek = [&](unsigned) { return std::uint64_t{pops} + 1; }});
  b.bank.add({.name = "source", .offset = 0x40, .reset = 9, .count = 3, .first_element = 1});
  b.write(0x1000, 5);
  b.write(0x1700, 6);
  REQUIRE(doorbells == std::vector<std::pair<unsigned, std::uint64_t>>{{0, 5}, {7, 6}});
  REQUIRE(b.read(0x1000) == 5);
  REQUIRE(b.read(0x1704) == 107);
  REQUIRE(b.try_read(0x1800, 4) == Answer::unmapped);
  REQUIRE(b.read(0) == 1);

  const std::string dump = b.bank.dump();
  REQUIRE(pops == 1);
  REQUIRE(dump.find("0x1700  tail[7]                           0x00000006\n") != std::string::npos);
  REQUIRE(dump.find("0x0008  claim                             0x00000002\n") != std::string::npos);
  REQUIRE(dump.find("0x0040  source[1]                         0x00000009\n") != std::string::npos);
  REQUIRE(dump.find("0x0048  source[3] ") != std::string::npos);
  REQUIRE(dump.find("source[0]") == std::string::npos);
  REQUIRE(dump.find("head[3] ") != std::string::npos);
  REQUIRE(dump.find("0x00000067\n") != std::string::npos);
}

TEST_CASE("thousands of interleaved array registers are all found", "[register_bank]") {
  RegisterBank bank("nic.eth0", 0x800000);
  const auto a = bank.add({.name = "a", .offset = 0, .count = 2048, .stride = 0x1000});
  const auto c = bank.add({.name = "c", .offset = 8, .width = 8, .count = 2048, .stride = 0x1000});
  for (std::uint64_t i = 0; i < 2048; ++i) {
    const std::uint64_t v = i * 3 + 1;
    REQUIRE(bank.write(i * 0x1000, &v, 4) == Answer::ok);
    REQUIRE(bank.write(i * 0x1000 + 8, &v, 8) == Answer::ok);
    REQUIRE(bank.write(i * 0x1000 + 4, &v, 4) == Answer::unmapped);
  }
  for (unsigned i = 0; i < 2048; ++i) {
    REQUIRE(bank.value(a, i) == i * 3 + 1);
    REQUIRE(bank.value(c, i) == i * 3 + 1);
  }
}

TEST_CASE("ill-formed declarations are refused", "[register_bank]") {
  RegisterBank bank("nic.eth0", 0x100);
  bank.add({.name = "a", .offset = 8, .width = 8});
  const auto refused = [&](RegisterDeclaration d) { REQUIRE_THROWS_AS(bank.add(std::move(d)), std::logic_error); };
  refused({.name = "a", .offset = 0});
  refused({.name = "b", .offset = 12});
  refused({.name = "b", .offset = 2});
  refused({.name = "b", .offset = 0, .width = 2});
  refused({.name = "b", .offset = 20, .width = 8});
  refused({.name = "b", .offset = 0x100});
  refused({.name = "b", .offset = 0xf0, .count = 5});
  refused({.name = "b", .offset = 0x10, .count = 3, .stride = 0x78});
  refused({.name = "b", .offset = 0x10, .count = 0});
  refused({.name = "b", .offset = 0x10, .reset = 0x1'0000'0000});
  refused({.name = "b", .offset = 0x10, .halves = true});
  refused({.name = "b", .offset = 0x10, .width = 8, .narrow = true});
  REQUIRE_NOTHROW(bank.add({.name = "b", .offset = 0xf0, .count = 4}));
}

TEST_CASE("refused accesses appear in the statistics", "[register_bank]") {
  Bench b;
  StatisticsGroup group("nic.eth0");
  b.bank.register_statistics(group);
  b.try_read(0, 4);
  REQUIRE(group.value("register_unmapped") == 1);
  REQUIRE(group.value("register_misaligned") == 0);
}

TEST_CASE("a device that decodes its registers itself refuses by range, width and alignment", "[register_bank]") {
  CHECK(check_access(0x0, 1, 8, 1 | 4) == Answer::ok);
  CHECK(check_access(0x4, 4, 8, 1 | 4) == Answer::ok);
  CHECK(check_access(0x8, 1, 8, 1 | 4) == Answer::unmapped);
  CHECK(check_access(0x0, 2, 8, 1 | 4) == Answer::wrong_width);
  CHECK(check_access(0x0, 3, 8, 1 | 2) == Answer::wrong_width);
  CHECK(check_access(0x0, 0, 8, 1 | 4) == Answer::wrong_width);
  CHECK(check_access(0x2, 4, 8, 1 | 4) == Answer::misaligned);
}
