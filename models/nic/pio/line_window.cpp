// SPDX-License-Identifier: Apache-2.0
#include "models/nic/pio/line_window.h"

#include <algorithm>
#include <utility>

namespace sluice::nic {

void LineWindow::put(unsigned control, std::span<const std::uint8_t> frame) {
  const std::size_t first = std::min<std::size_t>(frame.size(), PIO_INLINE_BYTES);
  std::copy_n(frame.begin(), first, control_[control].begin() + PIO_INLINE);
  for (unsigned n = 0; n < overflow_lines(frame.size()); ++n) {
    const auto part = frame.subspan(first + n * PIO_LINE);
    std::copy_n(part.begin(), std::min<std::size_t>(part.size(), PIO_LINE), overflow_[n].begin());
  }
}

void LineWindow::get(unsigned control, std::span<std::uint8_t> frame) const {
  const std::size_t first = std::min<std::size_t>(frame.size(), PIO_INLINE_BYTES);
  std::copy_n(control_[control].begin() + PIO_INLINE, first, frame.begin());
  for (unsigned n = 0; n < overflow_lines(frame.size()); ++n) {
    const auto part = frame.subspan(first + n * PIO_LINE);
    std::copy_n(overflow_[n].begin(), std::min<std::size_t>(part.size(), PIO_LINE), part.begin());
  }
}

void LineWindow::unlock() {
  for (const std::uint64_t line : std::exchange(recalled_, {})) caches_->unlock(line);
}

void LineWindow::recall_overflow(unsigned lines) {
  for (unsigned n = 0; n < lines; ++n) {
    if (!given_[n]) continue;
    given_[n] = false;
    recall(overflow_line(n));
  }
}

void LineWindow::reset() {
  control_ = {};
  overflow_ = {};
  given_.reset();
  missing_ = 0;
  recalled_.clear();
}

}  // namespace sluice::nic
