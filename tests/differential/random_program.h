// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Random programs: a state that is drawn, and steps of 64 bytes from a mixture of families.

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/differential/program.h"

namespace sluice::differential {

/// Returns the descriptor's address. `locks`: the program locks PMP rules. QEMU 7.2 keeps these until it ends, so only
/// the last program of a batch may.
std::uint64_t build_random(Image& image, std::uint64_t seed, std::uint64_t index, bool locks);

constexpr std::uint64_t kStep = 64;
/// Data pages that hold code for fetches through mappings; nothing stores to them.
constexpr std::uint64_t kCodePages = 4;
/// Offsets of the entry points in each of these. At the last one is the first half of an instruction, whose second half
/// is at the start of the page that is mapped behind it.
constexpr std::uint64_t kEntries[] = {0, 0x40, 0x82, 0xffe};
/// Pages whose leaves are drawn: kTestPages for data, and behind them kFetchPages for code.
constexpr unsigned kTestPages = 32, kFetchPages = 32;
/// Whether a leaf of this test page may lead to where there is neither RAM nor a device.
constexpr bool may_map_nothing(std::uint64_t page) { return page < kTestPages && page % 4 == 3; }

/// Where a random program runs and what surrounds it.
struct Setting {
  std::uint64_t steps = 0;
  unsigned mode = 3;  ///< at the start
  bool paged = false, protected_memory = false, delegated = false, locked = false;
  std::uint64_t root = 0;               ///< satp.PPN
  std::uint64_t test_pages = 0;         ///< virtual address of the pages whose entries are drawn
  std::uint64_t test_table = 0;         ///< physical address of their entries
  std::uint64_t large_pages = 0;        ///< virtual address of the 2 MiB pages that are drawn
  std::vector<std::uint64_t> pointers;  ///< numbers of those that point to the table of test pages
  std::uint64_t huge_pages[2] = {};     ///< virtual addresses of 1 GiB pages
};

/// The rules, tables and registers of a program. mapping.cpp
void draw_tables(Program& p, Setting& s, Draw& draw);
void draw_protection(Program& p, const Setting& s, Draw& draw);
std::uint64_t draw_entry(const Program& p, std::uint64_t page, Draw& draw);  ///< the leaf of a test page
/// The leaf of a test page that is valid, permits everything, and has A and D; for S or U mode.
std::uint64_t draw_open_entry(const Program& p, std::uint64_t page, Draw& draw);
/// An address for an access: mostly one that is mapped somehow.
std::uint64_t draw_address(const Program& p, const Setting& s, Draw& draw);
std::uint64_t draw_fetch_address(const Program& p, const Setting& s, Draw& draw);
/// Where a drawn rule begins or ends, or 4 or 8 bytes before that; 0: this rule has no bound in the data.
std::uint64_t draw_bound(const Program& p, Draw& draw);
std::uint64_t draw_pmp_address(const Program& p, unsigned mode, Draw& draw);
/// A value of pmpcfg0 or pmpcfg2 for run time: some rules locked, and those that the harness needs unchanged.
std::uint64_t draw_pmp_configs(const Program& p, unsigned number, Draw& draw);

/// Writes steps. Each family writes at most kStep bytes. steps.cpp, steps_system.cpp, steps_mapping.cpp
class Steps {
 public:
  Steps(Program& program, const Setting& setting, Draw& draw) : p_(program), s_(setting), draw_(draw) {}
  void write(std::uint64_t n);

 private:
  // steps.cpp
  void integer();
  void loop();
  void floating();
  void memory();
  void atomic();
  void reservation();
  void conditional();
  void jump();
  void modify_code();
  // steps_system.cpp
  void csr();
  void csr_restored(unsigned number, std::uint64_t value);
  void counter();
  void status_of_float();
  void environment();
  void illegal();
  void return_from_trap();
  void fence();
  void interrupt();
  void wait();
  void wait_below(unsigned mode);
  // steps_mapping.cpp
  void access_mapping();
  void fetch_mapping();
  void modify_mapping();
  void toggle_translation();
  void other_privilege();
  void protection();
  void lock();
  void pmp_address(unsigned n, unsigned t);

  unsigned any() { return static_cast<unsigned>(draw_.below(32)); }
  unsigned one() { return static_cast<unsigned>(5 + draw_.below(27)); }
  unsigned other(unsigned than);
  /// One instruction that computes on x registers, compressed or not; `spared` stays as it is.
  void compute(unsigned spared = 0);
  void access(unsigned base, std::int32_t offset, bool may_store) { access(base, offset, may_store, other(base)); }
  void access(unsigned base, std::int32_t offset, bool may_store, unsigned rd);  ///< a load to an x register goes to rd
  std::int64_t step_ahead();  ///< offset of the start of a later step

  Program& p_;
  const Setting& s_;
  Draw& draw_;
  std::uint64_t n_ = 0;
  /// An LR that a trap follows. The next step is its SC, if register `held` still has the address of `base`.
  struct Reservation {
    unsigned base, held;
    std::int64_t offset;
    std::uint32_t width;
  };
  std::optional<Reservation> reserved_;
};

}  // namespace sluice::differential
