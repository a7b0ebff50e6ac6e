// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/unit/riscv/privileged_bench.h"

using namespace sluice;
using namespace sluice::riscv;

namespace {

constexpr std::uint64_t V = 1, R = 2, W = 4, X = 8, U = 16, G = 32, A = 64, D = 128;
constexpr std::uint64_t kRoot = 0x8000'1000, kMiddle = 0x8000'2000, kLast = 0x8000'3000, kTarget = 0x8040'0000;
constexpr std::uint64_t kLow = 0x1234'5000;  // the virtual page

std::uint64_t entry(std::uint64_t physical, std::uint64_t flags) { return (physical >> 12) << 10 | flags; }
std::uint64_t slot(std::uint64_t table, std::uint64_t address, unsigned level) {
  return table + ((address >> (12 + 9 * level)) & 0x1ff) * 8;
}

/// Maps the page of kLow to kTarget with `flags`, in S mode, with Sv39 on.
struct MmuBench : PrivilegedBench {
  explicit MmuBench(std::uint64_t flags, std::uint64_t address = kLow) {
    open_pmp();
    set_pte(slot(kRoot, address, 2), entry(kMiddle, V));
    set_pte(slot(kMiddle, address, 1), entry(kLast, V));
    set_pte(leaf_slot = slot(kLast, address, 0), entry(kTarget, flags));
    poke(csr::kSatp, std::uint64_t{8} << 60 | kRoot >> 12);
    go(Privilege::supervisor);
  }
  Cause access(Access kind, std::uint64_t address = kLow + 0x10, unsigned size = 8) {
    return hart.translate(address, size, kind, result);
  }
  std::uint64_t leaf_slot;
  Privileged::Translation result;
};

constexpr auto kFetch = Access::fetch, kLoad = Access::load, kStore = Access::store;

}  // namespace

TEST_CASE("machine mode and bare satp do not translate", "[mmu]") {
  MmuBench bench(V | R | W | A | D);
  bench.go(Privilege::machine);
  REQUIRE(bench.access(kLoad, 0x8000'1238) == Cause::none);
  CHECK(bench.result.physical == 0x8000'1238);
  CHECK(bench.result.region_size == 1 << 30);
  CHECK((bench.result.readable && bench.result.writable && bench.result.executable));
  bench.poke(csr::kSatp, 0);
  bench.go(Privilege::supervisor);
  REQUIRE(bench.access(kLoad, 0x8000'1238) == Cause::none);
  CHECK(bench.result.physical == 0x8000'1238);
}

TEST_CASE("a page translates and says what it can be used for", "[mmu]") {
  MmuBench bench(V | R | W | A | D);
  REQUIRE(bench.access(kLoad) == Cause::none);
  CHECK(bench.result.physical == kTarget + 0x10);
  CHECK(bench.result.region_size == 4096);
  CHECK(bench.result.readable);
  CHECK(bench.result.writable);
  CHECK_FALSE(bench.result.executable);
  CHECK(bench.access(kFetch) == Cause::fetch_page);
}

TEST_CASE("faults name the kind of access", "[mmu]") {
  MmuBench bench(0);
  CHECK(bench.access(kFetch) == Cause::fetch_page);
  CHECK(bench.access(kLoad) == Cause::load_page);
  CHECK(bench.access(kStore) == Cause::store_page);
}

TEST_CASE("addresses must repeat bit 38 above it", "[mmu]") {
  constexpr std::uint64_t kHigh = 0xffff'ffff'ffff'f000;  // the last page, and its aliases below
  MmuBench bench(V | R | W | X | A | D, kHigh);
  struct Kind {
    Access access;
    Cause fault;
  };
  for (const auto& [kind, fault] :
       {Kind{kFetch, Cause::fetch_page}, Kind{kLoad, Cause::load_page}, Kind{kStore, Cause::store_page}}) {
    CHECK(bench.access(kind, kHigh, 4) == Cause::none);
    for (unsigned bit = 39; bit < 64; ++bit) CHECK(bench.access(kind, kHigh ^ std::uint64_t{1} << bit, 4) == fault);
    CHECK(bench.access(kind, 0x0000'007f'ffff'f000, 4) == fault);
  }
}

TEST_CASE("A is set by any access and D by stores, in the page table", "[mmu]") {
  MmuBench bench(V | R | W);
  REQUIRE(bench.access(kLoad) == Cause::none);
  CHECK(bench.pte(bench.leaf_slot) == entry(kTarget, V | R | W | A));
  CHECK_FALSE(bench.result.writable);  // a store must come back for D
  REQUIRE(bench.access(kStore) == Cause::none);
  CHECK(bench.pte(bench.leaf_slot) == entry(kTarget, V | R | W | A | D));
  CHECK(bench.result.writable);
}

TEST_CASE("a fault sets neither A nor D", "[mmu]") {
  MmuBench bench(V | R);
  CHECK(bench.access(kStore) == Cause::store_page);
  CHECK(bench.pte(bench.leaf_slot) == entry(kTarget, V | R));
}

TEST_CASE("a hint translates without touching the page table", "[mmu]") {
  MmuBench bench(V | R | W);
  Privileged::Translation hint;
  REQUIRE(bench.hart.translate_hint(kLow + 5, hint) == Cause::none);
  CHECK(hint.physical == kTarget + 5);
  CHECK(bench.pte(bench.leaf_slot) == entry(kTarget, V | R | W));
  CHECK(bench.hart.translate_hint(kLow + 0x1000, hint) == Cause::load_page);
}

TEST_CASE("watchers of a page table page hear of A and D updates", "[mmu]") {
  struct Watcher : base::RamWatcher {
    void ram_written(std::uint64_t address, std::uint64_t length) override {
      last = address;
      bytes += length;
    }
    void page_watched(std::uint64_t) override {}
    std::uint64_t last = 0, bytes = 0;
  } watcher;
  MmuBench bench(V | R | W);
  bench.ram.add_watcher(&watcher);
  bench.ram.set_watch(kLast, base::GuestRam::kCode);
  REQUIRE(bench.access(kLoad) == Cause::none);
  CHECK(watcher.last == bench.leaf_slot);
  CHECK(watcher.bytes == 8);
  REQUIRE(bench.access(kLoad) == Cause::none);
  CHECK(watcher.bytes == 8);
}

TEST_CASE("encodings that are reserved fault", "[mmu]") {
  for (const std::uint64_t flags : {V | W, V | W | X, V}) {
    MmuBench bench(flags | A | D);
    CHECK(bench.access(kLoad) == Cause::load_page);
  }
  for (unsigned bit = 54; bit < 64; ++bit) {
    MmuBench bench(V | R | W | A | D | std::uint64_t{1} << bit);
    CHECK(bench.access(kLoad) == Cause::load_page);
  }
  for (const std::uint64_t flag : {A, D, U}) {
    MmuBench bench(V | R | A);
    bench.set_pte(slot(kMiddle, kLow, 1), entry(kLast, V | flag));
    CHECK(bench.access(kLoad) == Cause::load_page);
  }
  MmuBench bench(V | R | G | A | 0x300);  // G and RSW are for software
  CHECK(bench.access(kLoad) == Cause::none);
}

TEST_CASE("PBMT gives a page's memory type while menvcfg.PBMTE is set", "[mmu]") {
  constexpr auto pbmt = [](std::uint64_t type) { return type << 61; };
  for (const std::uint64_t type : {1u, 2u, 3u}) {
    MmuBench bench(V | R | W | A | D | pbmt(type));
    CHECK(bench.access(kLoad) == Cause::load_page);
    const auto epoch = bench.hart.epoch();
    bench.set_bits(csr::kMenvcfg, kMenvcfgPbmte);
    CHECK(bench.hart.epoch() != epoch);
    CHECK(bench.access(kLoad) == (type == 3 ? Cause::load_page : Cause::none));
    if (type != 3) CHECK(bench.result.type == static_cast<MemoryType>(type));
    bench.clear_bits(csr::kMenvcfg, kMenvcfgPbmte);
    CHECK(bench.access(kLoad) == Cause::load_page);
  }
  MmuBench bench(V | R | W | A | D);
  bench.set_bits(csr::kMenvcfg, kMenvcfgPbmte);
  REQUIRE(bench.access(kLoad) == Cause::none);
  CHECK(bench.result.type == MemoryType::normal);
  for (unsigned bit = 54; bit < 64; ++bit) {  // N, and what has no meaning; PBMT in a pointer
    const bool is_type = bit == 61 || bit == 62;
    bench.set_pte(bench.leaf_slot, entry(kTarget, V | R | W | A | D | std::uint64_t{1} << bit));
    CHECK(bench.access(kLoad) == (is_type ? Cause::none : Cause::load_page));
    bench.set_pte(bench.leaf_slot, entry(kTarget, V | R | W | A | D));
    bench.set_pte(slot(kMiddle, kLow, 1), entry(kLast, V | std::uint64_t{1} << bit));
    CHECK(bench.access(kLoad) == Cause::load_page);
    bench.set_pte(slot(kMiddle, kLow, 1), entry(kLast, V));
  }
  bench.set_pte(slot(kMiddle, kLow, 1), entry(kTarget & ~std::uint64_t{0x1f'ffff}, V | R | A | pbmt(1)));
  REQUIRE(bench.access(kLoad) == Cause::none);  // a superpage
  CHECK(bench.result.type == MemoryType::noncacheable);
}

TEST_CASE("superpages translate, and fault when misaligned", "[mmu]") {
  MmuBench bench(0);
  bench.set_pte(slot(kMiddle, kLow, 1), entry(kTarget, V | R | A));
  REQUIRE(bench.access(kLoad, kLow + 0x10) == Cause::none);
  CHECK(bench.result.physical == kTarget + (kLow & 0x1f'ffff) + 0x10);
  CHECK(bench.result.region_size == 2 << 20);
  bench.set_pte(slot(kMiddle, kLow, 1), entry(kTarget + 0x1000, V | R | A));
  CHECK(bench.access(kLoad) == Cause::load_page);

  bench.set_pte(slot(kRoot, kLow, 2), entry(0x8000'0000, V | R | A));
  REQUIRE(bench.access(kLoad) == Cause::none);
  CHECK(bench.result.physical == 0x8000'0000 + kLow + 0x10);
  CHECK(bench.result.region_size == 1 << 30);
  bench.set_pte(slot(kRoot, kLow, 2), entry(0x8020'0000, V | R | A));
  CHECK(bench.access(kLoad) == Cause::load_page);
}

TEST_CASE("user pages are for user mode, and for supervisor data under SUM", "[mmu]") {
  MmuBench bench(V | R | W | X | U | A | D);
  CHECK(bench.access(kLoad) == Cause::load_page);
  CHECK(bench.access(kFetch) == Cause::fetch_page);
  const auto epoch = bench.hart.epoch();
  bench.set_bits(csr::kSstatus, mstatus::kSum);
  CHECK(bench.hart.epoch() != epoch);
  CHECK(bench.access(kLoad) == Cause::none);
  CHECK_FALSE(bench.result.executable);
  CHECK(bench.access(kFetch) == Cause::fetch_page);
  bench.go(Privilege::user);
  CHECK(bench.access(kFetch) == Cause::none);
  CHECK(bench.result.executable);

  MmuBench kernel(V | R | X | A);
  kernel.go(Privilege::user);
  CHECK(kernel.access(kLoad) == Cause::load_page);
  CHECK(kernel.access(kFetch) == Cause::fetch_page);
}

TEST_CASE("MXR makes code readable", "[mmu]") {
  MmuBench bench(V | X | A);
  CHECK(bench.access(kLoad) == Cause::load_page);
  const auto epoch = bench.hart.epoch();
  bench.set_bits(csr::kSstatus, mstatus::kMxr);
  CHECK(bench.hart.epoch() != epoch);
  CHECK(bench.access(kLoad) == Cause::none);
  CHECK(bench.access(kStore) == Cause::store_page);
}

TEST_CASE("MPRV lends MPP's translation to data, not to fetches", "[mmu]") {
  MmuBench bench(V | R | W | U | A | D);
  bench.go(Privilege::machine);
  bench.poke(csr::kMstatus, mstatus::kMprv);  // MPP = U
  CHECK(bench.hart.effective_data_privilege() == Privilege::user);
  REQUIRE(bench.access(kLoad) == Cause::none);
  CHECK(bench.result.physical == kTarget + 0x10);
  REQUIRE(bench.access(kFetch, 0x8000'0000, 4) == Cause::none);
  CHECK(bench.result.physical == 0x8000'0000);

  const auto epoch = bench.hart.epoch();
  bench.set_bits(csr::kMstatus, std::uint64_t{1} << mstatus::kMppShift);  // MPP = S: a user page without SUM
  CHECK(bench.hart.epoch() != epoch);
  CHECK(bench.access(kLoad) == Cause::load_page);
  bench.set_bits(csr::kMstatus, mstatus::kMpp);
  CHECK(bench.access(kLoad, 0x8000'0000) == Cause::none);
}

TEST_CASE("page tables outside RAM are access faults of the original access", "[mmu]") {
  MmuBench bench(V | R | W | X | A | D);
  bench.set_pte(slot(kMiddle, kLow, 1), entry(0x1000'0000, V));
  CHECK(bench.access(kFetch) == Cause::fetch_access);
  CHECK(bench.access(kLoad) == Cause::load_access);
  CHECK(bench.access(kStore) == Cause::store_access);
  bench.poke(csr::kSatp, std::uint64_t{8} << 60 | ((std::uint64_t{1} << 44) - 1));
  CHECK(bench.access(kLoad) == Cause::load_access);
}

TEST_CASE("PMP is checked on the walk, on updates and on the access", "[mmu]") {
  constexpr std::uint64_t kNapot = 0x18;
  MmuBench bench(V | R | W);
  const auto guard = [&](std::uint64_t page, std::uint64_t permissions) {
    bench.poke(csr::kPmpaddr0, page >> 2 | 0x1ff);
    bench.poke(csr::kPmpaddr0 + 1, ~std::uint64_t{0});
    bench.poke(csr::kPmpcfg0, kNapot | permissions | 0x1f00);
  };
  guard(kLast, 0);
  CHECK(bench.access(kLoad) == Cause::load_access);
  CHECK(bench.access(kStore) == Cause::store_access);
  guard(kLast, Pmp::kRead);  // the walk may read the table but not set A
  CHECK(bench.access(kLoad) == Cause::load_access);
  CHECK(bench.pte(bench.leaf_slot) == entry(kTarget, V | R | W));
  bench.set_pte(bench.leaf_slot, entry(kTarget, V | R | W | A | D));
  CHECK(bench.access(kStore) == Cause::none);
  guard(kLast, 0);
  CHECK(bench.access(kStore) == Cause::store_access);

  guard(kTarget, Pmp::kRead);
  CHECK(bench.access(kStore) == Cause::store_access);
  REQUIRE(bench.access(kLoad) == Cause::none);
  CHECK_FALSE(bench.result.writable);
  CHECK(bench.result.region_size == 4096);
}

TEST_CASE("the cacheable region shrinks to what the PMP decides uniformly", "[mmu]") {
  MmuBench bench(V | R | W | A | D);
  bench.poke(csr::kPmpaddr0, (kTarget + 0x800) >> 2);  // NA4 inside the page
  bench.poke(csr::kPmpaddr0 + 1, ~std::uint64_t{0});
  bench.poke(csr::kPmpcfg0, 0x1f10);
  REQUIRE(bench.access(kLoad) == Cause::none);
  CHECK(bench.result.region_size == 0);
  CHECK(bench.access(kLoad, kLow + 0x800, 4) == Cause::load_access);
  CHECK(bench.access(kLoad, kLow + 0x7fc, 8) == Cause::load_access);

  bench.set_pte(slot(kMiddle, kLow, 1), entry(kTarget, V | R | A));
  REQUIRE(bench.access(kLoad) == Cause::none);
  CHECK(bench.result.region_size == 4096);  // another page of the same superpage
}

TEST_CASE("what voids cached translations changes the epoch", "[mmu]") {
  MmuBench bench(V | R | W | A | D);
  auto epoch = bench.hart.epoch();
  const auto changed = [&] {
    const bool result = bench.hart.epoch() != epoch;
    epoch = bench.hart.epoch();
    return result;
  };
  CHECK(bench.hart.csr_write(csr::kSatp, bench.peek(csr::kSatp)));
  CHECK_FALSE(changed());
  CHECK(bench.hart.csr_write(csr::kSatp, bench.peek(csr::kSatp) + 1));
  CHECK(changed());
  for (const bool one_address : {false, true})
    for (const bool one_asid : {false, true}) {
      CHECK(bench.hart.sfence_vma(kLow, one_address, 0, one_asid));
      CHECK(changed());
    }
  bench.hart.trap(Cause::ecall_supervisor, 0);
  CHECK_FALSE(changed());
  bench.set_bits(csr::kMstatus, mstatus::kMprv);
  CHECK(changed());
  bench.hart.trap(Cause::breakpoint, 0);
  CHECK(changed());  // MPP, and with it the data privilege
}
