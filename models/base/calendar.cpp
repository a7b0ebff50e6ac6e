#include "models/base/calendar.h"

#include <algorithm>

namespace sluice::base {

Calendar the_calendar;

Calendar::Handle Calendar::at(Time when, ComponentKey key, Action action) {
  if (when < now_) {
    ++late_;
    when = now_;
  }
  std::uint32_t node;
  if (free_.empty()) {
    node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  } else {
    node = free_.back();
    free_.pop_back();
  }
  nodes_[node].action = std::move(action);
  heap_.emplace_back();
  sift_up(heap_.size() - 1, Slot{when, key, sequence_++, node});
  return {node, nodes_[node].generation};
}

bool Calendar::pending(const Handle& handle) const {
  return handle.node < nodes_.size() && nodes_[handle.node].generation == handle.generation;
}

bool Calendar::cancel(Handle& handle) {
  const Handle h = handle;
  handle = {};
  if (!pending(h)) return false;
  remove(nodes_[h.node].position);
  nodes_[h.node].action = nullptr;
  release(h.node);
  return true;
}

void Calendar::dispatch() {
  const Slot first = heap_.front();
  now_ = first.when;
  remove(0);
  ++dispatched_;
  // The action leaves its node first: it may make entries, which may move nodes.
  Action action = std::move(nodes_[first.node].action);
  release(first.node);
  action();
}

void Calendar::release(std::uint32_t node) {
  ++nodes_[node].generation;
  free_.push_back(node);
}

void Calendar::remove(std::size_t position) {
  const Slot last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return;
  if (position > 0 && last.before(heap_[(position - 1) / 4]))
    sift_up(position, last);
  else
    sift_down(position, last);
}

void Calendar::sift_up(std::size_t position, Slot slot) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / 4;
    if (!slot.before(heap_[parent])) break;
    place(position, heap_[parent]);
    position = parent;
  }
  place(position, slot);
}

void Calendar::sift_down(std::size_t position, Slot slot) {
  for (;;) {
    const std::size_t first = position * 4 + 1;
    if (first >= heap_.size()) break;
    std::size_t least = first;
    const std::size_t end = std::min(first + 4, heap_.size());
    for (std::size_t child = first + 1; child < end; ++child)
      if (heap_[child].before(heap_[least])) least = child;
    if (!heap_[least].before(slot)) break;
    place(position, heap_[least]);
    position = least;
  }
  place(position, slot);
}

void Calendar::clear() { *this = Calendar{}; }

}  // namespace sluice::base
