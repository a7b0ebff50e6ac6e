// SPDX-License-Identifier: Apache-2.0
#include "models/base/time/calendar.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace sluice::base {

Calendar the_calendar;

void Calendar::stale() {
  std::fputs("base::now() was read while a hart executes straight on: synchronise() first\n", stderr);
  std::abort();
}

void Calendar::grow() {
  chunks_.push_back(std::make_unique<Node[]>(kChunk));
  for (std::uint32_t n = made_ + kChunk; n-- > made_;) {
    chunks_.back()[n - made_].place = free_;
    free_ = n;
  }
  made_ += kChunk;
}

Calendar::Handle Calendar::insert(Time when, ComponentKey key, std::uint32_t n) {
  if (when < now()) {
    if (late_++ == 0) first_late_ = {key, when, now_};
    when = now_;
  }
  const Slot slot{when, key, sequence_++, n};
  if (near_count_ == kNear) spill();
  if (!far_.empty() && near_[0].before(slot)) {
    far_push(slot);
  } else {
    std::uint32_t i = near_count_++;
    for (; i > 0 && near_[i - 1].before(slot); --i) near_[i] = near_[i - 1];
    near_[i] = slot;
    node(n).place = kInNear;
    next_ = near_[near_count_ - 1].when;
  }
  return {n, node(n).generation};
}

/// The later half of near_ goes to far_.
void Calendar::spill() {
  constexpr std::uint32_t kHalf = kNear / 2;
  for (std::uint32_t i = 0; i < kHalf; ++i) far_push(near_[i]);
  std::copy(near_.begin() + kHalf, near_.end(), near_.begin());
  near_count_ = kNear - kHalf;
}

/// The first entries of far_ go to near_, which is empty.
void Calendar::refill() {
  near_count_ = static_cast<std::uint32_t>(std::min<std::size_t>(far_.size(), kNear / 2));
  for (std::uint32_t i = near_count_; i-- > 0;) {
    near_[i] = far_.front();
    node(near_[i].node).place = kInNear;
    far_remove(0);
  }
}

bool Calendar::cancel(Handle& handle) {
  const Handle h = handle;
  handle = {};
  if (!pending(h)) return false;
  Node& cancelled = node(h.node);
  if (cancelled.place == kInNear) {
    std::uint32_t i = 0;
    while (near_[i].node != h.node) ++i;
    std::copy(near_.begin() + i + 1, near_.begin() + near_count_, near_.begin() + i);
    --near_count_;
    update_next();
  } else {
    far_remove(cancelled.place);
  }
  ++cancelled.generation;
  cancelled.action = nullptr;
  release(h.node);
  return true;
}

void Calendar::dispatch() {
  const Slot first = near_[--near_count_];
  update_next();
  now_ = first.when;
  ++dispatched_;
  Node& n = node(first.node);
  // A running entry can no longer be cancelled: no handle names it.
  ++n.generation;
  try {
    n.action();
  } catch (...) {
    failed_ = first.key;
    throw;
  }
  n.action = nullptr;
  release(first.node);
  if (dispatched_ % kLookInterval == 0 && look_) [[unlikely]]
    look_(first.key);
}

void Calendar::far_push(const Slot& slot) {
  far_.emplace_back();
  sift_up(far_.size() - 1, slot);
}

void Calendar::far_remove(std::size_t position) {
  const Slot last = far_.back();
  far_.pop_back();
  if (position == far_.size()) return;
  if (position > 0 && last.before(far_[(position - 1) / 4]))
    sift_up(position, last);
  else
    sift_down(position, last);
}

void Calendar::sift_up(std::size_t position, Slot slot) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / 4;
    if (!slot.before(far_[parent])) break;
    far_place(position, far_[parent]);
    position = parent;
  }
  far_place(position, slot);
}

void Calendar::sift_down(std::size_t position, Slot slot) {
  for (;;) {
    const std::size_t first = position * 4 + 1;
    if (first >= far_.size()) break;
    std::size_t least = first;
    const std::size_t end = std::min(first + 4, far_.size());
    for (std::size_t child = first + 1; child < end; ++child)
      if (far_[child].before(far_[least])) least = child;
    if (!far_[least].before(slot)) break;
    far_place(position, far_[least]);
    position = least;
  }
  far_place(position, slot);
}

void Calendar::clear() { *this = Calendar{}; }

}  // namespace sluice::base
