// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Models report here what happened when, for people to look at. A trace that is off costs one predictable branch; one
/// that is on changes no result. Plain C++.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/measure/ledger.h"
#include "models/base/time/time.h"

namespace sluice::base {

/// Names a row of the trace: a component, or one of several things it does at once.
using TrackId = std::uint32_t;

/// Something that keeps a trace, e.g. PerfettoWriter.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// Registers a track, once and before its first use. Ids count from 0 in order of registration.
  virtual void track(TrackId, const std::string& path) = 0;
  /// Something that lasted; on_behalf_of is 0 where it belongs to no request. Slices come in no particular order of
  /// time and may overlap.
  virtual void slice(TrackId, const char* name, Time start, Time end, RequestId on_behalf_of) = 0;
  virtual void instant(TrackId, const char* name, Time at, RequestId on_behalf_of) = 0;
  /// A quantity has a new value from `at` on.
  virtual void counter(TrackId, const char* name, Time at, std::uint64_t value) = 0;
};

class Trace {
 public:
  /// Whether a sink is attached: ask before doing work only for the trace.
  bool enabled() const { return sink_ != nullptr; }
  /// The track of a path ("nic.eth0.mac"); the same path gives the same track. Legal at any time.
  TrackId track(std::string_view path);
  /// Sends the trace to `sink` from now on. The sink must live until it is replaced or detached (null).
  void attach(TraceSink* sink);

  // These take tracks that track() has returned; for any other, a sink may throw std::invalid_argument.

  void slice(TrackId track, const char* name, Time start, Time end, RequestId on_behalf_of = 0) {
    if (sink_) [[unlikely]]
      sink_->slice(track, name, start, end, on_behalf_of);
  }
  void instant(TrackId track, const char* name, Time at, RequestId on_behalf_of = 0) {
    if (sink_) [[unlikely]]
      sink_->instant(track, name, at, on_behalf_of);
  }
  void counter(TrackId track, const char* name, Time at, std::uint64_t value) {
    if (sink_) [[unlikely]]
      sink_->counter(track, name, at, value);
  }

 private:
  TraceSink* sink_ = nullptr;
  std::vector<std::string> paths_;
  std::map<std::string, TrackId, std::less<>> by_path_;
};

/// The simulation's trace.
extern Trace the_trace;
inline Trace& trace() { return the_trace; }

/// From now on, every request that completes or is dropped shows its stages on the tracks of their components.
void trace_requests(Ledger&, Trace&);

}  // namespace sluice::base
