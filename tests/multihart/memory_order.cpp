// SPDX-License-Identifier: Apache-2.0
#include "tests/multihart/memory_order.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::multihart {
namespace {

bool overlap(const Access& a, const Access& b) {
  return a.address < b.address + b.length && b.address < a.address + a.length;
}

std::string text(const Access& a) {
  return fmt::format("{} {} {} bytes at {:#x} at {} ns{}",
                     a.by == Access::kDevice ? "a device" : fmt::format("hart {}", a.by), a.write ? "writes" : "reads",
                     a.length, a.address, a.latest.nanoseconds(), a.atomic ? " by an atomic" : "");
}

/// Whether every access of an earlier time must take effect before this one.
bool in_time(const Access& a) { return a.atomic || a.by == Access::kDevice; }

std::string violation(const Access& first, const Access& second, Time quantum, OrderStatistics& s) {
  ++s.meetings;
  if (first.earliest <= second.latest) return {};
  const Time inverted = first.earliest - second.latest;
  ++s.inverted;
  s.most_inverted = std::max(s.most_inverted, inverted);
  if (inverted >= quantum)
    return fmt::format("{} ns against time: {}, then {}", inverted.nanoseconds(), text(first), text(second));
  if (in_time(first)) return fmt::format("late: {}, then {}", text(first), text(second));
  return {};
}

/// Empty, or why an SC must not have succeeded: another has written since its hart's last LR, or there was no LR.
std::string violation_of_sc(const std::vector<Access>& all, std::size_t sc) {
  for (std::size_t i = sc; i-- > 0;) {
    if (all[i].by == all[sc].by && all[i].reserves) return {};
    if (all[i].by != all[sc].by && all[i].write && overlap(all[i], all[sc]))
      return fmt::format("an SC succeeds all the same: {}, then {}", text(all[i]), text(all[sc]));
  }
  return "an SC succeeds without an LR: " + text(all[sc]);
}

}  // namespace

std::string violation(const std::vector<Access>& all, Time quantum, OrderStatistics& s) {
  s.accesses += all.size();
  for (std::size_t j = 0; j < all.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (all[i].by == all[j].by || !(all[i].write || all[j].write) || !overlap(all[i], all[j])) continue;
      if (std::string v = violation(all[i], all[j], quantum, s); !v.empty()) return v;
    }
    if (!all[j].conditional) continue;
    if (std::string v = violation_of_sc(all, j); !v.empty()) return v;
  }
  return {};
}

}  // namespace sluice::multihart
