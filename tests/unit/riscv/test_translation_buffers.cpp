// SPDX-License-Identifier: Apache-2.0
/// Which pages the buffers hold, and what of a walk is left to do.
#include <memory>

#include <catch2/catch.hpp>

#include "models/riscv/iss/translation/translation_buffers.h"

using namespace sluice::riscv;

namespace {

constexpr std::uint64_t kPage = 4096, kMega = 1 << 21, kGiga = 1 << 30;

Tlb::Entry page(std::uint64_t address, std::uint16_t asid = 1, std::uint8_t shift = 12, bool is_global = false) {
  return {address >> shift << shift, asid, shift, is_global};
}
TranslationWalk walk(unsigned count) { return {{0x1000, 0x2000, 0x3000}, count, 0}; }

constexpr auto kData = TranslationBuffers::First::data, kCode = TranslationBuffers::First::code;

struct Buffers : TranslationBuffers {
  explicit Buffers(const Shape& shape, const std::shared_ptr<Counters>& c = std::make_shared<Counters>())
      : TranslationBuffers(shape, *c), counted(c) {}
  std::shared_ptr<Counters> counted;
  /// Brings a page unless it is there. Returns the reads of its walk.
  unsigned touch(std::uint64_t address, std::uint16_t asid = 1, std::uint8_t shift = 12, bool is_global = false) {
    if (has(kData, address, asid)) return 0;
    const unsigned levels = shift == 12 ? 3 : shift == 21 ? 2 : 1;
    return bring(kData, address, page(address, asid, shift, is_global), walk(levels), displaced).count;
  }
  Tlb::Entry displaced;
};

}  // namespace

TEST_CASE("a TLB has the pages that came last to their set, however often others were used", "[tlb]") {
  Tlb tlb({4, 2});  // sets of even and of odd pages
  tlb.fill(page(0));
  tlb.fill(page(2 * kPage));
  CHECK(tlb.has(0, 1));
  CHECK(tlb.has(kPage - 1, 1));
  CHECK(!tlb.has(kPage, 1));
  CHECK(tlb.fill(page(4 * kPage)).page == 0);
  CHECK(tlb.fill(page(kPage)).shift == 0);
  CHECK(!tlb.has(0, 1));
  CHECK(tlb.fill(page(6 * kPage)).page == 2 * kPage);
  CHECK(tlb.has(4 * kPage, 1));
  CHECK(tlb.has(kPage, 1));
}

TEST_CASE("pages of three sizes share a TLB", "[tlb]") {
  Tlb tlb({8, 8});
  tlb.fill(page(3 * kMega, 1, 21));
  tlb.fill(page(5 * kGiga, 1, 30));
  CHECK(tlb.has(3 * kMega + 77 * kPage, 1));
  CHECK(tlb.has(5 * kGiga + 300 * kMega, 1));
  CHECK(!tlb.has(4 * kMega, 1));
  CHECK(!tlb.has(3 * kMega, 1, 12));
}

TEST_CASE("a page is of its ASID, or of all", "[tlb]") {
  Tlb tlb({8, 8});
  tlb.fill(page(0, 7));
  tlb.fill(page(kPage, 7, 12, true));
  CHECK(tlb.has(0, 7));
  CHECK(!tlb.has(0, 8));
  CHECK(tlb.has(kPage, 8));
}

TEST_CASE("a TLB without entries has nothing", "[tlb]") {
  Tlb tlb({0, 1});
  CHECK(tlb.fill(page(0)).shift == 0);
  CHECK(!tlb.has(0, 1));
}

TEST_CASE("a page of the second level needs no walk", "[tlb]") {
  Buffers b({{1, 1}, {16, 4}, 7, 0, {}});
  CHECK(b.touch(0) == 3);
  CHECK(b.touch(kPage) == 3);
  CHECK(b.displaced.page == 0);
  CHECK(b.displaced.shift == 12);
  CHECK(b.touch(0) == 0);
  CHECK(b.counted->tlb_misses == 3);
  CHECK(b.counted->tlb_walks == 2);
  CHECK(b.counted->tlb_reads == 6);
}

TEST_CASE("the first level's miss costs the second one's latency, with a walk or without", "[tlb]") {
  Buffers b({{1, 1}, {16, 4}, 7, 0, {}});
  Tlb::Entry displaced;
  CHECK(b.bring(kData, 0, page(0), walk(3), displaced).cycles == 7);
  b.touch(kPage);
  CHECK(b.bring(kData, 0, page(0), walk(3), displaced).cycles == 7);
}

TEST_CASE("a walk begins at the last table that is known", "[tlb]") {
  Buffers b({{4, 4}, {0, 1}, 0, 8, {}});
  Tlb::Entry displaced;
  TranslationWalk w = b.bring(kData, 0, page(0), walk(3), displaced);
  CHECK(w.count == 3);
  CHECK(w.entries == std::array<std::uint64_t, 3>{0x1000, 0x2000, 0x3000});
  w = b.bring(kData, kPage, page(kPage), walk(3), displaced);  // the same last table
  CHECK(w.count == 1);
  CHECK(w.entries[0] == 0x3000);
  w = b.bring(kData, kMega, page(kMega), walk(3), displaced);  // the same middle table
  CHECK(w.count == 2);
  CHECK(w.entries[0] == 0x2000);
  CHECK(b.touch(kGiga) == 3);
  CHECK(b.touch(2 * kPage, 2) == 3);                   // another address space
  CHECK(b.touch(kMega * 2, 1, 21) == 1);               // a leaf in the middle table
  CHECK(b.touch(std::uint64_t{9} << 30, 1, 30) == 1);  // a leaf in the first
}

TEST_CASE("what is forgotten is walked for again", "[tlb]") {
  const TranslationBuffers::Shape shape{{16, 4}, {64, 4}, 7, 8, {}};
  const auto filled = [&] {
    Buffers b(shape);
    b.touch(0, 1);
    b.touch(kPage, 1);
    b.touch(0, 2);
    b.touch(8 * kPage, 1, 12, true);
    return b;
  };
  Buffers all = filled();
  all.forget_all();
  CHECK(all.touch(0, 1) == 3);
  CHECK(all.touch(8 * kPage, 1) == 1);

  Buffers asid = filled();
  asid.forget(0, false, 1, true);
  CHECK(!asid.has(kData, 0, 1));
  CHECK(!asid.has(kData, kPage, 1));
  CHECK(asid.has(kData, 0, 2));
  CHECK(asid.has(kData, 8 * kPage, 1));

  Buffers address = filled();
  address.forget(kPage + 5, true, 0, false);
  CHECK(address.has(kData, 0, 1));
  CHECK(!address.has(kData, kPage, 1));
  CHECK(address.touch(kPage, 1) == 3);  // its tables may have changed, too
  CHECK(address.touch(kPage, 1) == 0);

  Buffers both = filled();
  both.forget(0, true, 2, true);
  CHECK(both.has(kData, 0, 1));
  CHECK(!both.has(kData, 0, 2));
}

TEST_CASE("the oldest page goes, also where another has been removed", "[tlb]") {
  Tlb tlb({3, 3});
  for (std::uint64_t n = 1; n <= 3; ++n) tlb.fill(page(n * kPage));
  tlb.remove_if([](const Tlb::Entry& e) { return e.page == 2 * kPage; });
  CHECK(tlb.fill(page(4 * kPage)).shift == 0);
  CHECK(tlb.fill(page(5 * kPage)).page == kPage);
  CHECK(tlb.fill(page(6 * kPage)).page == 3 * kPage);
  CHECK(tlb.fill(page(7 * kPage)).page == 4 * kPage);
}

TEST_CASE("the tables of a global page are those of its ASID", "[tlb]") {
  Buffers b({{16, 4}, {64, 4}, 7, 8, {}});
  CHECK(b.touch(0, 1, 12, true) == 3);
  CHECK(b.touch(kPage, 2) == 3);
  CHECK(b.touch(kPage, 1) == 1);
}

TEST_CASE("code and data have first levels of their own and one behind them", "[tlb]") {
  Buffers b({{2, 2}, {16, 4}, 7, 0, {1, 1}});
  b.touch(0);
  CHECK(!b.has(kCode, 0, 1));
  Tlb::Entry displaced;
  CHECK(b.bring(kCode, 0, page(0), walk(3), displaced).count == 0);  // the second level has it
  CHECK(b.bring(kCode, kPage, page(kPage), walk(3), displaced).count == 3);
  CHECK(displaced.page == 0);
  CHECK(b.has(kData, 0, 1));
  CHECK(!b.has(kData, kPage, 1));
  CHECK(b.counted->tlb_code_misses == 2);
  CHECK(b.counted->tlb_code_displaced == 1);
  CHECK(b.counted->tlb_misses == 1);
  CHECK(b.counted->tlb_displaced == 0);
  b.forget(kPage, true, 0, false);
  CHECK(!b.has(kCode, kPage, 1));
}

TEST_CASE("a first level without entries takes no time", "[tlb]") {
  const Buffers b({{2, 2}, {16, 4}, 7, 0, {}});
  CHECK(b.times(kData));
  CHECK(!b.times(kCode));
}
