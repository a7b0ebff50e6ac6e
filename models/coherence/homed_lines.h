// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Holds the cached lines of a system-on-chip whose home is not RAM, with their bytes.

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/base/memory/hart_memory.h"
#include "models/base/memory/line_home.h"
#include "models/base/systemc/scheduler.h"

namespace sluice::coherence {

/// All harts of the system share one store of lines: if one of them holds a line, an access by another takes no time.
/// When the store is full, the least recently used line is evicted, and written to its home if it has been changed.
class HomedLines final : public base::LineCaches {
 public:
  /// line: bytes per line. most: number of lines that may be held at once.
  HomedLines(unsigned line, std::size_t most) : line_(line), most_(most) {}

  /// Works as base::LineHomes::add_home().
  void add(base::LineHome&, std::uint64_t base, std::uint64_t size, std::string path);
  void add_watcher(base::LineWatcher& w) { watchers_.push_back(&w); }

  bool homed(std::uint64_t address) const { return home_of(address) != nullptr; }
  std::string home_at(std::uint64_t address) const;
  /// Works as base::HartMemory::hold().
  std::uint8_t* hold(unsigned hart, std::uint64_t address, bool own);
  void changed(const base::LineWatcher* writer, std::uint64_t address, std::uint64_t length);
  /// Drops all lines without writing them to their homes. Harts that wait for a line go on without it.
  void reset();

  // base::LineCaches
  unsigned line_bytes() const override { return line_; }
  bool grant(std::uint64_t request, std::span<const std::uint8_t> bytes, bool own) override;
  bool refuse(std::uint64_t request) override;
  Held probe(std::uint64_t line) const override;
  Held recall(std::uint64_t line, base::LineState::State to) override;

  bool any() const { return !homes_.empty(); }  ///< whether there is any home
  const std::uint64_t& requests() const { return requests_; }
  const std::uint64_t& recalls() const { return recalls_; }
  const std::uint64_t& written_back() const { return written_back_; }

 private:
  struct Home {
    base::LineHome* home;
    std::uint64_t base, size;
    std::string path;
  };
  struct Line {
    base::LineState::State state;
    std::vector<std::uint8_t> bytes;
    std::list<std::uint64_t>::iterator used;  ///< the line's position in by_use_
  };
  /// A request to a home for a line.
  struct Request {
    std::uint64_t line = 0;
    bool own = false;
    bool answered = false;
    bool refused = false;
    bool withdrawn = false;  ///< by a reset
    base::Event event;
  };

  static constexpr unsigned kMostRequests = 1000;  ///< of one hart for one line at one time
  const Home* home_of(std::uint64_t address) const;
  bool ask(const Home&, unsigned hart, std::uint64_t line, bool own);
  std::shared_ptr<Request> take_request(std::uint64_t number, const char* what);
  std::uint64_t line_of(std::uint64_t address) const { return address / line_ * line_; }
  static void answer(Request&, bool refused);
  void make_room();

  unsigned line_;
  std::size_t most_;
  std::vector<Home> homes_;
  std::unordered_map<std::uint64_t, Line> lines_;
  std::list<std::uint64_t> by_use_;                         ///< the most recently used first
  std::unordered_map<std::uint64_t, std::uint64_t> asked_;  ///< number of the open request for a line
  std::map<std::uint64_t, std::shared_ptr<Request>> open_;  ///< by number
  std::uint64_t last_request_ = 0, withdrawn_ = 0;  ///< request numbers; withdrawn_: last_request_ at the last reset
  std::vector<base::LineWatcher*> watchers_;
  std::vector<std::uint8_t> recalled_;
  std::uint64_t requests_ = 0, recalls_ = 0, written_back_ = 0;
};

}  // namespace sluice::coherence
