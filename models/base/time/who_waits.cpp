// SPDX-License-Identifier: Apache-2.0
#include "models/base/time/who_waits.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "models/base/time/calendar.h"

namespace sluice::base {
namespace {
Waiting* newest = nullptr;
}

Waiting::Waiting(const char* who, const char* reason, const char* holder)
    : who_(who), reason_(reason), holder_(holder), since_(now()), previous_(newest) {
  if (previous_) previous_->next_ = this;
  newest = this;
}

Waiting::~Waiting() {
  if (previous_) previous_->next_ = next_;
  if (next_)
    next_->previous_ = previous_;
  else
    newest = previous_;
}

std::string describe_waits() {
  std::vector<const Waiting*> waits;
  for (const Waiting* w = newest; w; w = w->previous_) waits.insert(waits.begin(), w);
  std::string text;
  for (const Waiting* w : waits)
    text += fmt::format("since {} ns: {} waits for {}: {}\n", w->since_.nanoseconds(), w->who_, w->holder_, w->reason_);
  for (const Waiting* start : waits) {
    std::string chain = start->who_;
    const Waiting* at = start;
    for (std::size_t steps = 0; at && steps <= waits.size(); ++steps) {
      chain += fmt::format(" -> {}", at->holder_);
      if (std::strcmp(at->holder_, start->who_) == 0) return fmt::format("{}cycle: {}\n", text, chain);
      const Waiting* next = nullptr;
      for (const Waiting* w : waits)
        if (std::strcmp(w->who_, at->holder_) == 0) next = w;
      at = next;
    }
  }
  return text;
}

}  // namespace sluice::base
