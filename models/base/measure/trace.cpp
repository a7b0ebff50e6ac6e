// SPDX-License-Identifier: Apache-2.0
#include "models/base/measure/trace.h"

#include <algorithm>

namespace sluice::base {

Trace the_trace;

TrackId Trace::track(std::string_view path) {
  if (const auto known = by_path_.find(path); known != by_path_.end()) return known->second;
  const auto id = static_cast<TrackId>(paths_.size());
  paths_.emplace_back(path);
  by_path_.emplace(path, id);
  if (sink_) sink_->track(id, paths_.back());
  return id;
}

void Trace::attach(TraceSink* sink) {
  sink_ = sink;
  if (!sink_) return;
  for (TrackId id = 0; id < paths_.size(); ++id) sink_->track(id, paths_[id]);
}

namespace {

void show_stages(Trace& trace, const Ledger& ledger, const Ledger::Request& request, Time end) {
  for (std::size_t i = 0; i < request.tiles.size(); ++i) {
    const auto& tile = request.tiles[i];
    const Time until = i + 1 < request.tiles.size() ? request.tiles[i + 1].start : std::max(end, tile.start);
    trace.slice(trace.track(ledger.path(tile.component)), stage_title(tile.stage), tile.start, until, request.id);
  }
}

}  // namespace

void trace_requests(Ledger& ledger, Trace& trace) {
  ledger.on_complete([&ledger, &trace](const Ledger::Request& request, Time end) {
    if (trace.enabled()) show_stages(trace, ledger, request, end);
  });
  ledger.on_drop([&ledger, &trace](const Ledger::Request& request, std::string_view reason, Time at) {
    if (!trace.enabled()) return;
    show_stages(trace, ledger, request, at);
    const TrackId last = trace.track(ledger.path(request.tiles.back().component));
    trace.instant(last, ("dropped: " + std::string(reason)).c_str(), at, request.id);
  });
}

}  // namespace sluice::base
