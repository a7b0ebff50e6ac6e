// SPDX-License-Identifier: Apache-2.0
// Page tables and PMP rules of random programs.
#include "tests/differential/differences.h"
#include "tests/differential/random_program.h"

namespace sluice::differential {
namespace {

constexpr std::uint64_t kV = 1, kR = 2, kW = 4, kX = 8, kU = 16, kG = 32, kA = 64, kD = 128;
constexpr std::uint64_t kNothing = 0x0800'0000;  ///< physical: neither machine has anything there
constexpr std::uint64_t kLarge = 2 << 20, kHuge = 1 << 30;

enum Table { kRoot, kUser1, kUser0, kSupervisor1, kSupervisor0, kTest1, kTest0 };

std::uint64_t leaf(std::uint64_t physical, std::uint64_t flags) { return physical >> 12 << 10 | flags; }

std::uint64_t draw_flags(Draw& draw) {
  std::uint64_t flags = draw.one_in(16) ? 0 : kV;
  if (!draw.one_in(6)) flags |= kR;
  if (!draw.one_in(3)) flags |= kW;
  if (!draw.one_in(3)) flags |= kX;
  if (draw.one_in(2)) flags |= kU;
  if (draw.one_in(4)) flags |= kG;
  if (!draw.one_in(3)) flags |= kA;
  if (!draw.one_in(3)) flags |= kD;
  flags |= draw.below(4) << 8;
  if (draw.one_in(40)) flags |= std::uint64_t{1} << (54 + draw.below(10));
  return flags;
}

std::uint64_t draw_data_page(const Program& p, Draw& draw) {
  return p.data() + kPage * (kCodePages + draw.below(p.data_size() / kPage - kCodePages));
}

/// Maps the program's pages from `to` on.
void map_program(Program& p, Table level1, Table level0, std::uint64_t to, bool user, Draw& draw) {
  Image& image = p.image();
  image.put(p.table(kRoot) + (to >> 30 & 511) * 8, leaf(p.table(level1), kV));
  image.put(p.table(level1) + (to >> 21 & 511) * 8, leaf(p.table(level0), kV));
  const std::uint64_t hardened = draw.one_in(3);
  for (std::uint64_t at = 0; at < p.region_size(); at += kPage) {
    std::uint64_t flags = kV | kR | (user ? kU : 0) | (draw() & (kA | kD | kG));
    const bool data = p.region() + at >= p.data();
    flags |= data ? kW | (draw() & kX) : kX | (draw() & kW);
    if (data && hardened && draw.one_in(4)) flags = draw_flags(draw);
    image.put(p.table(level0) + ((to + at) >> 12 & 511) * 8, leaf(p.region() + at, flags));
  }
}

std::uint64_t draw_virtual(std::uint64_t root_index, std::uint64_t pages, Draw& draw) {
  const std::uint64_t low = root_index << 30 | draw.below(512) << 21 | draw.below(512 - pages) << 12;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(low << 25) >> 25);
}

std::uint64_t draw_code_page(const Program& p, Draw& draw) { return p.data() + kPage * draw.below(kCodePages); }

/// The address with bit 39 or a higher one inverted: that bit must be a copy of bit 38.
std::uint64_t not_canonical(std::uint64_t address, Draw& draw) {
  return address ^ std::uint64_t{1} << (39 + draw.below(25));
}

}  // namespace

std::uint64_t draw_entry(const Program& p, std::uint64_t page, Draw& draw) {
  if (page >= kTestPages) return leaf(draw_code_page(p, draw), draw_flags(draw) & ~kW);
  std::uint64_t physical = draw_data_page(p, draw);
  if (may_map_nothing(page) && draw.one_in(5)) physical = draw.one_in(2) ? kNothing : draw() & 0xff'ffff'ffff'f000;
  return leaf(physical, draw_flags(draw));
}

std::uint64_t draw_open_entry(const Program& p, std::uint64_t page, Draw& draw) {
  const bool code = page >= kTestPages;
  const std::uint64_t flags = kV | kR | kX | kA | kD | (code ? 0 : kW) | (draw.one_in(3) ? kU : 0);
  return leaf(code ? draw_code_page(p, draw) : draw_data_page(p, draw), flags);
}

void draw_tables(Program& p, Setting& s, Draw& draw) {
  Image& image = p.image();
  // Entries of the root: RAM at its own address for the supervisor's handler, two views of the program, and the test
  // area. They lie apart from each other and from QEMU's devices, because M mode may access the same addresses.
  constexpr std::uint64_t kFirst = 40;
  const std::uint64_t start = kFirst + draw.below(460);
  const auto root_index = [&](std::uint64_t n) { return start + n; };
  const std::uint64_t pages = p.region_size() / kPage;
  const std::uint64_t user = draw_virtual(root_index(3), pages, draw);
  const std::uint64_t supervisor = draw_virtual(root_index(4), pages, draw);
  image.put(p.table(kRoot) + 2 * 8, leaf(kRam, kV | kR | kW | kX | kA | kD | (draw() & kG)));
  map_program(p, kUser1, kUser0, user, true, draw);
  map_program(p, kSupervisor1, kSupervisor0, supervisor, false, draw);
  p.d.code[0] = user + p.skew();
  p.d.code[1] = supervisor + p.skew();
  s.root = p.table(kRoot) >> 12;

  const auto canonical = [](std::uint64_t v) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(v << 25) >> 25);
  };
  const std::uint64_t test = canonical(root_index(5) << 30);
  image.put(p.table(kRoot) + root_index(5) * 8, leaf(p.table(kTest1), kV));
  // Level 1: entry 0 is the table of test pages, then drawn 2 MiB pages and pointers.
  image.put(p.table(kTest1), leaf(p.table(kTest0), kV));
  const std::uint64_t around = p.data() & ~(kLarge - 1);
  for (unsigned n = 1; n < 12; ++n) {
    std::uint64_t entry = leaf(around, draw_flags(draw) | kR);
    if (draw.one_in(5)) entry |= std::uint64_t{1} << (10 + draw.below(9));  // misaligned
    if (draw.one_in(4)) {
      entry = leaf(p.table(kTest0), kV | (draw.one_in(2) ? draw() & (kA | kD | kU | kG) : 0));
      s.pointers.push_back(n);
    }
    image.put(p.table(kTest1) + n * 8, entry);
  }
  for (unsigned n = 0; n < kTestPages; ++n) {
    std::uint64_t entry = draw_entry(p, n, draw);
    if (draw.one_in(16)) entry &= ~(kR | kW | kX);  // a pointer at the last level
    image.put(p.table(kTest0) + n * 8, entry);
  }
  for (unsigned n = kTestPages; n < kTestPages + kFetchPages; ++n)
    image.put(p.table(kTest0) + n * 8, draw_entry(p, n, draw));
  for (unsigned n = 0; n < 2; ++n) {
    std::uint64_t entry = leaf(kRam, draw_flags(draw) | kR);
    if (draw.one_in(4)) entry |= std::uint64_t{1} << (10 + draw.below(18));
    image.put(p.table(kRoot) + root_index(6 + n) * 8, entry);
    s.huge_pages[n] = canonical(root_index(6 + n) << 30);
  }
  s.test_pages = test;
  s.test_table = p.table(kTest0);
  s.large_pages = test;
}

std::uint64_t draw_address(const Program& p, const Setting& s, Draw& draw) {
  constexpr std::uint64_t size = 8;
  const std::uint64_t physical_page = draw_data_page(p, draw);
  std::uint64_t offset = 16 + draw.below(kPage - 48);
  if (!draw.one_in(4)) offset &= ~std::uint64_t{size - 1};
  // Some accesses cross the end of a page, but not into or out of the pages of code, and not under PMP rules: QEMU asks
  // the PMP about the whole access, the ISS about its two parts. The specification allows both.
  if (s.protected_memory) offset &= ~std::uint64_t{3};  // see known_differences(): a rule within an access
  if (!s.protected_memory && draw.one_in(6)) offset = kPage - 1 - draw.below(size);
  const bool crosses = offset + size > kPage;
  const std::uint64_t physical =
      (crosses && physical_page + 2 * kPage > p.data() + p.data_size() ? physical_page - kPage : physical_page) +
      offset;
  const std::uint64_t bound = s.protected_memory && draw.one_in(2) ? draw_bound(p, draw) : 0;
  if (!s.paged && bound) return bound;
  if (bound) return draw.one_in(2) ? bound : p.d.code[draw.below(2)] - p.skew() + (bound - p.region());
  // An access to kNothing is aligned: QEMU makes aligned accesses of a misaligned one, and reports their address.
  if (!s.paged) return draw.one_in(12) ? kNothing + (offset & ~std::uint64_t{7}) : physical;
  const std::uint64_t view = p.d.code[draw.below(2)] - p.skew() + (physical - p.region());
  switch (draw.below(12)) {
    case 0:
      if (!s.pointers.empty() && !crosses)
        return s.large_pages + draw.from(s.pointers) * kLarge + draw.below(kTestPages) * kPage + offset;
      [[fallthrough]];
    case 1:
      return s.large_pages + (1 + draw.below(11)) * kLarge + (physical & (kLarge - 1));
    case 2:
      return s.huge_pages[draw.below(2)] + (physical & (kHuge - 1));
    case 3:
      return physical;
    case 4:
      return view;
    case 5:
      if (draw.one_in(4)) return s.test_pages ^ 1ull << 38;
      if (draw.one_in(3)) return (draw() | std::uint64_t{1} << 40) & ~(std::uint64_t{1} << 39);
      return not_canonical(draw.one_in(2) ? physical : view, draw);
    default:
      // No half of an access goes to nothing: which fault would come first is not specified.
      return s.test_pages + (draw.below(kTestPages - 1) & (crosses ? ~std::uint64_t{2} : ~std::uint64_t{0})) * kPage +
             offset;
  }
}

std::uint64_t draw_fetch_address(const Program& p, const Setting& s, Draw& draw) {
  const std::uint64_t entry = draw.from(kEntries);
  // The last entry of the last page is left out: no page of code follows.
  const std::uint64_t pages = entry + 4 > kPage ? kCodePages - 1 : kCodePages;
  std::uint64_t physical = p.data() + draw.below(pages) * kPage + entry;
  if (!s.paged) return draw.one_in(6) ? kNothing + entry : physical;
  if ((physical + kPage) / kLarge != p.data() / kLarge) physical = p.data() + kEntries[1];
  const std::uint64_t view = p.d.code[draw.below(2)] - p.skew() + (physical - p.region());
  const std::uint64_t test = s.test_pages + (kTestPages + draw.below(kFetchPages)) * kPage + entry;
  switch (draw.below(12)) {
    case 0:
      return s.large_pages + (1 + draw.below(11)) * kLarge + (physical & (kLarge - 1));
    case 1:
      return s.huge_pages[draw.below(2)] + (physical & (kHuge - 1));
    case 2:
      return physical;
    case 3:
      return view;
    case 4:
    case 5:
      return not_canonical(draw.from({physical, view, test}), draw);
    default:
      return test;
  }
}

std::uint64_t draw_bound(const Program& p, Draw& draw) {
  const std::uint64_t n = 2 + draw.below(13);
  const auto at = (&p.d.csr.pmpaddr0)[n];
  const auto mode = (n < 8 ? p.d.csr.pmpcfg0 >> (8 * n) : p.d.csr.pmpcfg2 >> (8 * (n - 8))) >> 3 & 3;
  const std::uint64_t ones = at ^ (at + 1);
  std::uint64_t bound = at << 2;
  if (mode == 2 && draw.one_in(2)) bound += 4;
  if (mode == 3) bound = draw.one_in(2) ? (at & ~ones) << 2 : ((at | ones) << 2) + 4;
  bound -= 4 * draw.below(3);
  const std::uint64_t first = p.data() + kCodePages * kPage + 16, last = p.data() + p.data_size() - 16;
  return bound >= first && bound <= last && (bound & (kPage - 1)) < kPage - 8 ? bound : 0;
}

std::uint64_t draw_pmp_address(const Program& p, unsigned mode, Draw& draw) {
  const std::uint64_t where = draw_data_page(p, draw) + draw.below(kPage);
  if (mode != 3) return where >> 2;
  const std::uint64_t size = std::uint64_t{8} << draw.below(10);
  return (where & ~(size - 1)) >> 2 | (size / 8 - 1);
}

std::uint64_t draw_pmp_configs(const Program& p, unsigned number, Draw& draw) {
  const std::uint64_t initial = number == 0 ? p.d.csr.pmpcfg0 : p.d.csr.pmpcfg2;
  std::uint64_t value = initial & (number == 0 ? 0xffff : std::uint64_t{0xff} << 56);
  for (unsigned n = number == 0 ? 2 : 8; n < (number == 0 ? 8 : 15); ++n) {
    std::uint64_t config = draw_pmp_config(draw);
    if (n == 2 && (config >> 3 & 3) == 1) config = 0;  // see draw_protection
    if (draw.one_in(6)) config |= 0x80;
    value |= config << (n % 8 * 8);
  }
  return value;
}

void draw_protection(Program& p, const Setting& s, Draw& draw) {
  std::uint64_t address[16] = {}, config[16] = {};
  // Entry 1 lets the supervisor's handler work, entry 0 may cover all memory below it, the last one covers the rest.
  address[0] = p.supervisor() >> 2;
  address[1] = p.logs_end() >> 2;
  if (draw.one_in(2)) config[0] = 0x08 | (draw_pmp_config(draw) & 7);
  config[1] = 0x0f;
  for (unsigned n = 2; n < 15; ++n) {
    config[n] = draw_pmp_config(draw);
    // A rule that may become NAPOT must stay within the data.
    address[n] = draw_pmp_address(p, s.locked ? 3 : config[n] >> 3 & 3, draw);
    const bool tor = (config[n] >> 3 & 3) == 1;
    if (tor && n == 2) config[n] = 0;  // it would begin where entry 1 ends, and cover the code
    if (tor && n > 2 && n % 2 == 0) config[n - 1] &= ~std::uint64_t{0x18};
    if (s.locked && draw.one_in(2)) config[n] |= 0x80;
  }
  // A locked TOR entry behind an unlocked one, whose address it locks.
  for (const unsigned n : {4 + static_cast<unsigned>(draw.below(4)), 10 + static_cast<unsigned>(draw.below(4))})
    if (s.locked) config[n] = 0x88 | (config[n] & 7), config[n - 1] &= 0x7f;
  // The page tables: all or nothing. QEMU 7.2 sets A and D where PMP forbids the write.
  if (s.paged && !s.locked && draw.one_in(8)) {
    address[13] = p.table(0) >> 2;
    address[14] = p.d.end >> 2;
    config[13] = 0;
    config[14] = 0x08 | draw.from({0u, 3u, 7u});
  }
  address[15] = ~std::uint64_t{0} >> 10;
  config[15] = 0x18 | (draw.one_in(12) ? draw.from({0u, 3u, 4u}) : s.locked && draw.one_in(2) ? 0x87u : 7u);
  std::memcpy(&p.d.csr.pmpaddr0, address, sizeof address);  // 16 fields in a row
  p.d.csr.pmpcfg0 = p.d.csr.pmpcfg2 = 0;
  for (unsigned n = 0; n < 8; ++n) p.d.csr.pmpcfg0 |= config[n] << (8 * n), p.d.csr.pmpcfg2 |= config[8 + n] << (8 * n);
}

}  // namespace sluice::differential
