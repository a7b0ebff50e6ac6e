// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root/iommu.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/measure/mistakes.h"

namespace sluice::pcie {

using base::Time;

namespace {
constexpr std::uint64_t kPageMask = (1u << IOMMU_PAGE_SHIFT(0)) - 1;
constexpr std::uint64_t kReservedBits = ~std::uint64_t{0} << IOMMU_PTE_RESERVED_SHIFT;
constexpr unsigned kAddressBits = IOMMU_PAGE_SHIFT(IOMMU_LEVELS);
}  // namespace

void Iommu::Parameters::describe(base::Schema<Parameters>& s) {
  using P = Parameters;
  constexpr const char* kUnknown = "no vendor publishes it";
  constexpr const char* kNothing = "no request was translated";
  constexpr const char* kNoWalk = "no request began a page walk";
  s.summary("IOMMU with an IOTLB");
  s.add("entries", &P::entries, "translations that the IOTLB holds")
      .range(1, 65536)
      .unit("entries")
      .acts_with({"hits", "misses"}, kNothing)
      .assumed(kUnknown);
  s.add("ways", &P::ways, "its associativity")
      .range(1, 65536)
      .unit("ways")
      .acts_with({"hits", "misses"}, kNothing)
      .assumed(kUnknown);
  s.add("tables", &P::tables, "page tables whose addresses are cached; 0: every walk starts at the root")
      .range(0, 4096)
      .unit("tables")
      .acts_with({"misses"}, kNoWalk)
      .assumed(kUnknown);
  s.add("walkers", &P::walkers, "page walks at once")
      .range(1, 64)
      .unit("walks")
      .acts_with({"misses"}, kNoWalk)
      .assumed(kUnknown);
  s.add("lookup", &P::lookup, "of every request that is translated")
      .range(0_ns, 1_us)
      .acts_with({"hits", "misses"}, kNothing)
      .assumed(kUnknown);
  s.add("walk_step", &P::walk_step, "of each level of a walk, beside its memory read")
      .range(0_ns, 1_us)
      .acts_with({"misses"}, kNoWalk)
      .assumed(kUnknown);
  s.rule("ways", [](const P& p) { return p.entries % p.ways == 0 ? "" : "must divide entries"; });
}

Iommu::Iommu(sc_core::sc_module_name name, const Parameters& p, base::MemoryPath& memory)
    : Model(name),
      socket("socket", registers_),
      parameters_(p),
      memory_(memory),
      sets_(p.entries / p.ways),
      entries_(p.entries),
      tables_(p.tables),
      walkers_(p.walkers),
      registers_(path(), IOMMU_SIZE) {
  control_ = registers_.add({.name = "control", .offset = IOMMU_CONTROL, .write_mask = IOMMU_CONTROL_TRANSLATE});
  registers_.add({.name = "command",
                  .offset = IOMMU_COMMAND,
                  .access = base::Access::wo,
                  .on_write = [this](const base::RegisterWrite& w) {
                    if (!(w.value & IOMMU_COMMAND_INVALIDATE)) return;
                    forget();
                  }});
  root_ = registers_.add({.name = "root",
                          .offset = IOMMU_ROOT,
                          .width = 8,
                          .write_mask = ~kPageMask,
                          .halves = true,
                          .on_write = [this](const base::RegisterWrite& w) {
                            if (w.written & kPageMask)
                              base::mistakes().report(
                                  fmt::format("{}: root {:#x} is cut to {:#x}, a page table starts "
                                              "at a multiple of 4096 bytes",
                                              path(), w.written, w.value & w.lanes));
                          }});
  fault_ = registers_.add(
      {.name = "fault", .offset = IOMMU_FAULT, .access = base::Access::w1c, .write_mask = IOMMU_FAULT_PENDING});
  fault_requester_ =
      registers_.add({.name = "fault_requester", .offset = IOMMU_FAULT_REQUESTER, .access = base::Access::ro});
  fault_address_ = registers_.add(
      {.name = "fault_address", .offset = IOMMU_FAULT_ADDRESS, .width = 8, .access = base::Access::ro, .halves = true});
}

void Iommu::register_statistics(base::StatisticsGroup& group) {
  group.counter("hits", "requests", "found in the IOTLB", counters_.hits);
  group.counter("misses", "requests", "that began a page walk", counters_.misses);
  group.counter("joined", "requests", "that waited for a walk already under way", counters_.joined);
  group.counter("waits", "requests", "misses that found every walker busy", counters_.waits);
  group.counter("table_reads", "reads", "of page table entries", counters_.table_reads);
  group.counter("evictions", "entries", "of the IOTLB that made room", counters_.evictions);
  group.counter("faults", "requests", "refused", counters_.faults);
  registers_.register_statistics(group);
}

void Iommu::reset() {
  registers_.reset();
  forget();
}

/// Drops all cached translations and table addresses.
void Iommu::forget() {
  for (Entry& e : entries_) e.valid = false;
  for (Table& t : tables_) t.valid = false;
}

Iommu::Entry* Iommu::find(std::uint64_t address) {
  for (std::uint8_t level = 0; level < IOMMU_LEVELS; ++level) {
    const std::uint64_t page = address >> IOMMU_PAGE_SHIFT(level);
    const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(first_of_set(page));
    for (auto e = first; e != first + parameters_.ways; ++e)
      if (e->valid && e->level == level && e->page == page) return &*e;
  }
  return nullptr;
}

/// Reads the tables as they are now. The latencies of the reads are only summed.
Iommu::Leaf Iommu::walk(std::uint64_t address) {
  Leaf leaf;
  leaf.cause = IOMMU_CAUSE_TABLE;
  if (address >> kAddressBits) return leaf;
  std::uint64_t table = registers_.value(root_);
  unsigned level = IOMMU_LEVELS - 1;
  for (unsigned l = 0; l + 1 < IOMMU_LEVELS; ++l) {
    Table* known = find_table(address, l);
    if (!known) continue;
    known->used = ++uses_;
    table = known->address;
    level = l;
    break;
  }
  for (;; --level) {
    const std::uint64_t at = table + (address >> IOMMU_PAGE_SHIFT(level)) % IOMMU_TABLE_ENTRIES * 8;
    base::GuestRam* ram = memory_.ram_at(at, 8);
    leaf.cause = IOMMU_CAUSE_TABLE;
    if (!ram) return leaf;
    ++counters_.table_reads;
    leaf.latency += parameters_.walk_step + memory_.read_latency(at, 8);
    std::uint64_t pte = 0;
    ram->read(at, &pte, 8);
    leaf.cause = IOMMU_CAUSE_NOT_MAPPED;
    if (!(pte & IOMMU_PTE_VALID) || (pte & kReservedBits)) return leaf;
    const std::uint64_t frame = pte >> IOMMU_PTE_ADDRESS_SHIFT << IOMMU_PAGE_SHIFT(0);
    if (!(pte & IOMMU_PTE_LEAF)) {
      if (level == 0) return leaf;
      table = frame;
      keep_table(address, level - 1, table);
      continue;
    }
    if (frame & ((std::uint64_t{1} << IOMMU_PAGE_SHIFT(level)) - 1)) return leaf;
    leaf.frame = frame;
    leaf.level = static_cast<std::uint8_t>(level);
    leaf.rights = pte & (IOMMU_PTE_READ | IOMMU_PTE_WRITE);
    leaf.cause = 0;
    return leaf;
  }
}

Iommu::Table* Iommu::find_table(std::uint64_t address, unsigned level) {
  const std::uint64_t prefix = address >> IOMMU_PAGE_SHIFT(level + 1);
  const auto found = std::find_if(tables_.begin(), tables_.end(),
                                  [&](const Table& t) { return t.valid && t.level == level && t.prefix == prefix; });
  return found == tables_.end() ? nullptr : &*found;
}

void Iommu::keep_table(std::uint64_t address, unsigned level, std::uint64_t table) {
  const auto least = std::min_element(tables_.begin(), tables_.end(), [](const Table& a, const Table& b) {
    return a.valid != b.valid ? !a.valid : a.used < b.used;
  });
  if (least != tables_.end()) *least = {address >> IOMMU_PAGE_SHIFT(level + 1), table, ++uses_, level, true};
}

Iommu::Entry& Iommu::insert(std::uint64_t address, const Leaf& leaf, Time ready) {
  const std::uint64_t page = address >> IOMMU_PAGE_SHIFT(leaf.level);
  const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(first_of_set(page));
  const auto least = std::min_element(first, first + parameters_.ways, [](const Entry& a, const Entry& b) {
    return a.valid != b.valid ? !a.valid : a.used < b.used;
  });
  counters_.evictions += least->valid;
  *least = {page, leaf.frame, ready, 0, leaf.level, leaf.rights, true};
  return *least;
}

Translation Iommu::fault(RoutingId requester, std::uint64_t address, std::uint32_t cause, Time latency) {
  ++counters_.faults;
  if (!registers_.value(fault_)) {
    registers_.value(fault_) = IOMMU_FAULT_PENDING;
    registers_.value(fault_requester_) = std::uint64_t{cause} << IOMMU_FAULT_CAUSE_SHIFT | requester;
    registers_.value(fault_address_) = address;
  }
  const char* why = cause == IOMMU_CAUSE_TABLE        ? "a page table of the IOMMU lies outside memory"
                    : cause == IOMMU_CAUSE_NOT_MAPPED ? "the IOMMU has no translation for it"
                                                      : "the IOMMU's translation forbids it";
  return {address, true, latency, why};
}

Translation Iommu::translate(RoutingId requester, std::uint64_t address, std::uint32_t, bool write) {
  if (!(registers_.value(control_) & IOMMU_CONTROL_TRANSLATE)) return {address, false, {}, nullptr};
  const Time now = base::now() + parameters_.lookup;
  Entry* e = find(address);
  if (e) {
    ++(e->ready > now ? counters_.joined : counters_.hits);
  } else {
    ++counters_.misses;
    const Leaf leaf = walk(address);
    auto walker = std::min_element(walkers_.begin(), walkers_.end());
    counters_.waits += *walker > now;
    const Time ready = std::max(now, *walker) + leaf.latency;
    *walker = ready;
    if (leaf.cause != 0) return fault(requester, address, leaf.cause, ready - base::now());
    e = &insert(address, leaf, ready);
  }
  e->used = ++uses_;
  const Time latency = std::max(now, e->ready) - base::now();
  if (!(e->rights & (write ? IOMMU_PTE_WRITE : IOMMU_PTE_READ)))
    return fault(requester, address, IOMMU_CAUSE_PERMISSION, latency);
  const std::uint64_t within = address & ((std::uint64_t{1} << IOMMU_PAGE_SHIFT(e->level)) - 1);
  return {e->frame | within, false, latency, nullptr};
}

}  // namespace sluice::pcie
