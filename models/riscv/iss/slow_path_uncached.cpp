// SPDX-License-Identifier: Apache-2.0
// Loads and stores that pass the caches because of their page's memory type: see docs/models/memory-types.md.

#include <algorithm>

#include "models/riscv/iss/slow_path.h"

namespace sluice::riscv {

/// Moves the hart's time to a slot that it has waited for.
void SlowPath::wait_until(std::uint64_t slot) {
  if (slot <= state_.slots) return;
  hart_.counters().uncached_slots += slot - state_.slots;
  state_.slots = slot;
  bus_called_ = true;
}

SlowPath::Outcome SlowPath::uncached(const Instruction& i, const Place& place, std::uint64_t address, unsigned size,
                                     std::uint64_t value) {
  const bool store = is_store(i.op);
  const Cause fault = store ? Cause::store_access : Cause::load_access;
  if (place.homed) return refuse(Refusal::uncached_line, fault, address, place.physical, size);
  if (place.type == MemoryType::write_through) return write_through(i, place, address, size, value);
  const bool relaxed = place.type == MemoryType::noncacheable && (place.ram || bus_.posts(place.physical));
  if (!place.ram && (!relaxed || address % size != 0)) return device(i, place, address, size, value);
  if (relaxed && !heeds_fences_) heeds_fences_ = attention_ = true;
  if (!store) return uncached_load(i, place, address, size);
  const unsigned block = combining_.shape().bytes;
  if (relaxed && place.physical % block + size <= block) return combine(place, &value, size);
  if (!come_behind_stores()) return Outcome::redirect;
  bus_.uncached(place.physical, true, state_.slots);
  write_ram(place, &value, size);
  return Outcome::next;
}

/// A load of NC reads a block, and those that follow directly get the rest of it.
SlowPath::Outcome SlowPath::uncached_load(const Instruction& i, const Place& place, std::uint64_t address,
                                          unsigned size) {
  std::uint64_t value = 0;
  if (place.type == MemoryType::noncacheable && block_.has(place.physical, size, state_.pc, state_.instret)) {
    ++hart_.counters().block_loads;
    if (clock_) clock_->drain();
    block_.take(place.physical, &value, size, state_.pc, state_.instret);
  } else {
    if (!come_behind_stores()) return Outcome::redirect;
    ++hart_.counters().uncached_reads;
    const bool in_block = place.type == MemoryType::noncacheable && place.physical % size == 0;
    const unsigned bytes = in_block ? std::max(hart_.config().read_block, size) : size;
    const std::uint64_t first = in_block ? place.physical & ~std::uint64_t{bytes - 1} : place.physical;
    std::uint8_t* const block = block_.begin(first, bytes);
    if (place.ram) {
      wait_until(bus_.uncached(first, false, state_.slots));
      read_ram({first, place.ram, false, place.type}, block, bytes);
    } else if (!bus_.load(first, block, bytes)) {
      block_.close();
      return trap(Cause::load_access, address);
    }
    block_.take(place.physical, &value, size, state_.pc, state_.instret);
  }
  load_result(i, value);
  return Outcome::next;
}

/// A store of NC goes to a write-combining buffer. The store that fills a buffer has it written, and one that finds no
/// free buffer waits for one, for which the oldest is written.
SlowPath::Outcome SlowPath::combine(const Place& place, const void* data, unsigned size) {
  block_.close();
  const WriteCombining::Outlook ahead = combining_.look_ahead(place.physical, size);
  const bool evicts = !ahead.merges && !combining_.empty() && combining_.is_full();
  if ((ahead.fills || evicts) && !synchronise()) return Outcome::redirect;
  bus_called_ |= clock_ != nullptr;  // the window has taken the store, so the engine must not go on within its run
  std::uint64_t slot = clock_ ? clock_->post_store() : state_.slots;
  if (!ahead.merges) slot = room_to_combine(slot);
  ++hart_.counters().combined_stores;
  combining_.store(place.physical, place.ram, data, size);
  combined_at_ = slot;
  if (!ahead.fills) return Outcome::next;
  const std::uint64_t free = write_buffer(combining_.take(place.physical), slot);
  if (combining_.shape().buffers == 0) wait_for_buffer(free);
  return Outcome::next;
}

/// Makes room for a new block. Returns from when on the buffer is free, at least `slot`.
std::uint64_t SlowPath::room_to_combine(std::uint64_t slot) {
  if (combining_.shape().buffers == 0) return slot;
  if (combining_.is_full()) {
    ++hart_.counters().combined_displaced;
    write_buffer(combining_.take_oldest(), slot);
  }
  const std::uint64_t free = combining_.free_from(slot);
  if (free > slot) wait_for_buffer(free);
  return free;
}

/// The present store waits for a buffer: the hart does, or the window's store buffer.
void SlowPath::wait_for_buffer(std::uint64_t slot) {
  ++hart_.counters().combined_waits;
  if (clock_)
    clock_->store_taken(slot);
  else
    wait_until(slot);
}

/// Writes what the write-combining buffers hold, from a slot on. synchronise() has been called if they hold anything.
void SlowPath::write_combined(std::uint64_t slot) {
  while (!combining_.empty()) write_buffer(combining_.take_oldest(), std::max(slot, combined_at_));
}

/// Writes a buffer that has been taken out. Each part without a gap is one write. Returns when the buffer is free.
std::uint64_t SlowPath::write_buffer(const WriteCombining::Buffer& b, std::uint64_t slot) {
  bus_called_ = true;
  ++(b.written.count() == combining_.shape().bytes ? hart_.counters().combined_full : hart_.counters().combined_parts);
  std::uint64_t free = slot;
  for (WriteCombining::Run run = combining_.next_run(b, 0); run.count != 0;
       run = combining_.next_run(b, run.first + run.count)) {
    const std::uint64_t address = b.block + run.first;
    const std::uint8_t* const bytes = b.bytes.data() + run.first;
    if (b.ram) {
      free = std::max(free, bus_.uncached(address, true, slot));
      write_ram({address, b.ram, false, MemoryType::noncacheable}, bytes, run.count);
    } else {
      free = std::max(free, bus_.post_combined(address, bytes, run.count, slot));
    }
  }
  if (clock_) clock_->catch_up();  // the hart may have waited
  combining_.drained(free);
  return free;
}

/// Called before an access that must come behind the hart's earlier stores, in order of time, and ends the block.
/// Returns false when the instruction must do nothing.
bool SlowPath::come_behind_stores() {
  block_.close();
  if (clock_) clock_->drain_stores();
  if (!synchronise()) return false;
  write_combined(state_.slots);
  return true;
}

/// As come_behind_stores(), for what need not be in order of time if no stores are combined.
bool SlowPath::order_stores() {
  block_.close();
  return combining_.empty() || come_behind_stores();
}

SlowPath::Outcome SlowPath::fence(const Instruction& i) {
  block_.close();
  if (combining_.empty() || i.aux != Instruction::kOrdersStores) return Outcome::next;
  if (!synchronise()) return Outcome::redirect;
  write_combined(state_.slots);
  return Outcome::next;
}

}  // namespace sluice::riscv
