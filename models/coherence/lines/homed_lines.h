// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The cached lines of a system-on-chip whose home is not RAM: what each hart holds of them, and the homes behind their
/// links.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/base/memory/hart_memory.h"
#include "models/base/memory/line_home.h"
#include "models/base/systemc/scheduler.h"
#include "models/base/time/calendar.h"
#include "models/coherence/lines/hart_lines.h"
#include "models/coherence/lines/home_agent.h"
#include "models/coherence/lines/line_checker.h"
#include "models/coherence/link/coherent_link.h"

namespace sluice::coherence {

/// Each hart is a cache of its own to the homes. A hit takes no time beyond its instruction; a miss is a request to the
/// line's home over its link, and the hart waits for the answer. When a hart's lines are full, the least recently used
/// one is evicted.
class HomedLines {
 public:
  /// line: bytes per line. most: number of lines that a hart may hold. has_owned: protocol::Rules.
  HomedLines(unsigned harts, unsigned line, std::size_t most, bool has_owned);

  /// Works as base::LineHomes::add_home(), for a home behind this link.
  void add(base::LineHome&, std::uint64_t base, std::uint64_t size, std::string path, CoherentLink&);
  void add_watcher(unsigned hart, base::LineWatcher& w) { harts_[hart].watcher = &w; }

  bool homed(std::uint64_t address) const { return home_of(address) != nullptr; }
  std::string home_at(std::uint64_t address) const;
  unsigned line_bytes() const { return line_; }
  /// Work as the functions of base::HartMemory.
  std::uint8_t* held(unsigned hart, std::uint64_t address, bool own) {
    std::uint8_t* const bytes = harts_[hart].lines.use(address, own);
    if (checker_ && bytes) [[unlikely]]
      check_use(hart, address, own);
    return bytes;
  }
  std::uint8_t* hold(unsigned hart, std::uint64_t address, bool own, base::Time most = base::Time::max());
  std::pair<base::Time, base::Time> held_back(unsigned hart, base::Time until) const;
  base::RequestId request_of(unsigned hart, std::uint64_t address);
  void set_request_of(unsigned hart, std::uint64_t address, base::RequestId);
  std::string why_refused(unsigned hart) const { return harts_[hart].why; }
  void let_go(unsigned hart);
  void give_back(unsigned hart, std::uint64_t line);
  /// Drops all lines without writing them to their homes. Harts that wait for a line go on without it. The links are
  /// reset, too.
  void reset();

  /// From now on every access and every message is checked: base::ComponentError of the home with the line, who holds
  /// it, and what is under way.
  void check();
  /// Accesses that have been checked; 0: nothing is.
  std::uint64_t checked() const { return checker_ ? checker_->accesses() : 0; }
  bool is_checked() const { return checker_ != nullptr; }

  bool any() const { return !homes_.empty(); }  ///< whether there is any home
  const std::uint64_t& requests() const { return requests_; }
  const std::uint64_t& evictions() const { return evictions_; }
  const std::uint64_t& shares() const { return shares_; }
  std::uint64_t recalls() const;

 private:
  struct Home {
    std::unique_ptr<HomeAgent> agent;
    CoherentLink* link;
  };
  struct Hart {
    Hart(unsigned line_bytes, std::size_t most) : lines(line_bytes, most) {}
    HartLines lines;
    base::LineWatcher* watcher = nullptr;
    // While it waits for a line.
    std::uint64_t awaited = kNone;  ///< address of the line
    bool refused = false;
    base::Site by;                 ///< the instruction that waits
    std::size_t tiles = 0;         ///< of the request that it serves, when the wait began
    base::Time began;              ///< the wait, or the latest one
    std::uint64_t wanted = kNone;  ///< the line that it waits for, or has waited for last
    std::string why;               ///< the last access was refused, but not by the home
    std::string waits_for;         ///< for the diagnosis of a stall
    base::Calendar::Handle timeout;
    base::Event event;
    std::uint64_t granted = kNone;  ///< the line of the access that takes place
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  const Home* home_of(std::uint64_t address) const;
  std::uint64_t line_of(std::uint64_t address) const { return address / line_ * line_; }
  bool wait_for(unsigned hart, std::uint64_t line, const Home&, base::Time deadline, base::Time most);
  void wake(Hart&, std::string why);
  void link_went_down(const CoherentLink&);
  void ask(const Home&, unsigned hart, std::uint64_t line, bool own);
  void make_room(unsigned hart);
  void evict(unsigned hart, HartLines::Line&);
  void receive(const CoherentMessage&);
  void take(const CoherentMessage&, const Home&);
  void arrive_at_home(const Home&, const CoherentMessage&);
  void check_use(unsigned hart, std::uint64_t address, bool own);
  void check_holders(std::uint64_t line);
  std::string describe(std::uint64_t line, const Home&);
  template <class F>
  void checked_by(std::uint64_t line, const Home&, const F&);
  void answered(const CoherentMessage&, HartLines::Line&);
  void enter_ledger(const CoherentMessage&, const Home&);
  void settle(unsigned hart, HartLines::Line&);
  /// cause: the snoop that is answered, if it is.
  void send(const Home&, unsigned hart, const HartLines::Line&, const protocol::Message&,
            const CoherentMessage* cause = nullptr);
  void tell_gone(unsigned hart, std::uint64_t line);
  void forget_if_empty(unsigned hart, const HartLines::Line&);

  const unsigned line_;
  const bool has_owned_;
  std::vector<Home> homes_;
  std::vector<CoherentLink*> links_;  ///< of the homes, each once
  std::deque<Hart> harts_;
  std::unique_ptr<LineChecker> checker_;  ///< null: nobody checks
  std::uint64_t requests_ = 0, evictions_ = 0, shares_ = 0, resets_ = 0;
};

}  // namespace sluice::coherence
