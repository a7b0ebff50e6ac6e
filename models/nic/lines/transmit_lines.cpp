// SPDX-License-Identifier: Apache-2.0
#include "models/nic/lines/transmit_lines.h"

#include <utility>

#include "models/base/time/calendar.h"

namespace sluice::nic {

void TransmitLines::attach(base::LineCaches& caches, std::uint64_t base) {
  caches_ = &caches;
  window_.attach(caches, base);
}

const char* TransmitLines::requested(const base::LineRequest& r) {
  if (window_.is_overflow(r.line)) {
    const unsigned n = window_.overflow_at(r.line);
    window_.give_overflow(n);
    caches_->grant(r.number, window_.overflow(n), exclusive_);
    return nullptr;
  }
  const unsigned control = window_.control_at(r.line);
  if (control == LineWindow::kNone) return "is neither a control line nor an overflow line";
  if (is_forgetting_) return "is asked for while the lines are taken back";
  if (line_ == LineWindow::kNone) line_ = control;
  if (control == line_) {
    caches_->grant(r.number, window_.control(control), exclusive_);
    return nullptr;
  }
  if (waiting_ != 0) return "is asked for while a commit is under way";
  waiting_ = r.number;
  next_ = control;
  by_ = base::access_site();
  has_control_ = false;
  request_ = 0;
  committed_ = base::now();
  for (base::Journey& j : journeys_) j.clear();
  if (r.serves != 0) journeys_[0] = r.journey;
  client_.transmit_begins(*this);
  // The control line comes first: it says how long the message is.
  window_.begin_recalls();
  window_.recall(window_.control_line(line_));
  if (window_.take()) take_control_line();
  return nullptr;
}

/// A line that was taken back for a commit may bring bytes of a request.
void TransmitLines::written(const base::LineWritten& w) {
  window_.written(w.line, w.bytes);
  if (w.request == 0 || waiting_ == 0 || w.journey.start() < committed_) return;
  request_ = w.request;
  journeys_[has_control_ ? 2 : 1] = w.journey;
}

void TransmitLines::recalled() {
  if (!window_.take()) return;
  if (is_forgetting_)
    forgotten();
  else
    take_control_line();
}

void TransmitLines::forget() {
  if (line_ == LineWindow::kNone || waiting_ != 0 || is_forgetting_) return;
  is_forgetting_ = true;
  window_.begin_recalls();
  window_.recall(window_.control_line(line_));
  window_.recall_overflow(window_.shape().overflow_lines);
  if (window_.take()) forgotten();
}

void TransmitLines::forgotten() {
  is_forgetting_ = false;
  window_.clear_control(line_);
  line_ = LineWindow::kNone;
  window_.unlock();
}

void TransmitLines::take_control_line() {
  if (has_control_) return take_message();
  has_control_ = true;
  bytes_ = client_.transmit_length(*this);
  window_.begin_recalls();
  window_.recall_overflow(window_.overflow_lines(bytes_));
  if (window_.take()) take_message();
}

void TransmitLines::take_message() {
  client_.transmit_done(*this, bytes_);
  window_.clear_control(line_);
  line_ = next_;
  window_.unlock();  // who has asked for the old line meanwhile is refused: the commit is still under way
  caches_->grant(std::exchange(waiting_, 0), window_.control(line_), exclusive_);
}

void TransmitLines::apply_journeys() const {
  for (const base::Journey& j : journeys_) j.apply(request_);
}

void TransmitLines::reset() {
  window_.reset();
  line_ = next_ = LineWindow::kNone;
  waiting_ = 0;
  has_control_ = is_forgetting_ = false;
  bytes_ = 0;
  request_ = 0;
}

}  // namespace sluice::nic
