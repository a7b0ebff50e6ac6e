// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics, wherever they lead.

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "models/riscv/iss/fp/fp.h"
#include "models/riscv/iss/slow_path.h"

namespace sluice::riscv {
namespace {

std::uint64_t sign_extend_word(std::uint64_t v) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(v)));
}

/// Operands of word AMOs are sign-extended, and only the low half of their result is used.
std::uint64_t amo_result(unsigned funct5, bool word, std::uint64_t memory, std::uint64_t operand) {
  const auto sm = static_cast<std::int64_t>(memory);
  const auto so = static_cast<std::int64_t>(operand);
  const std::uint64_t um = word ? static_cast<std::uint32_t>(memory) : memory;
  const std::uint64_t uo = word ? static_cast<std::uint32_t>(operand) : operand;
  switch (funct5) {
    case 0x00:
      return memory + operand;
    case 0x04:
      return memory ^ operand;
    case 0x08:
      return memory | operand;
    case 0x0c:
      return memory & operand;
    case 0x10:
      return sm < so ? memory : operand;
    case 0x14:
      return sm > so ? memory : operand;
    case 0x18:
      return um < uo ? memory : operand;
    case 0x1c:
      return um > uo ? memory : operand;
    default:
      return operand;  // swap
  }
}

}  // namespace

SlowPath::Place SlowPath::place_at(std::uint64_t physical, MemoryType type) {
  base::GuestRam* ram = hart_.ram_at(physical);
  const bool homed = !ram && bus_.homed(physical);
  const bool as_it_is = type == MemoryType::write_through && !homed && (ram || !bus_.posts(physical));
  return {physical, ram, homed, as_it_is ? MemoryType::normal : type};
}

/// Translates a data access that lies within a page.
Cause SlowPath::locate(std::uint64_t address, unsigned size, Access access, Place& place) {
  const std::uint64_t page = address & ~std::uint64_t{0xfff};
  const TlbEntry& entry = tlb_->entries()[(address >> 12) % SoftTlb::kEntries];
  if ((access == Access::store ? entry.write_tag : entry.read_tag) != page)
    return locate_further(address, size, access, place);
  const std::uint64_t physical = address + entry.physical;
  place = {physical, hart_.ram_at(physical), false, MemoryType::normal};
  return Cause::none;
}

/// As locate(), for what is not fast for an engine.
[[gnu::noinline]] Cause SlowPath::locate_further(std::uint64_t address, unsigned size, Access access, Place& place) {
  const std::uint64_t page = address & ~std::uint64_t{0xfff};
  PageTranslation& cached = tlb_->page(address);
  if (cached.page == page && (access == Access::store ? cached.writable : cached.readable)) {
    place = {cached.physical + (address - page), cached.ram, cached.homed, cached.type};
  } else {
    Privileged::Translation t;
    const std::uint64_t walks = privileged_.synchronised_walks();
    const Cause cause = privileged_.translate(address, size, access, t);
    bus_called_ |= privileged_.synchronised_walks() != walks;
    if (cause != Cause::none) return cause;
    place = place_at(t.physical, t.type);
    if (t.region_size < base::GuestRam::kPage) return Cause::none;
    cached = {page,        t.physical - (address - page),
              place.ram,   place.homed,
              t.readable,  t.writable,
              place.type,  t.page_shift,
              t.is_global, t.walk};
  }
  look_up_data(address, cached);
  if (place.ram && place.type == MemoryType::normal)
    tlb_->fill(address, place.physical, *place.ram,
               cached.readable && !(place.ram->watch(place.physical) & base::GuestRam::kReadWatch),
               cached.writable && !place.ram->watch(place.physical));
  return Cause::none;
}

/// The TLBs are asked for the page of an access: what it costs is in walk_ then. What is fast for an engine is a part
/// of what the first of them has.
void SlowPath::look_up_data(std::uint64_t address, const PageTranslation& t) {
  Tlb::Entry displaced;
  if (!bring_page(TranslationBuffers::First::data, address, data_key_, t, displaced) || displaced.shift == 0) return;
  const auto drop = [&](SoftTlb& tlb) { tlb.drop(displaced.page, std::uint64_t{1} << displaced.shift); };
  if (displaced.is_global)
    contexts_.for_each(drop);
  else
    contexts_.for_each_of(displaced.asid, drop);
}

/// The hart waits for the translation of an access.
void SlowPath::walk_now() {
  if (!walk_) return;
  const TranslationWalk walk = *std::exchange(walk_, std::nullopt);
  bus_called_ = true;
  state_.slots += walk.cycles * hart_.config().privileged.issue_width;
  for (unsigned n = 0; n < walk.count; ++n) touch_l1d(walk.entries[n], 8, base::LineUse::load);
  if (clock_) clock_->catch_up();
}

/// With a window, what needs the value of an access waits for its translation.
void SlowPath::access_behind_walk(std::uint64_t physical) {
  const TranslationWalk walk = *std::exchange(walk_, std::nullopt);
  bus_called_ = true;
  clock_->access_behind(walk, physical);
}

/// A load or store is in RAM. With timing = "interval", the window takes its time later; an access to two pages is one
/// to the bytes after the first page's then.
void SlowPath::touch(std::uint64_t physical, unsigned size, base::LineUse use) {
  if (walk_) [[unlikely]] {
    if (clock_) return access_behind_walk(physical);
    walk_now();
  }
  if (clock_)
    clock_->log().access(physical);
  else
    touch_l1d(physical, size, use);
}

void SlowPath::touch_l1d(std::uint64_t physical, unsigned size, base::LineUse use) {
  if (!l1d_) return;
  const std::uint64_t last = l1d_->line_of(physical + size - 1);
  for (std::uint64_t line = l1d_->line_of(physical);; line += l1d_->line_bytes()) {
    ++hart_.counters().l1d_accesses;
    if (!l1d_->hit(line, writes(use))) {
      ++hart_.counters().l1d_misses;
      bus_called_ = true;
      bus_.cache_miss(std::max(line, physical), use);
    }
    if (line == last) return;
  }
}

void SlowPath::read_ram(const Place& place, void* data, unsigned size) {
  std::memcpy(data, place.ram->at(place.physical), size);
  if (hart_.tells_reads()) [[unlikely]]
    hart_.own_read(*place.ram, place.physical, size);
}

/// Called before a store. A store that wakes another hart or ends its reservation must happen in order of time.
bool SlowPath::synchronise_store(const Place& place, unsigned size) {
  if (!place.ram->watch(place.physical) || !place.ram->awaited(place.physical, size, &hart_)) return true;
  return synchronise();
}

void SlowPath::write_ram(const Place& place, const void* data, unsigned size) {
  if (place.ram->watch(place.physical))
    hart_.own_write(*place.ram, place.physical, data, size);
  else
    std::memcpy(place.ram->at(place.physical), data, size);
}

void SlowPath::load_result(const Instruction& i, std::uint64_t value) {
  switch (i.op) {
    case Opcode::lb:
      state_.x[i.rd] = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(value)});
      break;
    case Opcode::lh:
      state_.x[i.rd] = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int16_t>(value)});
      break;
    case Opcode::lw:
      state_.x[i.rd] = sign_extend_word(value);
      break;
    case Opcode::flw:
      state_.f[i.rd] = fp_box(static_cast<std::uint32_t>(value));
      break;
    case Opcode::fld:
      state_.f[i.rd] = value;
      break;
    default:
      state_.x[i.rd] = value;
      break;
  }
}

/// The trap of an access to `address` that locate() has refused.
SlowPath::Outcome SlowPath::not_located(Cause cause, std::uint64_t tval, std::uint64_t address, unsigned size) {
  const bool is_access_fault = cause == Cause::load_access || cause == Cause::store_access;
  return is_access_fault ? refuse(Refusal::protection, cause, tval, address, size) : trap(cause, tval);
}

SlowPath::Outcome SlowPath::memory(const Instruction& i) {
  const std::uint64_t address = state_.x[i.rs1] + static_cast<std::uint64_t>(std::int64_t{i.imm});
  const unsigned size = access_size(i.op);
  const bool store = is_store(i.op);
  if ((address & 0xfff) + size > 0x1000) return memory_crossing(i, address, size);
  Place place;
  const Cause cause = locate(address, size, store ? Access::store : Access::load, place);
  if (cause != Cause::none) return not_located(cause, address, address, size);
  std::uint64_t value = 0;
  if (store) value = i.op >= Opcode::fsw ? state_.f[i.rs2] : state_.x[i.rs2];
  if (walk_ && (!place.ram || place.type != MemoryType::normal)) [[unlikely]]
    walk_now();
  if (place.type != MemoryType::normal) return uncached(i, place, address, size, value);
  if (place.homed) return homed_line(i, place, address, size, value);
  if (!place.ram) return device(i, place, address, size, value);
  if (store && !synchronise_store(place, size)) {
    walk_now();
    return Outcome::redirect;
  }
  touch(place.physical, size, store ? base::LineUse::store : base::LineUse::load);
  if (store) {
    write_ram(place, &value, size);
  } else {
    read_ram(place, &value, size);
    load_result(i, value);
  }
  return Outcome::next;
}

/// Loads or stores outside RAM and the caches. The hart's combined stores come before it.
SlowPath::Outcome SlowPath::device(const Instruction& i, const Place& place, std::uint64_t address, unsigned size,
                                   std::uint64_t value) {
  const bool store = is_store(i.op);
  const Cause fault = store ? Cause::store_access : Cause::load_access;
  if (address & (size - 1)) return refuse(Refusal::misaligned_device, fault, address, place.physical, size);
  if (clock_ && store && bus_.posts(place.physical)) {
    block_.close();
    if (!synchronise()) return Outcome::redirect;
    return post(place.physical, value, size) ? Outcome::next : trap(fault, address);
  }
  if (!come_behind_stores()) return Outcome::redirect;
  const bool done = store ? bus_.store(place.physical, &value, size) : bus_.load(place.physical, &value, size);
  if (!done) return trap(fault, address);
  if (!store) load_result(i, value);
  return Outcome::next;
}

/// A store that a target takes before its time. The hart goes on meanwhile.
bool SlowPath::post(std::uint64_t physical, std::uint64_t value, unsigned size) {
  const std::uint64_t slot = clock_->post_store();
  write_combined(slot);
  const auto taken = bus_.post(physical, &value, size, slot);
  clock_->catch_up();  // the hart may have waited
  if (taken)
    clock_->store_taken(*taken);
  else
    ++hart_.counters().lost[static_cast<std::size_t>(Loss::drain)];  // it has been dispatched, and will not retire
  return taken.has_value();
}

/// Called when the hart did not get a line. If the home has refused it, this is a fault; if the hart has been reset, it
/// is not.
SlowPath::Outcome SlowPath::refused_line(Cause fault, std::uint64_t address) {
  return synchronise() ? trap(fault, address) : Outcome::redirect;
}

/// Loads or stores bytes of one line with a home of its own. The hart may have to wait for the line.
SlowPath::Outcome SlowPath::access_line(std::uint64_t physical, void* data, unsigned size, bool store,
                                        std::uint64_t address) {
  if (clock_) clock_->drain_stores();
  const base::LineUse use = store ? base::LineUse::store : base::LineUse::load;
  std::uint8_t* bytes = bus_.held(physical, use);
  const bool is_new = !bytes;
  if (is_new) {
    if (!synchronise()) return Outcome::redirect;
    bytes = bus_.hold(physical, use);
    if (!bytes) return refused_line(store ? Cause::store_access : Cause::load_access, address);
  }
  if (store)
    std::memcpy(bytes, data, size);
  else
    std::memcpy(data, bytes, size);
  if (is_new) bus_.let_go();
  return Outcome::next;
}

/// Executes a load or store in lines with a home of their own. One that reaches across the end of a line is two.
SlowPath::Outcome SlowPath::homed_line(const Instruction& i, const Place& place, std::uint64_t address, unsigned size,
                                       std::uint64_t value) {
  const bool store = is_store(i.op);
  const auto part = [&](std::uint64_t physical, std::uint8_t* bytes, unsigned count, std::uint64_t at) {
    return access_line(physical, bytes, count, store, at);
  };
  const Outcome outcome = by_line(bus_.line_bytes(), place.physical, value, size, address, part);
  if (outcome == Outcome::next && !store) load_result(i, value);
  return outcome;
}

/// Loads or stores what lies in one of two pages.
SlowPath::Outcome SlowPath::access_part(const Place& place, std::uint8_t* bytes, unsigned size, bool store,
                                        std::uint64_t address) {
  if (place.homed) return access_line(place.physical, bytes, size, store, address);
  if (place.type != MemoryType::normal && clock_) clock_->drain_stores();
  if (place.type != MemoryType::normal) wait_until(bus_.uncached(place.physical, store, state_.slots));
  if (store)
    write_ram(place, bytes, size);
  else
    read_ram(place, bytes, size);
  return Outcome::next;
}

/// Both pages are checked before anything is read or written.
SlowPath::Outcome SlowPath::memory_crossing(const Instruction& i, std::uint64_t address, unsigned size) {
  const bool store = is_store(i.op);
  const Access access = store ? Access::store : Access::load;
  const unsigned first = 0x1000 - static_cast<unsigned>(address & 0xfff);
  const std::uint64_t address2 = address + first;
  Place low, high;
  const Cause fault = store ? Cause::store_access : Cause::load_access;
  Cause cause = locate(address, first, access, low);
  if (cause != Cause::none) return not_located(cause, address, address, size);
  if (!low.ram && !low.homed) return refuse(Refusal::misaligned_device, fault, address, low.physical, size);
  cause = locate(address2, size - first, access, high);
  if (cause != Cause::none) return not_located(cause, address2, address, size);
  if (!high.ram && !high.homed) return refuse(Refusal::crossing, fault, address2, low.physical, size);
  walk_now();
  const bool typed = low.type != MemoryType::normal || high.type != MemoryType::normal;
  for (const Place* part : {&low, &high})
    if (part->homed && part->type != MemoryType::normal)
      return refuse(Refusal::uncached_line, fault, part == &low ? address : address2, part->physical, size);
  if (typed && !order_stores()) return Outcome::redirect;
  const base::LineUse use = store ? base::LineUse::store : base::LineUse::load;
  if (store && !((low.homed || synchronise_store(low, first)) && (high.homed || synchronise_store(high, size - first))))
    return Outcome::redirect;
  const bool low_cached = low.ram && low.type == MemoryType::normal;
  if (low_cached) touch(low.physical, first, use);
  if (high.ram && high.type == MemoryType::normal && (!clock_ || !low_cached)) touch(high.physical, size - first, use);
  std::uint64_t value = 0;
  if (store) value = i.op >= Opcode::fsw ? state_.f[i.rs2] : state_.x[i.rs2];
  auto* const bytes = reinterpret_cast<std::uint8_t*>(&value);
  Outcome outcome = access_part(low, bytes, first, store, address);
  if (outcome == Outcome::next) outcome = access_part(high, bytes + first, size - first, store, address2);
  if (outcome == Outcome::next && !store) load_result(i, value);
  return outcome;
}

SlowPath::Outcome SlowPath::atomic(const Instruction& i) {
  ++hart_.counters().atomics;
  const unsigned size = access_size(i.op);
  const bool word = size == 4;
  const bool reserve = i.op == Opcode::lr_w || i.op == Opcode::lr_d;
  const bool conditional = i.op == Opcode::sc_w || i.op == Opcode::sc_d;
  const std::uint64_t address = state_.x[i.rs1];
  const std::uint64_t operand = word ? sign_extend_word(state_.x[i.rs2]) : state_.x[i.rs2];
  if (address & (size - 1))
    return refuse(Refusal::atomic_misaligned, reserve ? Cause::load_misaligned : Cause::store_misaligned, address,
                  address, size);
  Place place;
  const Cause fault = reserve ? Cause::load_access : Cause::store_access;
  const Cause cause = locate(address, size, reserve ? Access::load : Access::store, place);
  if (cause != Cause::none) return not_located(cause, address, address, size);
  if (!place.ram && !place.homed) return refuse(Refusal::atomic_device, fault, address, place.physical, size);
  if (place.homed && place.type != MemoryType::normal)
    return refuse(Refusal::uncached_line, fault, address, place.physical, size);
  walk_now();
  // Harts contend by atomics: who comes first must be a matter of time, not of the order in which harts execute.
  if (!come_behind_stores()) return Outcome::redirect;
  const base::LineUse use = reserve ? base::LineUse::load : base::LineUse::atomic;
  std::uint8_t* line = place.homed ? bus_.hold(place.physical, use) : nullptr;
  if (place.homed && !line) return refused_line(fault, address);
  if (place.ram && place.type != MemoryType::normal)
    wait_until(bus_.uncached(place.physical, false, state_.slots));
  else if (place.ram)
    touch_l1d(place.physical, size, use);

  std::uint64_t memory = 0;
  if (line)
    std::memcpy(&memory, line, size);
  else
    read_ram(place, &memory, size);
  const auto write = [&](std::uint64_t value) {
    if (!line) return write_ram(place, &value, size);
    std::memcpy(line, &value, size);
  };
  if (word) memory = sign_extend_word(memory);
  if (reserve) {
    if (place.ram)
      hart_.reserve(*place.ram, place.physical);
    else
      hart_.reserve(place.physical);
    state_.x[i.rd] = memory;
  } else if (conditional) {
    const bool holds = state_.reservation && state_.reservation_address == (place.physical & ~std::uint64_t{63});
    state_.reservation = false;
    if (holds) write(operand);
    state_.x[i.rd] = holds ? 0 : 1;
  } else {
    write(amo_result(i.aux, word, memory, operand));
    state_.x[i.rd] = memory;
  }
  if (line) bus_.let_go();
  return Outcome::next;
}

}  // namespace sluice::riscv
