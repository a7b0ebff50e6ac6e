// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/watchpoints.h"

#include <algorithm>
#include <utility>

namespace sluice::debug {

using base::GuestRam;

class Watchpoints::Writes final : public base::RamWatcher {
 public:
  explicit Writes(Watchpoints& all) : all_(all) {}
  void ram_written(std::uint64_t address, std::uint64_t length) override { all_.accessed(address, length, true); }
  void page_watched(std::uint64_t) override {}

 private:
  Watchpoints& all_;
};

namespace {

bool watches(WatchKind kind, bool write) { return kind == WatchKind::access || (kind == WatchKind::write) == write; }

bool same_page(std::uint64_t a, std::uint64_t b) { return a / GuestRam::kPage == b / GuestRam::kPage; }

}  // namespace

Watchpoints::Watchpoints(const std::vector<GuestRam*>& rams, Hit hit) : hit_(std::move(hit)) {
  for (GuestRam* ram : rams) {
    writes_.push_back(std::make_unique<Writes>(*this));
    ram->add_watcher(writes_.back().get());
  }
}

Watchpoints::~Watchpoints() = default;

void Watchpoints::add(Watchpoint watchpoint) {
  for (const Watchpoint::Part& p : watchpoint.parts) {
    if (watchpoint.kind != WatchKind::read) p.ram->set_watch(p.physical, GuestRam::kWatchpoint);
    if (watchpoint.kind != WatchKind::write) p.ram->set_watch(p.physical, GuestRam::kReadWatch);
  }
  all_.push_back(std::move(watchpoint));
}

void Watchpoints::remove(WatchKind kind, std::uint64_t address, std::uint64_t length) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Watchpoint& w) {
    return w.kind == kind && w.address == address && w.length == length;
  });
  if (found == all_.end()) return;
  const Watchpoint gone = std::move(*found);
  all_.erase(found);
  refresh_pages(gone);
}

void Watchpoints::remove_all() {
  const auto gone = std::exchange(all_, {});
  for (const Watchpoint& w : gone) refresh_pages(w);
}

/// Gives back the pages that no other watchpoint needs.
void Watchpoints::refresh_pages(const Watchpoint& gone) {
  for (const Watchpoint::Part& p : gone.parts) {
    bool writes = false, reads = false;
    for (const Watchpoint& w : all_) {
      for (const Watchpoint::Part& other : w.parts) {
        if (!same_page(other.physical, p.physical)) continue;
        writes |= watches(w.kind, true);
        reads |= watches(w.kind, false);
      }
    }
    if (!writes) p.ram->clear_watch(p.physical, GuestRam::kWatchpoint);
    if (!reads) p.ram->clear_watch(p.physical, GuestRam::kReadWatch);
  }
}

void Watchpoints::accessed(std::uint64_t physical, std::uint64_t length, bool write) {
  if (muted_) return;
  for (const Watchpoint& w : all_) {
    if (!watches(w.kind, write)) continue;
    for (const Watchpoint::Part& p : w.parts) {
      if (physical >= p.physical + p.length || p.physical >= physical + length) continue;
      hit_(w);
      return;
    }
  }
}

}  // namespace sluice::debug
