// SPDX-License-Identifier: Apache-2.0
#include "models/nic/lines/receive_lines.h"

#include <utility>

namespace sluice::nic {

void ReceiveLines::attach(base::LineCaches& caches, std::uint64_t base) {
  caches_ = &caches;
  window_.attach(caches, base);
}

const char* ReceiveLines::requested(const base::LineRequest& r) {
  if (window_.is_overflow(r.line)) {
    if (line_ == LineWindow::kNone) return "is asked for before a control line has been answered";
    const unsigned n = window_.overflow_at(r.line);
    window_.give_overflow(n);
    caches_->grant(r.number, window_.overflow(n), exclusive_, of_);
    return nullptr;
  }
  const unsigned control = window_.control_at(r.line);
  if (control == LineWindow::kNone) return "is neither a control line nor an overflow line";
  if (control == line_) {
    caches_->grant(r.number, window_.control(control), exclusive_, of_);
    return nullptr;
  }
  if (waiting_ != 0) return "is asked for while a load of the other control line is held back";
  waiting_ = r.number;
  next_ = control;
  hart_ = r.hart;
  is_due_ = false;
  const base::Time most = client_.receive_begins(*this);
  timer_ = base::calendar().after(most, key_, [this] { due(); });
  if (line_ == LineWindow::kNone) {
    client_.receive_ready(*this);
    return nullptr;
  }
  if (!window_.is_recalling()) begin_taking_back(&r);
  return nullptr;
}

void ReceiveLines::finish() {
  if (line_ != LineWindow::kNone && waiting_ == 0 && !window_.is_recalling()) begin_taking_back(nullptr);
}

/// Takes back what the host has done with; the request, if there is one, says so.
void ReceiveLines::begin_taking_back(const base::LineRequest* r) {
  by_ = base::access_site();
  asked_ = base::now();
  for (base::Journey& j : journeys_) j.clear();
  if (r && r->serves != 0 && r->serves == of_) journeys_[0] = r->journey;
  window_.begin_recalls();
  window_.recall(window_.control_line(line_));
  window_.recall_overflow(window_.shape().overflow_lines);
  if (window_.take()) take_back();
}

void ReceiveLines::written(const base::LineWritten& w) {
  window_.written(w.line, w.bytes);
  if (w.request == 0 || w.request != of_ || !window_.is_recalling() || w.journey.start() < asked_) return;
  journeys_[window_.is_overflow(w.line) ? 2 : 1] = w.journey;
}

void ReceiveLines::apply_journeys() const {
  for (const base::Journey& j : journeys_) j.apply(of_);
}

void ReceiveLines::recalled() {
  if (window_.take()) take_back();
}

void ReceiveLines::take_back() {
  client_.receive_done(*this);
  line_ = LineWindow::kNone;
  of_ = 0;
  window_.unlock();  // who has asked for these lines meanwhile is answered now
  if (!is_ready()) return;
  client_.receive_ready(*this);
  if (is_ready() && is_due_) client_.receive_due(*this);
}

/// Lines that are still to come back are waited for.
void ReceiveLines::due() {
  is_due_ = true;
  if (is_ready()) client_.receive_due(*this);
}

void ReceiveLines::answer(base::RequestId of) {
  base::calendar().cancel(timer_);
  is_due_ = false;
  line_ = next_;
  of_ = of;
  caches_->grant(std::exchange(waiting_, 0), window_.control(line_), exclusive_, of);
}

void ReceiveLines::reset() {
  base::calendar().cancel(timer_);
  window_.reset();
  line_ = next_ = LineWindow::kNone;
  waiting_ = 0;
  is_due_ = false;
  of_ = 0;
}

}  // namespace sluice::nic
