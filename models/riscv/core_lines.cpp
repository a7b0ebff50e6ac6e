// SPDX-License-Identifier: Apache-2.0
/// A core that waits for a line with a home of its own, and the requests that memory and lines belong to.

#include <fmt/format.h>

#include "models/riscv/core.h"

namespace sluice::riscv {

using base::Time;

base::Site Core::site_at(std::uint64_t pc) const {
  return {.hart = &path(), .pc = pc, .user_space = hart_.privileged().user_space(pc)};
}

/// The instruction that makes an access now.
base::Site Core::site() const {
  const base::Ledger::Request* const r = base::ledger().find(serving_);
  const bool is_here = r && r->tiles.back().component == component();
  base::Site site = site_at(hart_.state().pc);
  if (is_here) site.serves = serving_;
  return site;
}

std::uint8_t* Core::hold(std::uint64_t address, base::LineUse use) {
  const base::Site by = site();
  const std::uint64_t reports = base::mistakes().reports();
  const Fill fill = begin_fill(by);
  suspended_ = true;
  waits_for_line_ = true;
  std::uint8_t* bytes = nullptr;
  {
    const base::AccessSiteScope scope(by);
    bytes = memory_.hold(cache_, address, use, parameters_.bus_timeout);
  }
  suspended_ = false;
  stall(runner_.time());
  count_parked();
  waits_for_line_ = false;
  end_fill(fill, address);
  if (bytes || reset_due_) return bytes;
  const char* const access = base::writes(use) ? "store" : "load";
  const std::string why = memory_.why_refused(cache_);
  if (!why.empty()) {
    ++lines_unanswered_;
    base::mistakes().report(fmt::format("{}: {} at {:#x}: access fault, {}", path(), access, address, why), by);
  }
  fail_access(access, address, by, reports);
  return nullptr;
}

Core::Fill Core::begin_fill(const base::Site& by) const {
  const base::Ledger::Request* const r = base::ledger().find(by.serves);
  if (!r) return {};
  return {by.serves, r->tiles.back().stage, r->tiles.size(), runner_.time()};
}

/// The wait is over. The request has been where the line's messages were (HomedLines), and goes on in its stage, unless
/// the device has taken it on. A request that the line has brought is here.
void Core::end_fill(const Fill& fill, std::uint64_t address) {
  const Time now = runner_.time();
  if (const base::Ledger::Request* const r = base::ledger().find(fill.id)) {
    const base::Stage last = r->tiles.back().stage;
    const bool is_untold = r->tiles.size() == fill.tiles;
    if (is_untold && now > fill.since) enter(fill.id, SLUICE_STAGE_cache_fill, fill.since, {});
    if (is_untold || last == SLUICE_STAGE_coherence_message || last == SLUICE_STAGE_cache_fill)
      enter(fill.id, fill.stage, now);
  }
  arrived(memory_.request_of(cache_, address), now);
}

/// The core has bytes of a request that was on its way to it.
void Core::arrived(base::RequestId id, Time t) {
  const base::Ledger::Request* const r = base::ledger().find(id);
  if (!r) return;
  for (const base::Stage way : {SLUICE_STAGE_coherence_message, SLUICE_STAGE_upstream_link, SLUICE_STAGE_memory})
    if (r->tiles.back().stage == way) {
      execute_for(id);
      return enter(id, SLUICE_STAGE_poll, t);
    }
}

void Core::note_brought(std::uint64_t address, base::RequestId id) {
  if (id == 0) {
    if (address == brought_.address) brought_ = {};
    return;
  }
  brought_ = {address, id};
  arrived(id, runner_.time());
}

base::RequestId Core::request_at(std::uint64_t address) {
  if (const base::GuestRam* const ram = memory_.ram_at(address, 1)) return ram->tag(address);
  if (memory_.homed(address)) return memory_.request_of(cache_, address);
  return address == brought_.address ? brought_.id : 0;
}

void Core::bind(std::uint64_t to, std::uint64_t from) { belongs_to(to, request_at(from)); }

/// The bytes at an address belong to a request from now on.
void Core::belongs_to(std::uint64_t address, base::RequestId request) {
  if (base::GuestRam* const ram = memory_.ram_at(address, 1))
    ram->set_tag(address, 1, request);
  else if (memory_.homed(address))
    memory_.set_request_of(cache_, address, request);
}

}  // namespace sluice::riscv
