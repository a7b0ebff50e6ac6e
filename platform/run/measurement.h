// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a run measures, and when: readings of everything that is counted, at the beginning and the end of the whole
/// measurement and of its phases, and how busy the board's resources were all along.

#include <string>
#include <utility>
#include <vector>

#include "models/base/measure/ledger.h"
#include "models/base/measure/statistics.h"
#include "models/base/time/calendar.h"
#include "platform/board/board.h"

namespace sluice::platform {

/// All that had been counted by a time.
struct Reading {
  base::StatisticsReading statistics;
  base::Ledger::Totals stages;
  std::vector<riscv::Core::Accounts> accounts;  ///< issue slots, per core in the order of the clusters
  std::vector<riscv::IdleUse> idle;             ///< likewise
  base::Time at() const { return statistics.at; }
};

/// What is measured lies between two readings.
struct Window {
  Reading from;
  Reading to;
  base::Time length() const { return to.at() - from.at(); }
};

/// How busy a resource was in a window.
struct Use {
  std::string group;   ///< path of who has the resource
  std::string title;   ///< which one of that; may be empty
  double busy = 0;     ///< share of the window
  bool waits = false;  ///< busy, too, while it waits for another
  base::Time since;    ///< since when it has been busy all the time, to the window's end; the end if it was not
};

class Measurement {
 public:
  /// Share of its time from which on a resource counts as busy all the time.
  static constexpr double kBusy = 0.9;

  explicit Measurement(Board& board) : board_(board) {}

  /// Everything counts from now() on, also if something was measured before.
  void begin();
  void begin_phase();
  /// The measurement, and its phase if it has any, last at least to now(). Without a call they last to the end.
  void to_here();
  /// The run has ended at `end`.
  void end(base::Time end);

  // After end():
  const Window& whole() const { return whole_; }
  const std::vector<Window>& phases() const { return phases_; }
  /// The resources in a window, the busiest first.
  std::vector<Use> uses(const Window&) const;
  /// Number of this class's entries in the calendar.
  std::size_t pending() const { return base::calendar().pending(look_) ? 1 : 0; }

 private:
  struct Sample {
    base::Time at;
    std::vector<std::uint64_t> busy;  ///< fs, by resource
  };

  Reading read(base::Time at);
  void look();
  base::Time busy_since(std::size_t resource, const Window&, std::uint64_t at_end) const;

  Board& board_;
  Window whole_;
  std::vector<Window> phases_;
  bool ended_early_ = false;               ///< by to_here(), and no phase has begun since
  std::vector<base::Resource> resources_;  ///< as at the beginning
  std::vector<Sample> samples_;
  base::Time interval_;  ///< between samples
  base::Calendar::Handle look_;
};

}  // namespace sluice::platform
