// SPDX-License-Identifier: Apache-2.0
#include "models/base/measure/mistakes.h"

#include <algorithm>
#include <utility>

#include "models/base/time/calendar.h"

namespace sluice::base {
namespace {

Site site;
Time site_at;
CaughtReport* catching = nullptr;
unsigned muted = 0;  ///< how many MistakesMuted there are

bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_decimal(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

/// The sentence with # for each number. The digits of a name such as eth0 stay: another device is another mistake.
std::string shape_of(const std::string& what) {
  std::string shape;
  for (std::size_t i = 0; i < what.size();) {
    if (!is_decimal(what[i]) || (i > 0 && is_word(what[i - 1]))) {
      shape += what[i++];
      continue;
    }
    shape += '#';
    while (i < what.size() && is_word(what[i])) ++i;
  }
  return shape;
}

}  // namespace

AccessSiteScope::AccessSiteScope(const Site& by) : before_(site), before_at_(site_at) {
  site = by;
  site_at = now();
}

AccessSiteScope::~AccessSiteScope() {
  site = before_;
  site_at = before_at_;
}

MistakesMuted::MistakesMuted() { ++muted; }

MistakesMuted::~MistakesMuted() { --muted; }

Site access_site() { return site_at == now() ? site : Site{}; }

/// Whether the transfer is among those counted last. Adds it if not.
bool Mistakes::counted(std::uint64_t transfer) {
  if (transfer == 0) return false;
  if (std::find(transfers_.begin(), transfers_.end(), transfer) != transfers_.end()) return true;
  transfers_[next_transfer_] = transfer;
  next_transfer_ = (next_transfer_ + 1) % transfers_.size();
  return false;
}

void Mistakes::report(std::string what, const Site& by, std::uint64_t transfer) {
  if (catching) {
    if (catching->what_.empty()) catching->what_ = std::move(what);
    return;
  }
  ++reports_;
  if (muted != 0) return;
  if (counted(transfer)) return;
  const std::string hart = by.hart ? *by.hart : "";
  // A process may end, and another one get its address space: what a site is called is as old as the report.
  const bool in_process = names_ && by.user_space != 0;
  const std::string process = in_process ? names_->process_at(by) : "";
  std::string shape = shape_of(what);
  std::size_t first = list_.size(), alike = 0;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    Mistake& m = list_[i];
    if (m.pc != by.pc || m.user_space != by.user_space || shapes_[i] != shape || m.hart != hart || m.process != process)
      continue;
    if (m.what == what) {
      ++m.times;
      return;
    }
    if (alike++ == 0) first = i;
  }
  if (alike == kAlike) {
    ++list_[first].others;
  } else if (list_.size() == kMost) {
    ++unlisted_;
  } else {
    const std::string function = names_ && by.hart ? names_->function_at(by) : "";
    list_.push_back({now(), std::move(what), hart, by.pc, by.user_space, process, function, 1, 0});
    shapes_.push_back(std::move(shape));
  }
}

void Mistakes::clear() {
  SiteNames* const names = names_;
  *this = {};
  names_ = names;
}

Mistakes& mistakes() {
  static Mistakes all;
  return all;
}

CaughtReport::CaughtReport() : outer_(catching) { catching = this; }

CaughtReport::~CaughtReport() { catching = outer_; }

}  // namespace sluice::base
