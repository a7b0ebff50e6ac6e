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
#include "models/coherence/lines/hart_lines.h"
#include "models/coherence/lines/home_agent.h"
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
  std::uint8_t* held(unsigned hart, std::uint64_t address, bool own) { return harts_[hart].lines.use(address, own); }
  std::uint8_t* hold(unsigned hart, std::uint64_t address, bool own);
  void let_go(unsigned hart);
  /// Drops all lines without writing them to their homes. Harts that wait for a line go on without it. The links are
  /// reset, too.
  void reset();

  bool any() const { return !homes_.empty(); }  ///< whether there is any home
  const std::uint64_t& requests() const { return requests_; }
  const std::uint64_t& evictions() const { return evictions_; }
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
    base::Event event;
    std::uint64_t granted = kNone;  ///< the line of the access that takes place
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  const Home* home_of(std::uint64_t address) const;
  std::uint64_t line_of(std::uint64_t address) const { return address / line_ * line_; }
  bool wait_for(Hart&, std::uint64_t line, const Home&);
  void ask(const Home&, unsigned hart, std::uint64_t line, bool own);
  void make_room(unsigned hart);
  void receive(const CoherentMessage&);
  void answered(unsigned hart, HartLines::Line&, protocol::Kind);
  void settle(unsigned hart, HartLines::Line&);
  void send(const Home&, unsigned hart, const HartLines::Line&, const protocol::Message&);
  void tell_gone(unsigned hart, std::uint64_t line);
  void forget_if_empty(unsigned hart, const HartLines::Line&);

  const unsigned line_;
  const bool has_owned_;
  std::vector<Home> homes_;
  std::deque<Hart> harts_;
  std::uint64_t requests_ = 0, evictions_ = 0, resets_ = 0;
};

}  // namespace sluice::coherence
