// SPDX-License-Identifier: Apache-2.0
/// Memory of type NC and IO, as an engine's slow path sees it: write-combining buffers, blocks of loads, and time.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/unit/riscv/uncached_machine.h"

using namespace sluice;
using namespace sluice::riscv;

TEST_CASE("NC stores wait in a write-combining buffer until it is full", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(2, 32));
  m.hart.state().x[kA0] = kNc + kBuffer + 64;
  m.hart.state().x[kA1] = 0x1122'3344'5566'7788;
  const std::uint64_t before = m.slots();
  m.execute({sd(0), sd(24), sd(8)});
  CHECK(m.writes.empty());
  CHECK(m.slots() == before + 3 * 2);  // they cost what stores cost
  m.execute({sd(16)});
  REQUIRE(m.writes.size() == 1);
  CHECK(m.writes[0].address == kBuffer + 64);
  CHECK(m.writes[0].bytes.size() == 32);
  CHECK(m.writes[0].slot == before + 3 * 2);
  CHECK(eight(m.device, 64 + 16) == 0x1122'3344'5566'7788);
  CHECK(m.hart.counters().combined_stores == 4);
  CHECK(m.hart.counters().combined_full == 1);
  CHECK(m.hart.counters().combined_parts == 0);
}

TEST_CASE("a fence after stores writes what is combined, each part without a gap in one write", "[iss]") {
  for (const std::uint32_t fence : {kFence, kFenceOutput}) {
    UncachedMachine m(UncachedMachine::shaped(4, 64));
    m.hart.state().x[kA0] = kNc + kBuffer;
    m.hart.state().x[kA1] = 0xff;
    m.execute({sd(128), sd(16), sb(24), sd(40), kFenceReads});
    CHECK(m.writes.empty());
    CHECK_FALSE(m.hart.counters().combined_parts);
    m.execute({fence});
    REQUIRE(m.writes.size() == 3);  // the buffer that was opened first comes first
    CHECK(m.writes[0].address == kBuffer + 128);
    CHECK(m.writes[1].address == kBuffer + 16);
    CHECK(m.writes[1].bytes.size() == 9);
    CHECK(m.writes[2].address == kBuffer + 40);
    CHECK(m.writes[2].bytes.size() == 8);
    CHECK(m.hart.counters().combined_parts == 2);
    m.execute({fence});
    CHECK(m.writes.size() == 3);
  }
}

TEST_CASE("accesses past the caches, atomics and waits come behind what is combined", "[iss]") {
  const std::vector<std::vector<std::uint32_t>> followers = {{kLdDevice}, {kSdDevice}, {ld(256)},
                                                             {kAmoAddD},  {kLrD},      {kWfi}};
  for (std::size_t n = 0; n < followers.size(); ++n) {
    CAPTURE(n);
    UncachedMachine m(UncachedMachine::shaped(4, 64));
    m.hart.state().x[kA0] = kNc + kBuffer;
    m.hart.state().x[13] = IssMachine::kDevice;
    std::size_t seen = 99;
    m.on_device = [&] { seen = m.writes.size(); };
    m.execute({sd(0)});
    if (n == 3 || n == 4) m.hart.state().x[kA0] = kData;
    m.execute(followers[n]);
    CHECK(m.writes.size() == 1);
    if (n < 2) CHECK(seen == 1);
  }
  UncachedMachine m(UncachedMachine::shaped(4, 64));  // loads and stores of cached memory do not
  m.hart.state().x[kA0] = kNc + kBuffer;
  m.execute({sd(0)});
  m.hart.state().x[kA0] = kData;
  m.execute({sd(0), ld(0), sd(0)});
  CHECK(m.writes.empty());
}

TEST_CASE("a store that finds no buffer has the oldest written and waits for it", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(2, 64));
  m.hart.state().x[kA0] = kNc + kBuffer;
  const std::uint64_t before = m.slots();
  m.execute({sd(0), sd(64), sd(8), sd(128)});
  REQUIRE(m.writes.size() == 1);
  CHECK(m.writes[0].address == kBuffer);
  CHECK(m.writes[0].bytes.size() == 16);
  CHECK(m.writes[0].slot == before + 3 * 2);
  CHECK(m.slots() == before + 4 * 2 + 100);
  CHECK(m.hart.counters().combined_waits == 1);
  CHECK(m.hart.counters().uncached_slots == 100);
  m.execute({sd(192)});  // one of two has drained by now, and is open; the other is open, too
  CHECK(m.writes.size() == 2);
  CHECK(m.writes[1].address == kBuffer + 64);
}

TEST_CASE("full buffers drain at once, as many as there are", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(3, 8));
  m.hart.state().x[kA0] = kNc + kBuffer;
  const std::uint64_t before = m.slots();
  m.execute({sd(0), sd(8), sd(16), sd(24)});
  REQUIRE(m.writes.size() == 4);
  CHECK(m.writes[2].slot == before + 4);
  CHECK(m.writes[3].slot == before + 100);  // the first one's buffer is free
  CHECK(m.slots() == before + 100 + 2);
  CHECK(m.hart.counters().combined_waits == 1);
}

TEST_CASE("without buffers an NC store waits until it is taken", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(0, 64));
  m.hart.state().x[kA0] = kNc + kBuffer;
  const std::uint64_t before = m.slots();
  m.execute({sd(0), sd(8)});
  CHECK(m.writes.size() == 2);
  CHECK(m.slots() == before + 2 * (100 + 2));
}

TEST_CASE("an NC load reads its block, and the loads that follow directly get the rest", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(4, 64, 32));
  m.hart.state().x[kA0] = kNc + kBuffer + 96;
  m.hart.state().x[13] = IssMachine::kDevice;
  const std::uint64_t before = m.slots();
  m.execute({ld(8), ld(0), lw(16), lw(20), ld(24)});
  CHECK(m.reads == std::vector<std::pair<std::uint64_t, unsigned>>{{kBuffer + 96, 32}});
  CHECK(m.slots() == before + 300 + 5 * 2);
  CHECK(m.x(kA2) == eight(m.device, 120));
  CHECK(m.hart.counters().uncached_reads == 1);
  CHECK(m.hart.counters().block_loads == 4);
  const auto reads_of = [&](std::vector<std::uint32_t> words) {
    m.reads.clear();
    m.execute(std::move(words));
    return m.reads.size();
  };
  CHECK(reads_of({ld(0), ld(0)}) == 2);         // bytes that an earlier load has got are read again
  CHECK(reads_of({ld(0), lw(8), ld(8)}) == 2);  // and in part, too
  CHECK(reads_of({ld(0), kNop, kNop, kNop, ld(8)}) == 1);
  CHECK(reads_of({ld(0), kNop, kNop, kNop, kNop, ld(8)}) == 2);  // not directly
  CHECK(reads_of({ld(0), kFenceReads, ld(8)}) == 2);
  CHECK(reads_of({ld(0), kLdDevice, ld(8)}) == 2);
  CHECK(reads_of({ld(24), ld(32), ld(40)}) == 2);  // another block
  CHECK(reads_of({ld(0), sd(64), ld(8)}) == 2);    // a store between
  m.hart.state().x[kA0] = kIo + kBuffer + 96;
  CHECK(reads_of({ld(0), ld(8)}) == 2);  // IO
  CHECK(m.reads[0] == std::pair<std::uint64_t, unsigned>{kBuffer + 96, 8});
  m.hart.state().x[kA0] = kBuffer + 96;
  CHECK(reads_of({ld(0), ld(8)}) == 2);  // a device whose page has no type
}

TEST_CASE("what changes the bytes of a block, or takes long, ends it", "[iss]") {
  const std::uint64_t old = 0x0101'0101'0101'0101, changed = 0x0202'0202'0202'0202;
  // The first load gets bytes 0 to 7 of a block of 32, then bytes 8 to 15 change, and the last load gets these.
  const auto last_load = [&](std::uint64_t first_at, std::uint64_t store_at, std::uint32_t word, unsigned block = 8) {
    UncachedMachine m(UncachedMachine::shaped(4, block, 32));
    m.put(kData, old);
    m.put(kData + 8, old);
    m.hart.state().x[kA0] = first_at;
    m.hart.state().x[13] = store_at;
    m.hart.state().x[kA1] = changed;
    m.execute({ld(0), word, ld(8)});
    return m.x(kA2);
  };
  constexpr std::uint32_t kSwapD = 0x08b6'b02f, kSd = 0x00b6'b023;
  CHECK(last_load(kNc + kData, kNc + kData + 8, kSwapD) == changed);
  CHECK(last_load(kNc + kData, kData + 8, kSwapD) == changed);
  CHECK(last_load(kNc + kData, kIo + kData + 8, kSd) == changed);
  CHECK(last_load(kNc + kData, kNc + kData + 8, kSd) == changed);
  CHECK((last_load(kNc + kData, kNc + kData + 12, kSd) >> 32) == (changed >> 32));  // across two blocks of 8 B
  UncachedMachine m(UncachedMachine::shaped(4, 64, 32));
  m.hart.state().x[kA0] = kNc + kData;
  m.put(kData + 8, old);
  m.execute({ld(0), kWfi});
  m.put(kData + 8, changed);
  m.execute({ld(8)});
  CHECK(m.x(kA2) == changed);
  m.hart.state().x[kA0] = kIo + kData;  // IO gets nothing from a block
  m.hart.state().x[13] = kNc + kData;
  m.reads.clear();
  m.passes.clear();
  m.execute({kLdDevice, ld(8)});
  CHECK(m.passes.size() == 2);
}

TEST_CASE("a load that reaches beyond its block reads for itself", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(4, 64, 64));
  m.put(kData + 56, 0x0808'0808'0808'0808);
  m.put(kData + 64, 0x0909'0909'0909'0909);
  m.hart.state().x[kA0] = kNc + kData;
  m.execute({ld(0), ld(60)});
  CHECK(m.x(kA2) == 0x0909'0909'0808'0808);
  m.execute({ld(0), ld(3)});
  CHECK(m.x(kA2) == 0);
}

TEST_CASE("a load behind a refused one asks again", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(4, 64, 64));
  // The handler skips the load: csrr t0, mepc; addi t0, t0, 4; csrw mepc, t0; mret.
  m.load_words({0x3410'22f3, 0x0042'8293, 0x3412'9073, 0x3020'0073}, kHandler);
  m.hart.state().x[kA0] = kNc + kBuffer;
  m.refuses = true;
  m.load_words({ld(0), ld(8)}, m.code);
  m.hart.state().pc = m.code;
  for (unsigned i = 0; i < 5; ++i) m.hart.step();
  m.refuses = false;
  m.hart.step();
  CHECK(m.reads.size() == 2);
}

TEST_CASE("fence.i and sfence.vma write what is combined", "[iss]") {
  for (const std::uint32_t word : {0x0000'100fu, 0x1200'0073u}) {
    UncachedMachine m(UncachedMachine::shaped(4, 64));
    m.hart.state().x[kA0] = kNc + kData;
    m.hart.state().x[kA1] = 5;
    m.execute({sd(0)});
    CHECK(m.get(kData) == 0);
    m.execute({word});
    CHECK(m.get(kData) == 5);
  }
}

TEST_CASE("with an instruction window, a hart that had to wait for a write goes on behind it", "[iss]") {
  for (const std::uint32_t last : {sd(0), kFence, kSdDevice}) {
    TimingParts parts;
    HartConfig config = UncachedMachine::shaped(1, last == sd(0) ? 8 : 64);
    parts.give_to(config, Timing::interval);
    UncachedMachine m(config);
    m.hart.state().x[kA0] = kNc + kBuffer;
    m.hart.state().x[13] = kBuffer + 64;
    if (last != sd(0)) m.execute({sd(0)});
    m.blocked = 10'000;
    const std::uint64_t before = m.slots();
    m.execute({last, kNop, kNop});
    CHECK(m.slots() >= before + 10'000);
    CHECK(m.slots() < before + 30'000);
  }
}

TEST_CASE("an NC load sees the hart's own combined stores", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(4, 64, 64));
  m.hart.state().x[kA0] = kNc + kBuffer;
  m.hart.state().x[kA1] = 0x0102'0304'0506'0708;
  m.execute({ld(16), sd(16), ld(16)});
  CHECK(m.x(kA2) == 0x0102'0304'0506'0708);
}

TEST_CASE("RAM of type NC and IO passes the caches", "[iss]") {
  TimingParts parts;
  HartConfig config = UncachedMachine::shaped(4, 64);
  parts.give_to(config, Timing::cached);
  UncachedMachine m(config);
  m.put(kData, 0x11);
  m.hart.state().x[kA1] = 0x55;
  m.hart.state().x[kA0] = kIo + kData;
  m.execute({kNop});
  const std::uint64_t misses = m.misses, before = m.slots();
  m.execute({ld(0), sd(0), ld(0)});
  CHECK(m.x(kA2) == 0x55);
  CHECK(m.get(kData) == 0x55);
  CHECK(m.passes == std::vector<std::pair<std::uint64_t, bool>>{{kData, false}, {kData, true}, {kData, false}});
  CHECK(m.slots() == before + 40 + 2 * 300 + 3 * 2);  // and a line of instructions
  CHECK(m.misses == misses + 1);
  CHECK(parts.l1d.state(kData) == base::LineState::kInvalid);

  m.passes.clear();
  m.hart.state().x[kA0] = kNc + kData;
  m.hart.state().x[kA1] = 0x66;
  m.execute({sd(0)});
  CHECK(m.get(kData) == 0x55);  // waits in a buffer
  m.execute({ld(0)});
  CHECK(m.x(kA2) == 0x66);
  CHECK(m.get(kData) == 0x66);
  CHECK(m.passes == std::vector<std::pair<std::uint64_t, bool>>{{kData, true}, {kData, false}});
  m.execute({ld(3)});  // misaligned
  CHECK(m.x(kA2) == 0x66 >> 24);
  CHECK(parts.l1d.state(kData) == base::LineState::kInvalid);
}

TEST_CASE("atomics work in RAM of any type", "[iss]") {
  for (const std::uint64_t view : {kNc, kIo}) {
    UncachedMachine m;
    m.put(kData, 40);
    m.hart.state().x[kA0] = view + kData;
    m.hart.state().x[kA1] = 2;
    m.execute({kAmoAddD, kLrD});
    CHECK(m.x(kA2) == 42);
    m.execute({kLrD, kScD});
    CHECK(m.x(kA2) == 0);
    CHECK(m.get(kData) == 2);
    CHECK(m.passes.size() == 4);
  }
}

TEST_CASE("an access across two pages of different types does both parts", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(4, 64));
  // A view of two frames, the first NC, the second as it is.
  m.put(kRoot + 12 * 8, (kRoot + 4096) >> 12 << 10 | 1);
  m.put(kRoot + 4096, (kRoot + 8192) >> 12 << 10 | 1);
  m.put(kRoot + 8192, kData >> 12 << 10 | 0xcf | std::uint64_t{1} << 61);
  m.put(kRoot + 8200, (kData + 0x3000) >> 12 << 10 | 0xcf);
  m.hart.state().x[kA0] = (std::uint64_t{12} << 30) + 4092;
  m.hart.state().x[kA1] = 0x8877'6655'4433'2211;
  m.execute({sd(0), ld(0)});
  CHECK(m.x(kA2) == 0x8877'6655'4433'2211);
  CHECK((m.get(kData + 4088) >> 32) == 0x4433'2211);
  CHECK((m.get(kData + 0x3000) & 0xffff'ffff) == 0x8877'6655);
}

TEST_CASE("lines with a home of their own are for caches only", "[iss]") {
  for (const std::uint64_t view : {kNc, kIo})
    for (const std::uint32_t word : {ld(0), sd(0), kAmoAddD}) {
      UncachedMachine m;
      m.hart.state().x[kA0] = view + 0x6000'0000;
      m.execute({word});
      CHECK(m.csr(csr::kMcause) == (word == ld(0) ? 5 : 7));
      CHECK(m.refusals == std::vector<Refusal>{Refusal::uncached_line});
    }
}

TEST_CASE("devices that take no blocks are accessed as ever, whatever the type", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(4, 64, 64));
  m.hart.state().x[kA0] = kNc + IssMachine::kDevice;
  m.hart.state().x[kA1] = 77;
  m.execute({sd(0), ld(0)});
  CHECK(m.x(kA2) == 77);
  CHECK(m.stores == 1);
  CHECK(m.loads == 1);
  m.hart.state().x[kA0] = kNc + kBuffer + 4;
  m.execute({ld(0)});
  CHECK(m.csr(csr::kMcause) == 5);  // outside RAM an address must be a multiple of the size
  CHECK(m.refusals == std::vector<Refusal>{Refusal::misaligned_device});
}

TEST_CASE("a refused NC load is an access fault, and a reset forgets what is combined", "[iss]") {
  UncachedMachine m(UncachedMachine::shaped(4, 64, 64));
  m.refuses = true;
  m.hart.state().x[kA0] = kNc + kBuffer;
  m.execute({ld(0)});
  CHECK(m.csr(csr::kMcause) == 5);
  CHECK(m.csr(csr::kMepc) == kRam);
  m.hart.privileged().set_privilege(Privilege::supervisor);
  m.execute({sd(0)});
  m.hart.reset();
  m.execute({kFence});
  CHECK(m.writes.empty());
}

TEST_CASE("with an instruction window, combined stores leave the store buffer in their order", "[iss]") {
  TimingParts parts;
  HartConfig config = UncachedMachine::shaped(2, 16);
  parts.give_to(config, Timing::interval);
  UncachedMachine m(config);
  m.hart.state().x[kA0] = kNc + kBuffer;
  m.hart.state().x[kA1] = 1;
  m.execute({sd(0), sd(8), sd(16), sd(24), sd(32), sd(40), kFence});
  REQUIRE(m.writes.size() == 3);
  CHECK(m.writes[0].bytes.size() == 16);
  CHECK(m.writes[1].slot > m.writes[0].slot);
  CHECK(m.writes[2].slot >= m.writes[0].slot + 100);  // two buffers
  CHECK(m.slots() < m.writes[0].slot + 100);          // the hart itself goes on
  m.execute({sd(64), kFence, ld(64), ld(72)});
  REQUIRE(m.writes.size() == 4);
  CHECK(m.x(kA2) == eight(m.device, 72));
  CHECK(m.reads.size() == 2);
  CHECK(m.slots() >= m.writes[3].slot + 2 * 300);
}
