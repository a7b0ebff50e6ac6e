// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A log of what software on the board does wrong, for the authors of that software. A model answers a mistake as
/// hardware does; logging it changes nothing. docs/reference/mistakes.md lists the kinds.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/measure/held_load.h"
#include "models/base/memory/guest_ram.h"
#include "models/base/time/time.h"

namespace sluice::base {

/// The instruction behind an access to a device. It travels with the access, through posted writes too, and with the
/// DMA and the interrupts that a device starts because of it.
struct Site {
  const std::string* hart = nullptr;  ///< path of the hart; null: the access is not a hart's, or the hart is not known
  std::uint64_t pc = 0;
  RequestId serves = 0;        ///< the ledger's request that the hart works on; 0: none
  HeldLoad::Handle load = {};  ///< the access, if it is a load that the hart waits for
  /// The address space of pc: satp where pc is an address of user mode that satp translates, else 0.
  std::uint64_t user_space = 0;

  /// The same instruction, whatever it works on.
  bool operator==(const Site& other) const {
    return hart == other.hart && pc == other.pc && user_space == other.user_space;
  }
};

/// Sets access_site() until the end of the scope or until simulated time goes on: what runs after a wait handles
/// another access.
class AccessSiteScope {
 public:
  explicit AccessSiteScope(const Site&);
  ~AccessSiteScope();
  AccessSiteScope(const AccessSiteScope&) = delete;
  AccessSiteScope& operator=(const AccessSiteScope&) = delete;

 private:
  Site before_;
  Time before_at_;
};

/// The instruction whose access the model handles now.
Site access_site();

/// While it lives, no mistake is listed or counted, because the accesses are not made by the board's software.
class MistakesMuted {
 public:
  MistakesMuted();
  ~MistakesMuted();
  MistakesMuted(const MistakesMuted&) = delete;
  MistakesMuted& operator=(const MistakesMuted&) = delete;
};

struct Mistake {
  Time at;           ///< of the first time
  std::string what;  ///< "nic.eth0: read of 4 bytes at 0x14: no register there"
  std::string hart;  ///< whose instruction it was; empty: not known
  std::uint64_t pc = 0;
  std::uint64_t user_space = 0;  ///< as in Site
  // As the SiteNames called them at that time. Empty: it does not know.
  std::string process;
  std::string function;
  std::uint64_t times = 1;  ///< from the same instruction
  /// How many more mistakes the same instruction made that differ in numbers only. They are not listed, because
  /// Mistakes::kAlike of them already are. Counted at the first of its kind.
  std::uint64_t others = 0;
};

/// Knows what runs on the board.
class SiteNames {
 public:
  virtual ~SiteNames() = default;
  /// The process whose address space a site is in; empty: it is in none, or in that of no known process.
  virtual std::string process_at(const Site&) = 0;
  /// The function with the offset in it: "serve+0x1c"; empty: none is known.
  virtual std::string function_at(const Site&) = 0;
};

class Mistakes {
 public:
  static constexpr std::size_t kMost = 256;  ///< different ones that are listed
  /// Most entries of one instruction that differ in numbers only (addresses, sizes, indexes).
  static constexpr std::size_t kAlike = 4;

  /// Gives names to the mistakes that are listed from now on. Null: nobody does. It must outlive the reports.
  void name_by(SiteNames* names) { names_ = names; }
  /// Reports a mistake of access_site().
  void report(std::string what) { report(std::move(what), access_site()); }
  /// transfer: a number that identifies the transfer; 0: none. A transfer is one mistake, however many of its packets
  /// are reported: only the first report is listed.
  void report(std::string what, const Site&, std::uint64_t transfer = 0);
  /// In order of their first times.
  const std::vector<Mistake>& list() const { return list_; }
  /// Number of reports that found no room in the list and match no entry in it.
  std::uint64_t unlisted() const { return unlisted_; }
  /// Number of calls of report() so far, muted ones included, caught ones not. A caller compares it to see whether a
  /// callee has reported the mistake already.
  std::uint64_t reports() const { return reports_; }
  void clear();

 private:
  bool counted(std::uint64_t transfer);

  SiteNames* names_ = nullptr;
  std::vector<Mistake> list_;
  std::vector<std::string> shapes_;  ///< one for each in list_: its sentence without the numbers
  std::uint64_t unlisted_ = 0;
  std::uint64_t reports_ = 0;
  /// The transfers that were counted last. Packets of one transfer come together, mixed only with those of other
  /// devices.
  std::array<std::uint64_t, 64> transfers_{};
  std::size_t next_transfer_ = 0;  ///< place of the next one in transfers_
};

/// The list of the simulation in this process.
Mistakes& mistakes();

/// While it lives, a report is kept here and not listed. A bridge passes an access on, catches the target's report and
/// reports it in its own words.
class CaughtReport {
 public:
  CaughtReport();
  ~CaughtReport();
  CaughtReport(const CaughtReport&) = delete;
  CaughtReport& operator=(const CaughtReport&) = delete;
  /// The first report; empty: there was none.
  const std::string& what() const { return what_; }

 private:
  friend class Mistakes;
  std::string what_;
  CaughtReport* outer_;
};

}  // namespace sluice::base
