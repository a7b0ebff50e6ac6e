// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/slow_path.h"

#include <cstring>

#include "models/base/measure/software_requests.h"
#include "models/base/measure/stages.h"

namespace sluice::riscv {
namespace {

constexpr std::uint64_t kPageMask = ~std::uint64_t{0xfff};

}  // namespace

SlowPath::SlowPath(Hart& hart)
    : hart_(hart),
      state_(hart.state()),
      privileged_(hart.privileged()),
      bus_(hart.bus()),
      l1d_(hart.config().l1d),
      l1i_(hart.config().l1i),
      clock_(hart.config().shape
                 ? std::make_unique<IntervalClock>(*hart.config().shape, *l1i_, *l1d_, bus_, state_, hart.counters())
                 : nullptr),
      exception_cost_(hart.config().costs.exception),
      interrupt_cost_(hart.config().costs.interrupt),
      return_cost_(hart.config().costs.trap_return),
      buffers_(hart.config().translation.any()
                   ? std::make_unique<TranslationBuffers>(hart.config().translation, hart.counters())
                   : nullptr),
      combining_(hart.config().combining) {}

void SlowPath::reset() {
  epoch_ = ~std::uint64_t{0};
  contexts_.forget_all();
  if (buffers_) buffers_->forget_all();
  walk_.reset();
  fetch_line_ = ~std::uint64_t{0};
  attention_ = true;
  stale_.clear();
  if (clock_) clock_->reset();
  traps_.clear();
  from_ = kNowhere;
  combining_.reset();
  block_ = {};
}

void SlowPath::drop_write_shortcuts(std::uint64_t page) {
  contexts_.for_each([page](SoftTlb& tlb) { tlb.drop_writes(page); });
}

void SlowPath::drop_read_shortcuts(std::uint64_t page) {
  contexts_.for_each([page](SoftTlb& tlb) { tlb.drop_reads(page); });
}

void SlowPath::change_context() {
  epoch_ = privileged_.epoch();
  privilege_ = state_.privilege;
  if (translation_version_ != privileged_.translation_version()) {
    translation_version_ = privileged_.translation_version();
    contexts_.forget_all();
  }
  fetch_key_ = privileged_.fetch_key();
  generation_ = contexts_.generation(fetch_key_);
  data_key_ = privileged_.data_key();
  tlb_ = &contexts_.data(data_key_);
}

/// What sfence.vma makes the hart forget, but for what Privileged has said.
void SlowPath::forget_translations(const Instruction& i) {
  const auto asid = static_cast<std::uint16_t>(state_.x[i.rs2]);
  if (i.rs2 != 0) contexts_.forget(asid);
  if (buffers_) buffers_->forget(state_.x[i.rs1], i.rs1 != 0, asid, i.rs2 != 0);
}

bool SlowPath::interrupt() {
  if (!privileged_.take_interrupt()) return false;
  if (clock_) clock_->redirect();
  bus_.interrupt_taken(state_.slots + interrupt_cost_);
  state_.slots += interrupt_cost_;
  ++hart_.counters().interrupts;
  from_ = kNowhere;
  return true;
}

bool SlowPath::fetch(std::uint64_t pc, Fetched& fetched) {
  if (!fetch_place(pc, fetched.at, fetched.cacheable)) return false;
  std::uint16_t first_half;
  std::memcpy(&first_half, fetched.at.ram->at(fetched.at.physical + (pc & 0xfff)), 2);
  if (is_compressed(first_half)) return true;
  if ((pc & 0xfff) == 0xffe) {
    fetched.crossing = true;
    if (!fetch_place(pc + 2, fetched.second, fetched.cacheable)) return false;
    // The second page may have taken the first one's place in the TLB.
    return fetched.at.generation == generation_ || fetch_place(pc, fetched.at, fetched.cacheable);
  }
  FetchPage rest;
  return fetched.cacheable || fetch_place(pc + 2, rest, fetched.cacheable);
}

/// Finds where the 2 bytes at pc lie: physical page and RAM. Returns false when it has trapped.
bool SlowPath::fetch_place(std::uint64_t pc, FetchPage& at, bool& cacheable) {
  const std::uint64_t page = pc & kPageMask;
  FetchPage& cached = fetch_pages_[(pc >> 12) % kFetchPages];
  if (cached.page == page && cached.generation == generation_) {
    at = cached;
    return true;
  }
  Privileged::Translation t;
  const std::uint64_t walks = privileged_.synchronised_walks();
  Cause cause = privileged_.translate(pc, 2, Access::fetch, t);
  attention_ |= privileged_.synchronised_walks() != walks;
  at.ram = cause == Cause::none ? hart_.ram_at(t.physical) : nullptr;
  const std::uint64_t by = from_ == kNowhere ? state_.pc : from_;
  if (cause == Cause::fetch_access) bus_.refused(Refusal::protection, by, pc, 2);
  if (cause == Cause::none && !at.ram) {
    bus_.refused(Refusal::fetch, by, t.physical, 2);
    cause = Cause::fetch_access;
  }
  if (cause != Cause::none) {
    trap(cause, pc);
    return false;
  }
  at.page = page;
  at.physical = t.physical & kPageMask;
  const bool is_whole = t.region_size >= base::GuestRam::kPage;
  if (is_whole) look_up_code(pc, t);
  at.generation = generation_;
  if (is_whole) cached = at;
  cacheable &= is_whole;
  return true;
}

/// The hart waits until its TLBs have a page that instructions come from. Engines run the code of pages that the first
/// of them has without asking: what they know of pages is of a generation, and that changes when a page leaves.
void SlowPath::look_up_code(std::uint64_t pc, const Privileged::Translation& t) {
  Tlb::Entry displaced;
  if (!bring_page(TranslationBuffers::First::code, pc, fetch_key_, t, displaced)) return;
  walk_now();
  attention_ = true;  // the walk may have moved the limit
  if (displaced.shift == 0) return;
  contexts_.renumber(displaced.asid, displaced.is_global);
  generation_ = contexts_.generation(fetch_key_);
}

void SlowPath::note_changed_code(std::uint64_t address, std::uint64_t length) {
  if (stale_.size() < kMostStale) stale_.push_back({address, address + length - 1});
}

/// Each change is reported to the bus once.
void SlowPath::tell_stale(std::uint64_t first, std::uint64_t last) {
  const auto told = std::erase_if(stale_, [&](const Stale& s) { return s.first <= last && first <= s.last; });
  if (told != 0) bus_.stale_code();
}

SlowPath::Outcome SlowPath::trap(Cause cause, std::uint64_t tval) {
  walk_now();
  HartCounters& counters = hart_.counters();
  if (traps_.repeats(state_, cause, counters.returns))
    ++counters.repeated;
  else
    counters.repeated = counters.served = 0, counters.returns_before = counters.returns;
  if (clock_) clock_->redirect();
  privileged_.trap(cause, tval);
  state_.slots += exception_cost_;
  ++counters.traps;
  from_ = kNowhere;
  return Outcome::redirect;
}

/// Takes a trap that a mistake of the software has caused, and reports it to the bus.
SlowPath::Outcome SlowPath::refuse(Refusal why, Cause cause, std::uint64_t tval, std::uint64_t address, unsigned size) {
  bus_.refused(why, state_.pc, address, size);
  return trap(cause, tval);
}

SlowPath::Outcome SlowPath::illegal(std::uint32_t raw) {
  // A trap to a higher mode is no mistake: that mode may emulate the instruction or switch a unit on. Nor is a CSR
  // read: software may probe whether the hart has the CSR.
  const bool reads_csr = (raw & 0x7f) == 0x73 && (raw >> 13 & 1) != 0 && (raw >> 15 & 0x1f) == 0;
  const std::uint64_t pc = state_.pc;
  const Privilege before = state_.privilege;
  const Outcome outcome = trap(Cause::illegal_instruction, raw);
  if (state_.privilege == before && !reads_csr) bus_.refused(Refusal::illegal, pc, raw, is_compressed(raw) ? 2 : 4);
  return outcome;
}

/// Called before an access that must happen in order of time. Returns false when an interrupt or a reset comes first:
/// the instruction must then do nothing, as if it had not begun.
bool SlowPath::synchronise() {
  bus_called_ = true;
  return bus_.synchronise() && !privileged_.interrupt_takeable();
}

SlowPath::Outcome SlowPath::csr(const Instruction& i, unsigned cost) {
  if (clock_) clock_->drain();
  ++hart_.counters().csr_accesses;
  const bool immediate = i.op >= Opcode::csrrwi;
  const unsigned kind = static_cast<unsigned>(i.op) - static_cast<unsigned>(immediate ? Opcode::csrrwi : Opcode::csrrw);
  constexpr CsrOp ops[3] = {CsrOp::write, CsrOp::set, CsrOp::clear};
  const std::uint64_t operand = immediate ? i.rs1 : state_.x[i.rs1];
  const bool write = kind == 0 || i.rs1 != 0;
  // A timer interrupt that is due before this write must be taken first.
  if (write && i.imm == static_cast<std::int32_t>(csr::kStimecmp) && !synchronise()) return Outcome::redirect;
  std::uint64_t old = 0;
  if (!privileged_.csr_access(static_cast<unsigned>(i.imm), ops[kind], operand, write, old)) return illegal(i.raw);
  state_.x[i.rd] = old;
  retire(i.length, cost);
  return Outcome::redirect;
}

SlowPath::Outcome SlowPath::system(const Instruction& i, unsigned cost) {
  if (clock_) clock_->redirect();
  switch (i.op) {
    case Opcode::ecall:
      switch (state_.privilege) {
        case Privilege::user:
          return trap(Cause::ecall_user, 0);
        case Privilege::supervisor:
          return trap(Cause::ecall_supervisor, 0);
        default:
          return trap(Cause::ecall_machine, 0);
      }
    case Opcode::ebreak:
      return trap(Cause::breakpoint, state_.pc);
    case Opcode::fence_i:  // earlier stores come before later fetches
      if (!order_stores()) return Outcome::redirect;
      ++hart_.counters().fences;
      stale_.clear();
      retire(i.length, cost);
      return Outcome::redirect;
    case Opcode::sfence_vma:  // and before later walks
      if (!order_stores()) return Outcome::redirect;
      if (!privileged_.sfence_vma(state_.x[i.rs1], i.rs1 != 0, state_.x[i.rs2], i.rs2 != 0)) return illegal(i.raw);
      forget_translations(i);
      ++hart_.counters().fences;
      retire(i.length, cost);
      return Outcome::redirect;
    case Opcode::mret:
    case Opcode::sret:
      return trap_return(i);
    case Opcode::wfi:
      if (!privileged_.wfi_allowed()) return illegal(i.raw);
      if (!synchronise()) return Outcome::redirect;
      block_.close();
      write_combined(state_.slots);
      ++hart_.counters().waits;
      retire(i.length, cost);
      if (privileged_.interrupt_pending()) return Outcome::redirect;
      return Outcome::wait_for_interrupt;
    case Opcode::wrs_nto:
      if (!privileged_.wrs_nto_allowed()) return illegal(i.raw);
      [[fallthrough]];
    case Opcode::wrs_sto:
      if (!synchronise()) return Outcome::redirect;
      block_.close();
      write_combined(state_.slots);
      ++hart_.counters().waits;
      retire(i.length, cost);
      if (privileged_.interrupt_pending() || !state_.reservation) return Outcome::redirect;
      hart_.start_wait(i.op == Opcode::wrs_nto ? ~std::uint64_t{0} : state_.slots + hart_.config().wrs_short_slots);
      return Outcome::wait_on_reservation;
    default:
      return illegal(i.raw);
  }
}

SlowPath::Outcome SlowPath::trap_return(const Instruction& i) {
  const std::uint64_t pc = state_.pc;
  if (!(i.op == Opcode::mret ? privileged_.mret() : privileged_.sret())) return illegal(i.raw);
  const std::uint64_t target = state_.pc;
  ++hart_.counters().returns;
  hart_.counters().served += traps_.serves(target);
  retire(i.length, return_cost_);
  state_.pc = target;
  from_ = pc;
  return Outcome::redirect;
}

bool SlowPath::hint_place(std::uint64_t address, Privileged::Translation& place) {
  const std::uint64_t page = address & ~std::uint64_t{0xfff};
  const PageTranslation& cached = tlb_->page(address);
  if (cached.page == page && cached.readable) {
    place.physical = cached.physical + (address - page);
    place.type = cached.type;
    return true;
  }
  return privileged_.translate_hint(address, place) == Cause::none;
}

/// Starts to bring a line to the caches. An address that cannot be read, or is not cached, does nothing.
SlowPath::Outcome SlowPath::prefetch(const Instruction& i) {
  Privileged::Translation translation;
  const std::uint64_t address = state_.x[i.rs1] + static_cast<std::uint64_t>(std::int64_t{i.imm});
  const std::uint64_t& physical = translation.physical;
  const bool starts = hart_.config().prefetch_hints && hint_place(address, translation);
  const Place place = starts ? place_at(physical, translation.type) : Place{};
  const bool is_there = place.ram && place.type == MemoryType::normal;
  if (place.type == MemoryType::write_through && !place.homed && i.aux != Instruction::kPrefetchI)
    return prefetch_line(physical);
  if (clock_) {
    is_there ? clock_->log().access(physical) : clock_->log().access_no_cache();
    return Outcome::next;
  }
  if (!l1d_ || !is_there || i.aux == Instruction::kPrefetchI || l1d_->state(physical) != base::LineState::kInvalid)
    return Outcome::next;
  bus_called_ = true;
  bus_.cache_miss(physical, base::LineUse::prefetch);
  return Outcome::next;
}

SlowPath::Outcome SlowPath::hint(const Instruction& i) {
  Privileged::Translation to, from;
  if (i.op == Opcode::account) {
    const std::uint64_t account = state_.x[i.rs1] + static_cast<std::uint64_t>(std::int64_t{i.imm});
    if (account < SLUICE_ACCOUNT_COUNT) bus_.account(static_cast<unsigned>(account));
  } else if (i.op == Opcode::bind) {
    if (hint_place(state_.x[i.rs1], to) && hint_place(state_.x[i.rs2], from)) bus_.bind(to.physical, from.physical);
  } else if (i.op == Opcode::open) {
    if (hint_place(state_.x[i.rs1], to)) bus_.open(state_.x[i.rs2], to.physical);
  } else if (i.imm >= 0 && i.imm < SLUICE_STAGE_COUNT && hint_place(state_.x[i.rs1], to)) {
    bus_.probe(static_cast<unsigned>(i.imm), to.physical);
  } else if (i.imm >= SLUICE_DROP(0) && i.imm < SLUICE_DROP(SLUICE_DROP_COUNT) && hint_place(state_.x[i.rs1], to)) {
    bus_called_ = true;  // what generates the load may go on at once, or end the run
    bus_.drop(static_cast<unsigned>(i.imm - SLUICE_DROP(0)), to.physical);
  } else if (i.imm == SLUICE_COMPLETE && hint_place(state_.x[i.rs1], to)) {
    bus_called_ = true;  // likewise
    bus_.complete(to.physical);
  }
  return Outcome::next;
}

}  // namespace sluice::riscv
