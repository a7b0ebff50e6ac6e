// SPDX-License-Identifier: Apache-2.0
#include "models/nic/lines/line_window.h"

#include <algorithm>
#include <utility>

namespace sluice::nic {

std::span<std::uint8_t> LineWindow::at(unsigned line) {
  if (bytes_.empty()) bytes_.resize((2 + std::size_t{shape_.overflow_lines}) * shape_.line);
  return std::span(bytes_).subspan(std::size_t{line} * shape_.line, shape_.line);
}

void LineWindow::written(std::uint64_t line, std::span<const std::uint8_t> bytes) {
  const unsigned n = control_at(line);
  std::copy(bytes.begin(), bytes.end(), (n != kNone ? control(n) : overflow(overflow_at(line))).begin());
}

void LineWindow::put(unsigned control_line, std::span<const std::uint8_t> message) {
  const std::size_t first = std::min<std::size_t>(message.size(), inline_bytes());
  std::copy_n(message.begin(), first, control(control_line).begin() + shape_.inline_at);
  if (message.size() > first) std::copy(message.begin() + first, message.end(), overflow(0).data());
}

void LineWindow::get(unsigned control_line, std::span<std::uint8_t> message) {
  const std::size_t first = std::min<std::size_t>(message.size(), inline_bytes());
  std::copy_n(control(control_line).begin() + shape_.inline_at, first, message.begin());
  if (message.size() > first) std::copy_n(overflow(0).data(), message.size() - first, message.begin() + first);
}

void LineWindow::clear_control(unsigned n) {
  const std::span<std::uint8_t> bytes = control(n);
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
}

void LineWindow::unlock() {
  for (const std::uint64_t line : std::exchange(recalled_, {})) caches_->unlock(line);
}

void LineWindow::give_overflow(unsigned n) {
  if (given_.empty()) given_.resize(shape_.overflow_lines);
  given_[n] = true;
}

void LineWindow::recall_overflow(unsigned lines) {
  for (unsigned n = 0; n < lines && n < given_.size(); ++n) {
    if (!given_[n]) continue;
    given_[n] = false;
    recall(overflow_line(n));
  }
}

void LineWindow::reset() {
  bytes_.clear();
  given_.clear();
  missing_ = 0;
  recalled_.clear();
}

}  // namespace sluice::nic
