// SPDX-License-Identifier: Apache-2.0
/// Write-through memory, its prefetches, and cache-block operations (Zicbom, Zicboz), as an engine's slow path sees
/// them.
#include <algorithm>
#include <array>

#include <catch2/catch.hpp>

#include "tests/unit/riscv/uncached_machine.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

constexpr std::uint64_t kWt = std::uint64_t{12} << 30, kHome = 0x6000'0000;
constexpr std::uint32_t kInval = 0x0005'200f, kClean = 0x0015'200f, kFlush = 0x0025'200f, kZero = 0x0045'200f;  // (a0)
constexpr std::uint32_t kPrefetchR = 0x0015'6013, kPrefetchW = 0x0035'6013, kPrefetchI = 0x0005'6013;           // 0(a0)

/// Its first 4 GiB are write-through memory again at kWt, and lines of kHome are held at once.
struct BlockMachine : UncachedMachine {
  explicit BlockMachine(HartConfig config = {}) : UncachedMachine(with_lines(config)) {
    for (std::uint64_t n = 0; n < 4; ++n) put(kRoot + (n + 12) * 8, n << 28 | 0xcf | std::uint64_t{3} << 61);
    hart.privileged().csr_poke(csr::kMenvcfg, kMenvcfgPbmte | kEnvcfgCbie | kEnvcfgCbcfe | kEnvcfgCbze);
    hart.state().x[kA0] = kWt + kBuffer;
  }
  static HartConfig with_lines(HartConfig config) {
    if (config.write_through.lines == 0) config.write_through = {4, 2};
    return config;
  }

  bool start_read(std::uint64_t line, unsigned size, std::uint64_t slot) override {
    if (!starts) return false;
    started.push_back({line, size});
    started_in.push_back(slot);
    return true;
  }
  bool await_line() override {
    ++awaited;
    if (reset_while_it_waits) hart.reset();
    if (!started.empty()) arrive();
    return !reset_while_it_waits;
  }
  void arrive(bool fails = false) {
    const std::uint64_t line = started.front().first;
    started.erase(started.begin());
    hart.write_through().arrived(line, fails ? nullptr : device.data() + (line - kBuffer));
  }
  void clean_line(std::uint64_t address, bool keep) override {
    cleaned.push_back({address, keep});
    hart.state().slots += 7;
  }
  void give_back(std::uint64_t line) override { given_back.push_back(line); }
  std::uint8_t* held(std::uint64_t address, base::LineUse) override { return &home_line[address % 64]; }

  /// Runs instructions, and returns a2.
  std::uint64_t after(std::vector<std::uint32_t> words) {
    execute(std::move(words));
    return x(kA2);
  }
  std::uint64_t in_device(std::size_t from) { return eight(device, from); }
  void go_to(Privilege p) { hart.privileged().set_privilege(p); }

  bool starts = true, reset_while_it_waits = false;
  unsigned awaited = 0;
  std::vector<std::pair<std::uint64_t, unsigned>> started;
  std::vector<std::uint64_t> started_in;
  std::vector<std::pair<std::uint64_t, bool>> cleaned;
  std::vector<std::uint64_t> given_back;
  std::array<std::uint8_t, 64> home_line{};
};

using Reads = std::vector<std::pair<std::uint64_t, unsigned>>;

HartConfig timed(TimingParts& parts, Timing timing) {
  HartConfig c;
  parts.give_to(c, timing);
  return c;
}

}  // namespace

TEST_CASE("a load of write-through memory reads its line, and later ones do not", "[iss]") {
  for (const Timing timing : {Timing::functional, Timing::cached, Timing::interval}) {
    TimingParts parts;
    BlockMachine m(timed(parts, timing));
    CHECK(m.after({ld(8)}) == m.in_device(8));
    CHECK(m.reads == Reads{{kBuffer, 64}});
    const std::uint64_t before = m.slots();
    CHECK(m.after({ld(56)}) == m.in_device(56));
    CHECK(m.after({at(0x0005'6603, 16)}) == (m.in_device(16) & 0xffff'ffff));  // lwu
    CHECK(m.reads.size() == 1);
    CHECK(m.slots() - before < m.read_slots);
    CHECK(m.hart.counters().line_reads == 1);
    CHECK(m.hart.counters().line_loads == 2);
  }
}

TEST_CASE("what the device changes is not seen until software drops the line", "[iss]") {
  for (const std::uint32_t drop : {kInval, kFlush}) {
    BlockMachine m;
    const std::uint64_t old = m.after({ld(0)});
    m.device[0] ^= 0xff;
    CHECK(m.after({ld(0)}) == old);
    CHECK(m.after({kFence, ld(0)}) == old);
    CHECK(m.after({kClean, ld(0)}) == old);
    CHECK(m.after({drop, ld(0)}) == (old ^ 0xff));
    CHECK(m.reads.size() == 2);
    CHECK(m.writes.empty());
    CHECK(m.cleaned.empty());
  }
}

TEST_CASE("cbo.inval drops the line of its address alone", "[iss]") {
  BlockMachine m;
  m.execute({ld(0), ld(64), ld(128)});
  m.hart.state().x[kA0] += 64 + 63;
  m.execute({kInval});
  m.hart.state().x[kA0] = kWt + kBuffer;
  m.reads.clear();
  m.execute({ld(0), ld(64), ld(128)});
  CHECK(m.reads == Reads{{kBuffer + 64, 64}});
}

TEST_CASE("a store to write-through memory goes to the device, and changes the line if it is there", "[iss]") {
  for (const Timing timing : {Timing::functional, Timing::cached, Timing::interval}) {
    TimingParts parts;
    BlockMachine m(timed(parts, timing));
    m.hart.state().x[kA1] = 0x0102'0304'0506'0708;
    m.execute({sd(8)});
    CHECK(m.in_device(8) == 0x0102'0304'0506'0708);
    CHECK(m.writes.size() == 1);
    CHECK(m.after({ld(0)}) == m.in_device(0));
    CHECK(m.reads.size() == 1);  // the store has brought no line
    m.hart.state().x[kA1] = 0x99;
    const std::uint64_t loaded = m.after({sb(1), ld(0)});
    CHECK(loaded == m.in_device(0));
    CHECK((m.in_device(0) >> 8 & 0xff) == 0x99);
    CHECK(m.reads.size() == 1);
    CHECK(m.writes.size() == 2);
    CHECK(m.hart.counters().combined_stores == 0);
  }
}

TEST_CASE("the least recently used line of write-through memory makes room", "[iss]") {
  BlockMachine m;
  m.execute({ld(0), ld(64), ld(128), ld(192)});
  m.execute({ld(0), ld(256)});  // displaces 64
  m.reads.clear();
  m.execute({ld(0), ld(128), ld(192), ld(256)});
  CHECK(m.reads.empty());
  m.execute({ld(64)});
  CHECK(m.reads == Reads{{kBuffer + 64, 64}});
}

TEST_CASE("a load across two lines of write-through memory reads both", "[iss]") {
  BlockMachine m;
  CHECK(m.after({ld(60)}) == m.in_device(60));
  CHECK(m.reads == Reads{{kBuffer, 64}, {kBuffer + 64, 64}});
}

TEST_CASE("a line that nothing answers is an access fault, and is not kept", "[iss]") {
  BlockMachine m;
  m.refuses = true;
  m.execute({ld(0)});
  CHECK(m.csr(csr::kMcause) == static_cast<std::uint64_t>(Cause::load_access));
  CHECK(m.csr(csr::kMtval) == kWt + kBuffer);
  m.refuses = false;
  m.go_to(Privilege::supervisor);
  m.execute({ld(0)});
  CHECK(m.reads.size() == 2);
}

TEST_CASE("RAM and other devices are with PBMT 3 what they are without a type", "[iss]") {
  BlockMachine m;
  m.put(kData, 0x55aa);
  m.hart.state().x[kA0] = kWt + kData;
  CHECK(m.after({ld(0)}) == 0x55aa);
  CHECK(m.passes.empty());
  m.device_value = 77;
  m.hart.state().x[kA0] = kWt + IssMachine::kDevice;
  CHECK(m.after({ld(0)}) == 77);
  m.device_value = 78;
  CHECK(m.after({ld(0)}) == 78);
}

TEST_CASE("atomics and cbo.zero in write-through memory are access faults, and so are lines with a home", "[iss]") {
  struct Case {
    std::uint64_t address;
    std::uint32_t word;
    Refusal why;
    Cause cause;
  };
  for (const Case& c : {Case{kBuffer, kAmoAddD, Refusal::atomic_device, Cause::store_access},
                        {kBuffer, kLrD, Refusal::atomic_device, Cause::load_access},
                        {kBuffer, kZero, Refusal::zeroed_device, Cause::store_access},
                        {kHome, ld(0), Refusal::uncached_line, Cause::load_access},
                        {kHome, sd(0), Refusal::uncached_line, Cause::store_access},
                        {kHome, kZero, Refusal::uncached_line, Cause::store_access}}) {
    BlockMachine m;
    m.hart.state().x[kA0] = kWt + c.address;
    m.execute({c.word});
    CHECK(m.refusals == std::vector{c.why});
    CHECK(m.csr(csr::kMcause) == static_cast<std::uint64_t>(c.cause));
    CHECK(m.reads.empty());
  }
}

TEST_CASE("a prefetch of write-through memory reads the line while the hart goes on", "[iss]") {
  for (const Timing timing : {Timing::functional, Timing::cached, Timing::interval}) {
    for (const std::uint32_t prefetch : {kPrefetchR, kPrefetchW}) {
      TimingParts parts;
      BlockMachine m(timed(parts, timing));
      const std::uint64_t before = m.slots();
      m.execute({prefetch, kNop});
      CHECK(m.started == Reads{{kBuffer, 64}});
      CHECK(m.started_in[0] >= before);
      CHECK(m.reads.empty());
      m.device[0] = 0x42;
      m.arrive();
      m.device[0] = 0x43;
      CHECK((m.after({ld(0)}) & 0xff) == 0x42);
      CHECK(m.awaited == 0);
      CHECK(m.reads.empty());
      CHECK(m.hart.counters().line_prefetches == 1);
      CHECK(m.hart.counters().line_loads == 1);
    }
  }
}

TEST_CASE("prefetch.i, and prefetches without effect by configuration, read nothing", "[iss]") {
  BlockMachine m;
  m.execute({kPrefetchI});
  CHECK(m.started.empty());
  HartConfig c;
  c.prefetch_hints = false;
  BlockMachine without(c);
  without.execute({kPrefetchR});
  CHECK(without.started.empty());
}

TEST_CASE("a load waits for a prefetch of its line that is under way", "[iss]") {
  BlockMachine m;
  m.execute({kPrefetchR});
  CHECK(m.after({ld(8)}) == m.in_device(8));
  CHECK(m.awaited == 1);
  CHECK(m.reads.empty());
  m.execute({kPrefetchR});  // it is there
  CHECK(m.started.empty());
}

TEST_CASE("a prefetch that fails leaves the read to the load", "[iss]") {
  BlockMachine m;
  m.execute({kPrefetchR});
  m.arrive(true);
  CHECK(m.after({ld(0)}) == m.in_device(0));
  CHECK(m.reads == Reads{{kBuffer, 64}});
  m.starts = false;
  m.execute({kInval, kPrefetchR, ld(0)});
  CHECK(m.reads.size() == 2);
  CHECK(m.hart.counters().line_prefetches == 1);
}

TEST_CASE("no more prefetches are under way than the hart may have", "[iss]") {
  BlockMachine m;
  m.execute({kPrefetchR, kPrefetchR});
  CHECK(m.started.size() == 1);
  for (int n = 0; n < 2; ++n) {
    m.hart.state().x[kA0] += 64;
    m.execute({kPrefetchR});
  }
  CHECK(m.started.size() == 2);
  m.arrive();
  m.execute({kPrefetchR});
  CHECK(m.started.size() == 2);
}

TEST_CASE("a line that is dropped while it is under way is read anew", "[iss]") {
  BlockMachine m;
  m.execute({kPrefetchR, kInval});
  m.device[0] = 0x11;
  m.arrive();
  m.device[0] = 0x12;
  CHECK((m.after({ld(0)}) & 0xff) == 0x12);
  CHECK(m.reads.size() == 1);
}

TEST_CASE("a reset drops lines of write-through memory, also those under way", "[iss]") {
  BlockMachine m;
  m.execute({ld(64), kPrefetchR});
  m.hart.reset();
  m.arrive();
  CHECK(!m.hart.write_through().find(kBuffer));
  CHECK(!m.hart.write_through().find(kBuffer + 64));

  BlockMachine waiting;
  waiting.execute({kPrefetchR});
  waiting.reset_while_it_waits = true;
  waiting.hart.state().x[kA2] = 5;
  waiting.execute({ld(0)});
  CHECK(waiting.x(kA2) == 0);
  CHECK(waiting.reads.empty());
}

TEST_CASE("cache-block operations on RAM clean and flush the block of their address", "[iss]") {
  for (const Timing timing : {Timing::functional, Timing::cached, Timing::interval}) {
    TimingParts parts;
    BlockMachine m(timed(parts, timing));
    m.hart.state().x[kA0] = kData + 70;
    m.execute({kClean, kFlush, kInval});
    using Cleaned = std::vector<std::pair<std::uint64_t, bool>>;
    CHECK(m.cleaned == Cleaned{{kData + 64, true}, {kData + 64, false}, {kData + 64, false}});
    CHECK(m.hart.counters().block_operations == 3);
    m.hart.state().x[kA0] = kNc + kData;
    m.execute({kFlush});
    CHECK(m.cleaned.back() == std::pair(kData, false));
  }
}

TEST_CASE("cache-block operations give lines to their home", "[iss]") {
  BlockMachine m;
  m.hart.state().x[kA0] = kHome + 100;
  m.execute({kFlush});
  CHECK(m.given_back == std::vector<std::uint64_t>{kHome + 64});
  m.hart.state().x[kA0] = kHome + 64;
  m.home_line.fill(0xee);
  m.execute({kZero});
  CHECK(m.home_line == std::array<std::uint8_t, 64>{});
}

TEST_CASE("cbo.zero sets a block of RAM to zeros", "[iss]") {
  for (const Timing timing : {Timing::functional, Timing::cached, Timing::interval}) {
    for (const std::uint64_t base : {std::uint64_t{0}, kNc, kIo, kWt}) {
      TimingParts parts;
      BlockMachine m(timed(parts, timing));
      for (std::uint64_t n = 0; n < 192; n += 8) m.put(kData + n, ~std::uint64_t{0});
      m.hart.state().x[kA0] = base + kData + 101;
      m.execute({kZero});
      for (std::uint64_t n = 0; n < 192; n += 8) CHECK(m.get(kData + n) == (n / 64 == 1 ? 0 : ~std::uint64_t{0}));
      CHECK(m.passes.size() == (base == kNc || base == kIo));
    }
  }
}

TEST_CASE("code that cbo.zero has changed is not run from what was decoded", "[iss]") {
  BlockMachine m;
  m.load_words({0x0010'0613, kNop}, kData);  // li a2, 1
  m.hart.state().pc = kData;
  m.hart.step();
  CHECK(m.x(kA2) == 1);
  m.hart.state().x[kA0] = kData;
  m.execute({kZero, 0x0000'100f});  // fence.i
  m.hart.state().pc = kData;
  m.hart.step();
  CHECK(m.csr(csr::kMcause) == static_cast<std::uint64_t>(Cause::illegal_instruction));
}

TEST_CASE("envcfg says where cache-block operations are legal", "[iss]") {
  struct Case {
    std::uint32_t word;
    std::uint64_t field;
  };
  for (const Case& c :
       {Case{kInval, kEnvcfgCbie}, {kClean, kEnvcfgCbcfe}, {kFlush, kEnvcfgCbcfe}, {kZero, kEnvcfgCbze}})
    for (const Privilege p : {Privilege::machine, Privilege::supervisor, Privilege::user})
      for (const bool menvcfg : {false, true})
        for (const bool senvcfg : {false, true}) {
          BlockMachine m;
          const std::uint64_t all = kEnvcfgCbie | kEnvcfgCbcfe | kEnvcfgCbze;
          m.hart.privileged().csr_poke(csr::kMenvcfg, menvcfg ? c.field : all & ~c.field);
          m.hart.privileged().csr_poke(csr::kSenvcfg, senvcfg ? c.field : all & ~c.field);
          m.hart.privileged().csr_poke(csr::kSatp, 0);
          m.hart.state().x[kA0] = kData;
          m.go_to(p);
          m.execute({c.word});
          const bool legal = p == Privilege::machine || (menvcfg && (p == Privilege::supervisor || senvcfg));
          CHECK((m.hart.counters().traps == 0) == legal);
          if (!legal) CHECK(m.csr(csr::kMcause) == static_cast<std::uint64_t>(Cause::illegal_instruction));
        }
}

TEST_CASE("the reserved value of CBIE keeps the one before", "[iss]") {
  BlockMachine m;
  for (const unsigned number : {csr::kMenvcfg, csr::kSenvcfg}) {
    m.hart.privileged().csr_poke(number, std::uint64_t{1} << 4);
    m.hart.privileged().csr_poke(number, kEnvcfgCbieReserved | kEnvcfgCbze);
    CHECK(m.csr(number) == (std::uint64_t{1} << 4 | kEnvcfgCbze));
  }
}

TEST_CASE("faults of cache-block operations are those of stores", "[iss]") {
  BlockMachine m;
  m.put(kRoot + 20 * 8, std::uint64_t{2} << 28 | 0x43);  // read-only
  const std::uint64_t read_only = (std::uint64_t{20} << 30) + (kData & 0x3fff'ffff);
  m.hart.state().x[kA0] = read_only + 5;
  m.execute({kClean});
  CHECK(m.hart.counters().traps == 0);  // what may be read may be cleaned
  m.execute({kZero});
  CHECK(m.csr(csr::kMcause) == static_cast<std::uint64_t>(Cause::store_page));
  CHECK(m.csr(csr::kMtval) == read_only + 5);
  for (const std::uint32_t word : {kInval, kZero}) {
    BlockMachine none;
    none.hart.state().x[kA0] = std::uint64_t{24} << 30;
    none.execute({word});
    CHECK(none.csr(csr::kMcause) == static_cast<std::uint64_t>(Cause::store_page));
  }
}

TEST_CASE("a store to a line that is under way makes the hart read it anew", "[iss]") {
  for (const Timing timing : {Timing::functional, Timing::cached, Timing::interval}) {
    TimingParts parts;
    BlockMachine m(timed(parts, timing));
    m.hart.state().x[kA1] = 0x1122'3344'5566'7788;
    m.execute({kPrefetchR});
    const std::vector<std::uint8_t> before = m.device;
    m.execute({sd(8)});
    m.started.erase(m.started.begin());
    m.hart.write_through().arrived(kBuffer, before.data());  // read before the store came
    CHECK(m.after({ld(8)}) == 0x1122'3344'5566'7788);
    CHECK(m.reads.size() == 1);
  }
}

TEST_CASE("with a window, a prefetch of a line takes its place in the run, whether it reads or not", "[iss]") {
  // Chains of multiplications behind prefetches of a line that is there, that is under way, or that is not.
  constexpr std::uint32_t kMul = 0x02c6'0633, kCycle = 0xc000'24f3, kCycleLater = 0xc000'2973, kLoop = 0x6f;
  const auto cycles = [&](std::uint32_t first, const std::vector<std::uint32_t>& before) {
    TimingParts parts;
    BlockMachine m(timed(parts, Timing::interval));
    m.hart.privileged().csr_poke(csr::kMcounteren, 7);
    m.execute(before);
    std::vector<std::uint32_t> words{kCycle};
    for (unsigned n = 0; n < 3; ++n) {
      words.push_back(first);
      words.insert(words.end(), 15, kMul);
    }
    words.insert(words.end(), {kCycleLater, kLoop});
    m.load_words(words, kRam + 0x3000);
    for (std::uint64_t line = 0; line < 256; line += 64)
      parts.l1i.fill(kRam + 0x3000 + line, base::LineState::kExclusive);
    m.hart.state().pc = kRam + 0x3000;
    m.limit = m.slots() + 20'000;
    m.hart.run();
    return m.x(18) - m.x(9);
  };
  const std::uint64_t without = cycles(kNop, {kNop});
  CHECK(without > 3 * 15 * 2);
  for (const std::vector<std::uint32_t>& before : {std::vector{ld(0)}, std::vector{kPrefetchR}, std::vector{kNop}}) {
    const std::uint64_t with = cycles(kPrefetchR, before);
    CHECK(with >= without - 3);
    CHECK(with <= without + 3);
  }
}

TEST_CASE("with a window, a prefetch starts when its address is known, behind earlier stores", "[iss]") {
  TimingParts parts;
  BlockMachine m(timed(parts, Timing::interval));
  m.miss_slots = 400;
  m.put(kData, kWt + kBuffer + 128);
  m.hart.state().x[13] = kData;
  const std::uint64_t before = m.slots();
  m.execute({0x0006'b503 /* ld a0, 0(a3) */, kPrefetchR, kNop});
  REQUIRE(m.started == Reads{{kBuffer + 128, 64}});
  CHECK(m.started_in[0] >= before + 400);
}

TEST_CASE("a hart looks at what has come before it asks for a line or drops one", "[iss]") {
  for (const std::uint32_t word : {kPrefetchR, kInval}) {
    BlockMachine m;
    m.execute({kPrefetchR});
    m.on_synchronise = [&] {
      if (!m.started.empty()) m.arrive();
    };
    m.hart.state().x[kA0] += word == kInval ? 0 : 64;
    m.execute({word});
    m.hart.state().x[kA0] = kWt + kBuffer;
    CHECK(m.hart.counters().line_prefetches == (word == kInval ? 1 : 2));
    m.execute({ld(0)});
    CHECK(m.awaited == 0);
    CHECK(m.reads.size() == (word == kInval ? 1 : 0));
  }
}

TEST_CASE("each cache-block operation that is done counts once", "[iss]") {
  BlockMachine m;
  m.hart.state().x[kA0] = kHome;
  m.execute({kZero, kFlush, kClean});
  CHECK(m.hart.counters().block_operations == 3);
  m.hart.state().x[kA0] = kData;
  m.execute({kZero});
  CHECK(m.hart.counters().block_operations == 4);
  m.hart.state().x[kA0] = kWt + kBuffer;
  m.execute({kZero});
  CHECK(m.hart.counters().block_operations == 4);
}

TEST_CASE("a cache-block operation needs what it may do for its whole block", "[iss]") {
  for (const std::uint32_t word : {kInval, kZero}) {
    BlockMachine m;
    // The last 8 bytes of the block are not S mode's.
    m.hart.privileged().csr_poke(csr::kPmpaddr0, (kData + 56) >> 2);
    m.hart.privileged().csr_poke(csr::kPmpaddr0 + 1, ~std::uint64_t{0});
    m.hart.privileged().csr_poke(csr::kPmpcfg0, 0x1f10);  // NA4 without permissions, then all
    m.hart.state().x[kA0] = kData;
    m.execute({word});
    CHECK(m.csr(csr::kMcause) == static_cast<std::uint64_t>(Cause::store_access));
    CHECK(m.csr(csr::kMtval) == kData);
    CHECK(m.cleaned.empty());
  }
}
