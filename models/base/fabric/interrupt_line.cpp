// SPDX-License-Identifier: Apache-2.0
#include "models/base/fabric/interrupt_line.h"

#include <utility>

namespace sluice::base {
namespace {

std::span<const RequestId> waiting;

}  // namespace

InterruptRequests::InterruptRequests(std::span<const RequestId> ids) : before_(std::exchange(waiting, ids)) {}

InterruptRequests::InterruptRequests(const Spans& spans) {
  std::size_t n = 0;
  for (const Span& s : spans) own_[n++] = s.id;
  before_ = std::exchange(waiting, std::span<const RequestId>(own_.data(), n));
}

InterruptRequests::~InterruptRequests() { waiting = before_; }

std::span<const RequestId> InterruptRequests::now() { return waiting; }

void InterruptLine::set_delivery(Time delivery, std::string_view path) {
  delivery_ = delivery;
  key_ = path_key(path);
  component_ = ledger().component(path);
}

void InterruptLine::set(bool level) {
  const auto more = InterruptRequests::now();
  if (level == level_ && (!level || more.empty())) return;
  level_ = level;
  if (!level) {
    calendar().cancel(rise_);
    take_back_requests();
    const bool told = std::exchange(arrived_, false);
    if (told && on_change) on_change(false);
  } else if (arrived_ || delivery_ == Time{}) {
    arrived_ = true;
    if (on_change) on_change(true);
  } else {
    for (const RequestId id : more) {
      const Ledger::Request* r = ledger().find(id);
      if (!r || r->tiles.back().stage != SLUICE_STAGE_interrupt) continue;
      ledger().enter(id, SLUICE_STAGE_interrupt_delivery, component_, now());
      requests_.push_back(id);
    }
    if (!calendar().pending(rise_)) rise_ = calendar().after(delivery_, key_, [this] { arrive(); });
  }
}

/// Requests whose interrupt is taken back on its way wait for one as they did before.
void InterruptLine::take_back_requests() {
  for (const RequestId id : requests_) {
    const Ledger::Request* r = ledger().find(id);
    if (!r || r->tiles.size() < 2) continue;
    const Ledger::Tile& last = r->tiles.back();
    if (last.stage != SLUICE_STAGE_interrupt_delivery || last.component != component_) continue;
    ledger().enter(id, SLUICE_STAGE_interrupt, r->tiles[r->tiles.size() - 2].component, now());
  }
  requests_.clear();
}

void InterruptLine::arrive() {
  arrived_ = true;
  const InterruptRequests told(requests_);
  if (on_change) on_change(true);
  requests_.clear();
}

}  // namespace sluice::base
