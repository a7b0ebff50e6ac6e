#include "models/base/trace.h"

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

void trace_requests(Ledger& ledger, Trace& trace) {
  ledger.on_complete([&ledger, &trace](const Ledger::Request& request, Time end) {
    if (!trace.enabled()) return;
    for (std::size_t i = 0; i < request.tiles.size(); ++i) {
      const auto& tile = request.tiles[i];
      const Time until = i + 1 < request.tiles.size() ? request.tiles[i + 1].start : end;
      trace.slice(trace.track(ledger.path(tile.component)), stage_title(tile.stage), tile.start, until, request.id);
    }
  });
}

}  // namespace sluice::base
