// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/random_program.h"

#include "models/riscv/iss/privileged/csr.h"
#include "tests/differential/operands.h"

namespace sluice::differential {
namespace {

constexpr unsigned kDataPages = kCodePages + 6, kTables = 7;
constexpr std::uint64_t kLiteralBytes = 6144;

/// Code that is fetched through mappings: each entry of each page adds another number to a1 and returns.
void write_fetched_code(Program& p) {
  constexpr std::uint32_t kAddi = 0x13 | reg::a1 << 7 | reg::a1 << 15, kReturn = 0x0000'8067;
  constexpr std::uint16_t kShortReturn = 0x8082;
  for (std::uint64_t n = 0; n < kCodePages; ++n) {
    const std::uint64_t page = p.data() + n * kPage;
    // The second half of an addi that begins in the page before; executed as a first half, it is a c.addi.
    const std::uint32_t second_half = kAddi >> 16 | static_cast<std::uint32_t>(reg::a1 << 3 | n) << 4;
    p.image().put(page, static_cast<std::uint16_t>(second_half));
    p.image().put(page + 2, kShortReturn);
    p.image().put(page + kEntries[1], kAddi | static_cast<std::uint32_t>(16 * n + 1) << 20);
    p.image().put(page + kEntries[1] + 4, kReturn);
    p.image().put(page + kEntries[2], kAddi | static_cast<std::uint32_t>(16 * n + 2) << 20);
    p.image().put(page + kEntries[2] + 4, kShortReturn);
    p.image().put(page + kEntries[3], static_cast<std::uint16_t>(kAddi));
  }
}

/// How the supervisor's handler ends the program: by a trap that is not delegated.
void choose_exit(Program& p, Draw& draw) {
  struct Way {
    unsigned cause;
    std::uint32_t word;
  };
  constexpr Way kWays[] = {{9, 0x0000'0073}, {3, 0x0010'0073}, {2, 0}};
  const Way& way = draw.from(kWays);
  p.d.csr.medeleg &= ~(std::uint64_t{1} << way.cause);
  p.image().put(p.supervisor() + S_EXIT, way.word);
}

void draw_csrs(Program& p, const Setting& s, Draw& draw) {
  using namespace riscv;
  InitialCsrs& csr = p.d.csr;
  csr.mstatus =
      s.mode << 11 |
      (draw() & (mstatus::kSpie | mstatus::kMpie | mstatus::kSpp | mstatus::kSum | mstatus::kMxr | mstatus::kSie));
  if (draw.one_in(4)) csr.mstatus |= draw() & (mstatus::kTvm | mstatus::kTw | mstatus::kTsr);
  if (!draw.one_in(12)) csr.mstatus |= mstatus::kFs;
  csr.mcounteren = draw() & 7;
  csr.scounteren = draw() & 7;
  csr.menvcfg = draw() & kMenvcfgStce;
  csr.sscratch = draw();
  csr.sepc = draw() & ~std::uint64_t{1};
  csr.scause = draw() & 0x8000'0000'0000'000f;
  csr.stval = draw();
  csr.mtvec |= draw() & 1;
  csr.stvec |= draw() & 1;
  if (draw.one_in(4)) csr.mie = draw() & (irq::kSupervisor | irq::kMachine);
  if (draw.one_in(8)) csr.mip = draw() & irq::kSupervisor & ~(csr.menvcfg ? irq::bit(irq::kSti) : 0);
  // Never with both tables and PMP rules: a handler that cannot be fetched would take its own faults for ever.
  if (s.delegated) csr.medeleg = draw() & (draw.one_in(3) ? 0xb3ff : 0xb2f7);
  // Both access faults go to the same mode: for QEMU an AMO to nothing is a load access fault.
  constexpr std::uint64_t kLoadAccess = 1 << 5, kStoreAccess = 1 << 7;
  if (csr.medeleg & kLoadAccess)
    csr.medeleg |= kStoreAccess;
  else
    csr.medeleg &= ~kStoreAccess;
  if (draw.one_in(2)) csr.mideleg = draw() & irq::kSupervisor;
  if (s.paged) csr.satp = std::uint64_t{8} << 60 | (draw() & 0xffff) << 44 | s.root;
}

}  // namespace

std::uint64_t build_random(Image& image, std::uint64_t seed, std::uint64_t index, bool locks) {
  Draw draw(seed, index);
  Setting s;
  s.mode = static_cast<unsigned>(draw.from({3u, 3u, 1u, 1u, 1u, 0u, 0u}));
  s.paged = draw.below(10) < 6;
  s.locked = locks;
  if (s.locked) s.mode = 3;  // only M mode writes PMP rules
  s.protected_memory = draw.below(10) < 4 || s.locked;
  s.delegated = draw.one_in(2) && !(s.paged && s.protected_memory);
  s.steps = s.locked ? 140 : 40 + draw.below(60);
  Shape shape;
  shape.kind = std::string("random ") + "US?M"[s.mode] + (s.paged ? " paged" : "") +
               (s.locked             ? " locked PMP"
                : s.protected_memory ? " PMP"
                                     : "") +
               (s.delegated ? " delegated" : "");
  shape.code_bytes = (s.steps + 1) * kStep + kLiteralBytes;
  shape.data_bytes = kDataPages * kPage;
  shape.tables = s.paged ? kTables : 0;
  shape.skew = static_cast<unsigned>(draw.below(32) * 2);
  Program p(image, shape, seed, index);
  p.draw_state(draw);
  for (std::uint64_t at = kCodePages * kPage; at < shape.data_bytes; at += 8)
    image.put(p.data() + at, draw.one_in(2) ? draw_integer(draw) : draw_float(Source::full, draw));
  write_fetched_code(p);
  if (s.paged) draw_tables(p, s, draw);
  p.d.test_pages = s.test_pages;
  p.d.csr.pmpaddr0 = ~std::uint64_t{0} >> 10;
  p.d.csr.pmpcfg0 = 0x1f;
  if (s.protected_memory) draw_protection(p, s, draw);
  draw_csrs(p, s, draw);
  choose_exit(p, draw);
  Steps steps(p, s, draw);
  for (std::uint64_t n = 0; n < s.steps; ++n) steps.write(n);
  return p.finish();
}

}  // namespace sluice::differential
