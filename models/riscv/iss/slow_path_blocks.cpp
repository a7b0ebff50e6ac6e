// SPDX-License-Identifier: Apache-2.0
// Cache-block operations (Zicbom, Zicboz), and the lines of write-through device memory, for which software needs them:
// see docs/models/memory-types.md.

#include <algorithm>
#include <array>
#include <cstring>

#include "models/riscv/iss/slow_path.h"

namespace sluice::riscv {

/// The hart holds a line until it drops it or needs the place. Stores go to the device, and change what the hart holds.
SlowPath::Outcome SlowPath::write_through(const Instruction& i, const Place& place, std::uint64_t address,
                                          unsigned size, std::uint64_t value) {
  WriteThroughLines& lines = hart_.write_through();
  if (is_store(i.op)) {
    const Outcome outcome = device(i, place, address, size, value);
    if (outcome != Outcome::next) return outcome;
    if (std::uint8_t* const held = lines.find(place.physical))
      std::memcpy(held, &value, size);
    else
      lines.drop(lines.line_of(place.physical));  // one that is under way may have older bytes
    return outcome;
  }
  if (clock_) clock_->drain();
  const auto part = [&](std::uint64_t physical, std::uint8_t* bytes, unsigned count, std::uint64_t at) {
    return load_line(physical, bytes, count, at);
  };
  const Outcome outcome = by_line(lines.line_bytes(), place.physical, value, size, address, part);
  if (outcome == Outcome::next) load_result(i, value);
  return outcome;
}

/// Loads bytes of one line of write-through memory, which is read as a whole if the hart does not hold it.
SlowPath::Outcome SlowPath::load_line(std::uint64_t physical, std::uint8_t* data, unsigned size,
                                      std::uint64_t address) {
  WriteThroughLines& lines = hart_.write_through();
  const std::uint64_t line = lines.line_of(physical);
  if (!lines.find(physical)) {
    if (clock_) clock_->drain_stores();
    if (!synchronise()) return Outcome::redirect;
    while (lines.is_coming(line))
      if (!bus_.await_line()) return Outcome::redirect;
  }
  const std::uint8_t* held = lines.find(physical);
  if (!held) {
    std::array<std::uint8_t, WriteThroughLines::kMostBytes> bytes;
    ++hart_.counters().line_reads;
    if (!bus_.load(line, bytes.data(), lines.line_bytes())) return trap(Cause::load_access, address);
    held = lines.put(line, bytes.data()) + (physical - line);
  } else {
    ++hart_.counters().line_loads;
  }
  std::memcpy(data, held, size);
  return Outcome::next;
}

/// A prefetch instruction asks for a line of write-through memory, and the hart goes on. It does nothing if as many as
/// the hart may ask for are under way.
SlowPath::Outcome SlowPath::prefetch_line(std::uint64_t physical) {
  WriteThroughLines& lines = hart_.write_through();
  const std::uint64_t line = lines.line_of(physical);
  if ((lines.is_any_coming() || lines.may_expect(line)) && !synchronise()) return Outcome::redirect;
  bus_called_ |= clock_ != nullptr;  // the window has taken the prefetch, so the engine must not go on within its run
  const std::uint64_t slot = clock_ ? clock_->prefetch_past_caches() : state_.slots;
  if (!lines.may_expect(line)) return Outcome::next;
  bus_called_ = true;
  if (!bus_.start_read(line, lines.line_bytes(), slot)) return Outcome::next;
  ++hart_.counters().line_prefetches;
  lines.expect(line);
  return Outcome::next;
}

SlowPath::Outcome SlowPath::cache_block(const Instruction& i) {
  const std::uint64_t address = state_.x[i.rs1];
  if (i.aux == Instruction::kBlockZero) return zero_block(i, address);
  if (!privileged_.may_manage_blocks(i.aux == Instruction::kBlockInval)) return illegal(i.raw);
  if (clock_) clock_->drain_stores();
  Place place;
  const unsigned size = bus_.line_bytes();
  const Cause cause = locate(address & ~std::uint64_t{size - 1}, size, Access::load, place);
  if (cause != Cause::none)
    return not_located(cause == Cause::load_access ? Cause::store_access : Cause::store_page, address, address, size);
  const std::uint64_t block = place.physical;
  WriteThroughLines& lines = hart_.write_through();
  walk_now();
  if ((place.homed || lines.is_any_coming()) && !synchronise()) return Outcome::redirect;
  ++hart_.counters().block_operations;
  bus_called_ = true;
  if (place.ram) {
    // RAM always has the bytes, so a block that is invalidated is as one that is flushed.
    bus_.clean_line(block, i.aux == Instruction::kBlockClean);
  } else if (place.homed) {
    bus_.give_back(block);
  } else if (i.aux != Instruction::kBlockClean) {
    lines.drop(block);  // a line that is under way has to come again, too
  }
  return Outcome::next;
}

SlowPath::Outcome SlowPath::zero_block(const Instruction& i, std::uint64_t address) {
  static constexpr std::array<std::uint8_t, WriteThroughLines::kMostBytes> kZeros{};
  const unsigned size = bus_.line_bytes();
  if (!privileged_.may_zero_blocks()) return illegal(i.raw);
  if (clock_) clock_->drain_stores();
  Place place;
  const Cause cause = locate(address & ~std::uint64_t{size - 1}, size, Access::store, place);
  if (cause != Cause::none) return not_located(cause, address, address, size);
  walk_now();
  const std::uint64_t block = place.physical;
  if (place.homed && place.type != MemoryType::normal)
    return refuse(Refusal::uncached_line, Cause::store_access, address, block, size);
  if (!place.ram && !place.homed) return refuse(Refusal::zeroed_device, Cause::store_access, address, block, size);
  if (place.homed) {
    const Outcome outcome = access_line(block, const_cast<std::uint8_t*>(kZeros.data()), size, true, address);
    hart_.counters().block_operations += outcome == Outcome::next;
    return outcome;
  }
  if (place.type != MemoryType::normal && !order_stores()) return Outcome::redirect;
  if (!synchronise_store(place, size)) return Outcome::redirect;
  if (place.type == MemoryType::normal)
    touch_l1d(block, 1, base::LineUse::store);
  else
    wait_until(bus_.uncached(block, true, state_.slots));
  write_ram(place, kZeros.data(), size);
  ++hart_.counters().block_operations;
  return Outcome::next;
}

}  // namespace sluice::riscv
