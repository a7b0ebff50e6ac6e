// SPDX-License-Identifier: Apache-2.0
// The modules of rtl/stream, each alone.

#include <deque>

#include "Vstream_bench.h"
#include "tests/rtl/block_bench.h"

using namespace sluice::test;

namespace {

using Bench = BlockBench<Vstream_bench>;
constexpr unsigned kQueue = 6, kRegister = 7;
constexpr std::size_t kDepth = 8;  // of the queue

/// stream_bench's strips: the fixed part of their headers, how many lengths there are above it, and whether packets may
/// have a limit.
struct Shape {
  unsigned base, turns;
  bool limits = true;
};
constexpr Shape kShapes[] = {{14, 2}, {20, 16}, {8, 1}, {32, 16}, {8, 16, false}, {2, 8}};

}  // namespace

TEST_CASE("axis_count counts the bytes that a mask keeps") {
  RandomDut<Vstream_bench> dut(1);
  for (unsigned count = 0; count <= 64; ++count) {
    dut->keep = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    dut->eval();
    CHECK(dut->keep_count == count);
  }
}

TEST_CASE("bit_queue gives bits in the order in which they came, at any filling") {
  RandomDut<Vstream_bench> dut(2);
  std::mt19937_64 random(2);
  dut->which = kQueue;
  dut->clk = dut->put = dut->get = 0;
  dut->rst = 1;
  const auto edge = [&] {
    dut->clk = 0;
    dut->eval();
    dut->clk = 1;
    dut->eval();
  };
  edge();
  dut->rst = 0;
  std::deque<bool> queue;
  unsigned full = 0, empty = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    const bool fills = i / 64 % 2 == 0;  // by turns more is put, and more is got
    dut->enable = random() % 4 != 0;
    dut->put_bit = random() & 1;
    const bool gets = !queue.empty() && random() % 8 < (fills ? 3 : 7);
    // A bit that is put in the cycle in which another one is got still finds no room.
    const bool puts = queue.size() < kDepth && random() % 8 < (fills ? 7 : 3);
    dut->get = gets;
    dut->put = puts;
    dut->clk = 0;
    dut->eval();
    if (dut->enable != 0) {
      if (gets) {
        REQUIRE(dut->got == queue.front());
        queue.pop_front();
      }
      if (puts) queue.push_back(dut->put_bit != 0);
      full += queue.size() == kDepth;
      empty += queue.empty();
    }
    edge();
  }
  CHECK(full > 100);
  CHECK(empty > 100);
}

TEST_CASE("bit_queue objects to a bit without room, and to one that is not there") {
  for (const bool over : {true, false}) {
    INFO("over " << over);
    RandomDut<Vstream_bench> dut(3);
    dut.context().fatalOnError(false);
    dut->which = kQueue;
    dut->enable = 1;
    dut->put = dut->get = 0;
    dut->rst = 1;
    const auto edge = [&] {
      dut->clk = 0;
      dut->eval();
      dut->clk = 1;
      dut->eval();
    };
    edge();
    dut->rst = 0;
    dut->put = over;
    for (std::size_t i = 0; i < kDepth; ++i) edge();
    CHECK_FALSE(dut.context().gotError());
    dut->get = !over;
    edge();
    CHECK(dut.context().gotError());
  }
}

TEST_CASE("stream_register gives each beat once, in order, and a cycle later if it may") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    RandomDut<Vstream_bench> dut(seed);
    std::mt19937_64 random(seed);
    const unsigned offers = 1 + random() % 10, takes = 1 + random() % 10;  // of ten cycles
    dut->which = kRegister;
    dut->offered = dut->take = 0;
    dut->rst = 1;
    const auto edge = [&] {
      dut->clk = 0;
      dut->eval();
      dut->clk = 1;
      dut->eval();
    };
    edge();
    dut->rst = 0;
    std::deque<std::uint32_t> inside;
    bool offered = false;
    std::uint32_t offer = 0;
    for (unsigned cycle = 0; cycle < 3000; ++cycle) {
      if (!offered && random() % 10 < offers) {
        offered = true;
        offer = static_cast<std::uint32_t>(random());
      }
      dut->offered = offered;
      dut->offer = offered ? offer : static_cast<std::uint32_t>(random());
      dut->take = random() % 10 < takes;
      dut->clk = 0;
      dut->eval();
      REQUIRE((dut->held != 0) == !inside.empty());
      REQUIRE((dut->taken != 0) == (inside.size() < 2));
      if (!inside.empty()) REQUIRE(dut->hold == inside.front());
      if (dut->held != 0 && dut->take != 0) inside.pop_front();
      if (offered && dut->taken != 0) {
        inside.push_back(offer);
        offered = false;
      }
      dut->clk = 1;
      dut->eval();
    }
  }
}

TEST_CASE("stream_strip takes a header and what is behind a limit off, and says what is cut") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Shape shape = kShapes[seed % std::size(kShapes)];
    Bench bench(seed, seed % std::size(kShapes));
    std::vector<Stripped> expected, whole;
    std::vector<std::uint32_t> metas, seen_metas, whole_metas;
    std::vector<Left> whole_left;
    bool whole_begins = true;
    bench.at_beat = [&] {
      if (bench.dut->out_last != 0) seen_metas.push_back(bench.dut->out_meta);
    };
    bench.at_cycle = [&] {
      if (bench.dut->whole_valid == 0) return;
      if (whole_begins) whole_left.emplace_back();
      const auto* data = reinterpret_cast<const std::uint8_t*>(&bench.dut->whole_data[0]);
      Left& l = whole_left.back();
      l.bytes.insert(l.bytes.end(), data, data + bench.dut->whole_count);
      l.cycles.push_back(bench.now);
      whole_begins = bench.dut->whole_last != 0;
      if (whole_begins) {
        l.cut = bench.dut->whole_cut != 0;
        whole_metas.push_back(bench.dut->whole_meta);
      }
    };
    for (unsigned i = 0; i < 150; ++i) {
      // A header may be longer than a beat, by as many beats as it likes.
      const std::uint32_t most = shape.turns == 16 ? 8 : 0;
      std::uint32_t skip =
          shape.base + 4 * bench.upto(shape.turns - 1) + (most != 0 && bench.one_in(3) ? 64 * bench.upto(most) : 0);
      std::size_t size = bench.one_in(4)   ? bench.upto(700)
                         : bench.one_in(2) ? bench.upto(200)
                         : bench.one_in(2) ? 64 * bench.upto(4)
                                           : std::max(0, static_cast<int>(skip + bench.upto(4)) - 2);
      const bool limited = shape.limits && bench.one_in(2), cut = bench.one_in(4);
      // Also at a beat's end, at the header's, and at the packet's.
      std::uint32_t limit = bench.one_in(4)   ? bench.upto(720)
                            : bench.one_in(3) ? 64 * bench.upto(5)
                            : bench.one_in(2) ? skip + bench.upto(2)
                                              : static_cast<std::uint32_t>(size) + bench.upto(2);
      if (bench.one_in(20)) limit = 65535;
      if (shape.limits && bench.one_in(10)) {
        limit = 0;
        skip = 0;
        if (shape.base % 64 != 0) size = bench.upto(100);
      }
      const bool nothing = skip == 0;
      const Bytes packet = bench.bytes(size);
      const std::uint32_t meta = static_cast<std::uint32_t>(bench.random());
      const std::vector<std::uint64_t> came = bench.put(packet, cut, [&](std::size_t beat) {
        // What goes with the first beat does not count with later ones.
        const bool first = beat == 0;
        bench.dut->in_skip = first ? skip : bench.upto(1023);
        bench.dut->in_limited = first && shape.limits ? limited || nothing : bench.upto(1);
        bench.dut->in_limit = static_cast<std::uint16_t>(first ? limit : bench.upto(65535));
        bench.dut->in_meta = first ? meta : static_cast<std::uint32_t>(bench.random());
      });
      expected.push_back(strip(packet, cut, came, skip, limited || nothing, limit));
      // The whole packet ends at the limit, too, each beat a cycle after it has come.
      Stripped w = strip(packet, cut, came, 0, limited || nothing, limit);
      w.cut = expected.back().cut;
      w.cycles.clear();
      for (std::size_t b = 0; b < beats_of(w.bytes.size()); ++b) w.cycles.push_back(came[b] + 1);
      whole.push_back(w);
      metas.push_back(meta);
    }
    bench.idle(4);
    REQUIRE(bench.left.size() == expected.size());
    REQUIRE(whole_left.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO("seed " << seed << " packet " << i);
      REQUIRE(bench.left[i].bytes == expected[i].bytes);
      REQUIRE(bench.left[i].cut == expected[i].cut);
      REQUIRE(bench.left[i].cycles == expected[i].cycles);
      REQUIRE(whole_left[i].bytes == whole[i].bytes);
      REQUIRE(whole_left[i].cycles == whole[i].cycles);
      CHECK(whole_left[i].cut == whole[i].cut);
    }
    REQUIRE(seen_metas == metas);
    REQUIRE(whole_metas == metas);
  }
}
