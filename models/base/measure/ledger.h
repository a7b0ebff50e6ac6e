// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The request ledger: divides each request's time, from its first bit on the wire to its last, into named stages.
/// Plain C++. Stages: models/base/measure/stages.h.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/measure/stages.h"
#include "models/base/measure/steps.h"
#include "models/base/memory/guest_ram.h"
#include "models/base/time/callback.h"
#include "models/base/time/time.h"

namespace sluice::base {

using Stage = sluice_stage;
const char* stage_title(Stage);       ///< as in the report, e.g. "upstream link"
const char* drop_title(sluice_drop);  ///< as in the result, e.g. "transmit ring full"

/// Which bytes of a message, a frame or a DMA belong to which request.
struct Span {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  RequestId id = 0;
};

/// The spans of one message: none, one, or (batched write-backs) a few. Never allocates; add() refuses spans beyond
/// kMost, so a caller's batch must not exceed kMost.
class Spans {
 public:
  static constexpr unsigned kMost = 8;
  Spans() = default;
  Spans(std::uint32_t offset, std::uint32_t length, RequestId id) { add({offset, length, id}); }
  bool add(Span s) {
    if (s.id == 0) return true;
    if (count_ == kMost) return false;
    spans_[count_++] = s;
    return true;
  }
  const Span* begin() const { return spans_.data(); }
  const Span* end() const { return spans_.data() + count_; }
  bool empty() const { return count_ == 0; }
  RequestId first() const { return count_ ? spans_[0].id : 0; }

 private:
  unsigned count_ = 0;
  std::array<Span, kMost> spans_;
};

class Ledger {
 public:
  using Component = std::uint16_t;
  struct Tile {
    Stage stage;
    Component component;
    Mark mark;
    Time start;                      ///< it ends where the next starts, the last at the request's end
    std::uint64_t instructions = 0;  ///< that a core has retired for the request in it
  };
  struct Request {
    RequestId id = 0;  ///< 0: free
    RequestId parent = 0;
    std::uint64_t number = 0;  ///< by which its opener knows it
    bool measured = false;
    Time ahead;  ///< how far beyond its window the hart was that entered the last stage
    std::vector<Tile> tiles;
    Time start() const { return tiles.front().start; }
  };
  struct Total {
    unsigned __int128 femtoseconds = 0;
    std::uint64_t visits = 0;
  };

  /// What receiving has taken in one stage of one component under one mark: from a request's start to its first tile in
  /// `handler` or `marshal`.
  struct Received {
    Mark mark;  ///< its steps are those of the stage where whoever entered it said none
    Total time;
    std::uint64_t instructions = 0;
  };

  /// A number for a component's path; the same path gives the same number.
  Component component(std::string_view path);
  const std::string& path(Component c) const { return paths_[c]; }

  /// Opens a request in its first stage. Ids count from 1. number: by which its opener knows it.
  RequestId open(Stage, Component, Time, RequestId parent = 0, std::uint64_t number = 0);
  /// Moves a request to its next stage, or, in the stage that it is in, to other steps of receiving. Unknown and closed
  /// ids, and 0, are ignored: they come with late duplicates and foreign bytes. Going backwards by more than the
  /// tolerance is a simulator error. ahead: how far beyond its window the hart is that says so; the next step may be
  /// earlier by that, too.
  void enter(RequestId, Stage, Component, Time, Time ahead = {}, Mark = {});
  /// A core has retired instructions for a request, in the last stage that the request has entered there.
  void executed(RequestId, Component, std::uint64_t instructions);
  /// Whoever runs on this core has a stage for each of these steps, or does not need it.
  void tells(Component c, StepSet steps) { told_[c] = told_[c] | steps; }
  /// Whether the request may have waited for a message that set out at `since`. False, and counted in clamped(), if the
  /// request has entered a stage after that time. Software causes this when it gives a device bytes to send that have
  /// yet to arrive, or probes them too early.
  bool waited_since(RequestId, Time since);
  /// Calls enter() only if waited_since(t): for steps that software may take in any order.
  void try_enter(RequestId id, Stage stage, Component component, Time t, Time ahead = {}, Mark mark = {}) {
    if (waited_since(id, t)) enter(id, stage, component, t, ahead, mark);
  }
  /// The request's last bit has arrived. A time that is before the start of its last stage by more than the tolerance
  /// is a simulator error. since: the start of the request by the caller's own record; if the stages do not fill the
  /// time from then on, that is a simulator error too.
  void complete(RequestId, Time, std::optional<Time> since = {});
  /// Takes back what the request has entered after t, because that was not on the way to the reply that comes then. A
  /// hart that is ahead may have gone on with a later copy of a call that an earlier one's reply ends.
  void take_back(RequestId, Time t);
  /// The request ends for `reason` without a reply. False when there is no such open request.
  bool drop(RequestId, std::string_view reason, Time);
  const Request* find(RequestId id) const;

  /// Whether requests opened from now on are measured; off during warm-up.
  void measure(bool on) { measuring_ = on; }
  /// A hart may hand a request to another hart whose time is earlier, by up to t: a quantum, or 0 with one hart. Such a
  /// step is moved to the start of the request's last stage and counted in clamped().
  void tolerate(Time t) { tolerance_ = t; }

  std::uint64_t opened() const { return opened_; }        ///< measured requests
  std::uint64_t completed() const { return completed_; }  ///< measured requests
  std::uint64_t in_flight() const;                        ///< measured requests
  const std::map<std::string, std::uint64_t>& dropped() const { return dropped_; }
  std::uint64_t clamped() const { return clamped_; }
  /// First simulator error (going backwards, tiles that do not sum up), empty when there is none.
  const std::string& error() const { return error_; }

  /// What completed measured requests have summed up to, by component and stage.
  struct Totals {
    std::vector<std::array<Total, SLUICE_STAGE_COUNT>> stages;
    std::uint64_t completed = 0;
    unsigned __int128 latency = 0;  ///< as total_latency()
  };
  Totals totals() const { return {totals_, completed_, total_latency_}; }
  /// Per (component, stage) sums over completed measured requests.
  const Total& total(Component c, Stage s) const { return totals_[c][s]; }
  /// Likewise, what receiving took, by mark.
  const std::vector<Received>& received(Component c, Stage s) const { return received_[c][s]; }
  /// What came behind receiving.
  const Total& after() const { return after_; }
  /// The steps that software would have told of, on each core where it has received something.
  StepSet told() const;
  std::size_t components() const { return paths_.size(); }
  /// Sum of the latencies of completed, measured requests, in femtoseconds, each from the start that complete() was
  /// given.
  unsigned __int128 total_latency() const { return total_latency_; }

  /// Called with each request that completes, before it is forgotten, and its end; for histograms, traces and tests.
  void on_complete(Callback<void(const Request&, Time end)> f) { listeners_.push_back(std::move(f)); }
  /// Likewise with each request that is dropped, measured or not.
  void on_drop(Callback<void(const Request&, std::string_view reason, Time)> f) {
    drop_listeners_.push_back(std::move(f));
  }

 private:
  Request* slot(RequestId id) { return &requests_[id & (requests_.size() - 1)]; }
  void grow();
  void account(const Request&, Time since, Time end);
  void account_received(const Tile&, Time spent);

  std::vector<std::string> paths_;
  std::vector<std::array<Total, SLUICE_STAGE_COUNT>> totals_;
  std::vector<std::array<std::vector<Received>, SLUICE_STAGE_COUNT>> received_;
  std::vector<StepSet> told_;  ///< by component
  Total after_;
  std::vector<Request> requests_ = std::vector<Request>(64);  ///< by id modulo a power of two
  RequestId next_id_ = 1;
  bool measuring_ = true;
  Time tolerance_;
  std::uint64_t opened_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t dropped_measured_ = 0;
  std::uint64_t clamped_ = 0;
  unsigned __int128 total_latency_ = 0;
  std::map<std::string, std::uint64_t> dropped_;
  std::string error_;
  std::vector<Callback<void(const Request&, Time)>> listeners_;
  std::vector<Callback<void(const Request&, std::string_view, Time)>> drop_listeners_;
};

/// The simulation's ledger.
extern Ledger the_ledger;
inline Ledger& ledger() { return the_ledger; }

/// Moves every request of a message into a stage.
inline void enter_all(const Spans& spans, Stage stage, Ledger::Component component, Time t, Mark mark = {}) {
  for (const Span& s : spans) the_ledger.enter(s.id, stage, component, t, {}, mark);
}
/// Drops every request of a list.
inline void drop_all(const Spans& spans, const char* reason, Time t) {
  for (const Span& s : spans) ledger().drop(s.id, reason, t);
}

}  // namespace sluice::base
