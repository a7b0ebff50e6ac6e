// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Cached translations of data accesses of one translation context (contexts.h): a direct-mapped table that fast paths
/// read inline, and a small second table for accesses without a fast path (devices, other memory types, watched pages,
/// accesses across lines).

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/base/memory/guest_ram.h"
#include "models/riscv/iss/hart_state.h"
#include "models/riscv/iss/translation/translation_walk.h"

namespace sluice::riscv {

struct TlbEntry {
  /// Virtual page; all ones: none. Compared with address & (~0xfff | size - 1), so that misaligned accesses differ.
  std::uint64_t read_tag;
  std::uint64_t write_tag;
  std::uint64_t host;      ///< host address = virtual address + host
  std::uint64_t physical;  ///< physical address = virtual address + physical
};

struct PageTranslation {
  std::uint64_t page = ~std::uint64_t{0};  ///< virtual
  std::uint64_t physical = 0;
  base::GuestRam* ram = nullptr;  ///< null: none
  bool homed = false;             ///< lines with a home of their own. False and no RAM: a device or nothing
  bool readable = false, writable = false;
  MemoryType type = MemoryType::normal;
  // As in Privileged::Translation:
  std::uint8_t page_shift = 0;
  bool is_global = false;
  TranslationWalk walk;
};

class SoftTlb {
 public:
  static constexpr std::size_t kEntries = 1024;
  static constexpr std::size_t kPages = 64;
  static constexpr std::uint64_t kNoTag = ~std::uint64_t{0};

  SoftTlb() { flush_all(); }

  TlbEntry* entries() { return entries_.data(); }
  PageTranslation& page(std::uint64_t address) { return pages_[(address >> 12) % kPages]; }
  /// Adds a fast path for a page of RAM.
  void fill(std::uint64_t address, std::uint64_t physical, base::GuestRam& ram, bool read, bool write) {
    const std::uint64_t page = address & ~std::uint64_t{0xfff};
    const std::uint64_t physical_page = physical & ~std::uint64_t{0xfff};
    const std::size_t index = (address >> 12) % kEntries;
    TlbEntry& e = entries_[index];
    if (filled_count_ < filled_.size()) filled_[filled_count_] = static_cast<std::uint16_t>(index);
    ++filled_count_;
    e.read_tag = read ? page : kNoTag;
    e.write_tag = write ? page : kNoTag;
    e.host = reinterpret_cast<std::uint64_t>(ram.at(physical_page)) - page;
    e.physical = physical_page - page;
  }
  void flush() {
    pages_.fill({});
    if (filled_count_ > filled_.size()) return flush_all();
    for (std::size_t i = 0; i < filled_count_; ++i)
      entries_[filled_[i]].read_tag = entries_[filled_[i]].write_tag = kNoTag;
    filled_count_ = 0;
  }
  /// Accesses to these virtual pages are not fast any more. bytes: whole pages.
  void drop(std::uint64_t page, std::uint64_t bytes) {
    const auto drop_within = [=](TlbEntry& e) {
      if (e.read_tag - page < bytes) e.read_tag = kNoTag;
      if (e.write_tag - page < bytes) e.write_tag = kNoTag;
    };
    if (bytes == base::GuestRam::kPage) return drop_within(entries_[(page >> 12) % kEntries]);
    for (TlbEntry& e : entries_) drop_within(e);
  }
  void drop_writes(std::uint64_t physical_page) {
    for (TlbEntry& e : entries_)
      if (e.write_tag != kNoTag && e.write_tag + e.physical == physical_page) e.write_tag = kNoTag;
  }
  void drop_reads(std::uint64_t physical_page) {
    for (TlbEntry& e : entries_)
      if (e.read_tag != kNoTag && e.read_tag + e.physical == physical_page) e.read_tag = kNoTag;
  }

 private:
  void flush_all() {
    entries_.fill({kNoTag, kNoTag, 0, 0});
    pages_.fill({});
    filled_count_ = 0;
  }

  std::array<TlbEntry, kEntries> entries_;
  std::array<PageTranslation, kPages> pages_;
  std::array<std::uint16_t, 64> filled_;  ///< entries filled since the last flush, while they are few
  std::size_t filled_count_ = 0;
};

}  // namespace sluice::riscv
