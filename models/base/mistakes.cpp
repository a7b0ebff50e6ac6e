#include "models/base/mistakes.h"

#include <algorithm>

#include "models/base/calendar.h"

namespace sluice::base {
namespace {

Site site;
Time site_at;

}  // namespace

AccessBy::AccessBy(const Site& by) : before_(site), before_at_(site_at) {
  site = by;
  site_at = now();
}

AccessBy::~AccessBy() {
  site = before_;
  site_at = before_at_;
}

Site access_site() { return site_at == now() ? site : Site{}; }

void Mistakes::report(std::string what, const Site& by) {
  const std::string hart = by.hart ? *by.hart : "";
  const auto known = std::find_if(list_.begin(), list_.end(),
                                  [&](const Mistake& m) { return m.pc == by.pc && m.hart == hart && m.what == what; });
  if (known != list_.end())
    ++known->times;
  else if (list_.size() < kMost)
    list_.push_back({now(), std::move(what), hart, by.pc, 1});
  else
    ++unlisted_;
}

void Mistakes::clear() {
  list_.clear();
  unlisted_ = 0;
}

Mistakes& mistakes() {
  static Mistakes all;
  return all;
}

}  // namespace sluice::base
