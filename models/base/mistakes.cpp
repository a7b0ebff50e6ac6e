#include "models/base/mistakes.h"

#include <utility>

#include "models/base/calendar.h"

namespace sluice::base {
namespace {

Site site;
Time site_at;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.'; }

/// The sentence with # for each number. The digits of a name such as eth0 stay: another device is another mistake.
std::string shape_of(const std::string& what) {
  std::string shape;
  for (std::size_t i = 0; i < what.size();) {
    if (!is_digit(what[i]) || (i > 0 && is_word(what[i - 1]))) {
      shape += what[i++];
      continue;
    }
    shape += '#';
    while (i < what.size() && is_word(what[i])) ++i;
  }
  return shape;
}

/// Counts one more, unless it is another packet of the transfer that was counted last.
void count(std::uint64_t& times, std::uint64_t& last, std::uint64_t transfer) {
  times += transfer == 0 || transfer != last;
  last = transfer;
}

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

void Mistakes::report(std::string what, const Site& by, std::uint64_t transfer) {
  ++reports_;
  const std::string hart = by.hart ? *by.hart : "";
  std::string shape = shape_of(what);
  std::size_t first = list_.size(), alike = 0;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    Mistake& m = list_[i];
    if (m.pc != by.pc || kinds_[i].shape != shape || m.hart != hart) continue;
    if (m.what == what) return count(m.times, kinds_[i].transfer, transfer);
    if (alike++ == 0) first = i;
  }
  if (alike == kAlike) return count(list_[first].others, kinds_[first].transfer, transfer);
  if (list_.size() == kMost) return count(unlisted_, unlisted_transfer_, transfer);
  list_.push_back({now(), std::move(what), hart, by.pc, 1, 0});
  kinds_.push_back({std::move(shape), transfer});
}

void Mistakes::clear() { *this = {}; }

Mistakes& mistakes() {
  static Mistakes all;
  return all;
}

}  // namespace sluice::base
