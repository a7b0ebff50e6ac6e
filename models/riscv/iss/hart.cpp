// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/iss/hart.h"

#include <algorithm>
#include <cstring>

namespace sluice::riscv {
namespace {

constexpr std::uint64_t kWritesPerReview = 64;

PrivilegedConfig privileged_config(const HartConfig& config) {
  PrivilegedConfig c = config.privileged;
  c.write_through = config.write_through.lines != 0;
  return c;
}

}  // namespace

Hart::Hart(Bus& bus, const HartConfig& config)
    : bus_(bus),
      config_(config),
      privileged_(state_, bus, privileged_config(config)),
      write_through_(config.write_through, bus.line_bytes()) {
  config_.costs.clamp();
  engine_ = config_.engine(*this);
  reset();
}

Hart::~Hart() = default;

void Hart::reset() {
  std::fill(std::begin(state_.x), std::end(state_.x), 0);
  std::fill(std::begin(state_.f), std::end(state_.f), 0);
  state_.fflags = 0;
  state_.frm = 0;
  state_.reservation = false;
  waiting_ = false;
  privileged_.reset();
  write_through_.clear();
  engine_->reset();
}

base::GuestRam* Hart::ram_at(std::uint64_t address) {
  for (base::GuestRam* ram : rams_)
    if (ram->contains(address, 1)) return ram;
  base::GuestRam* ram = bus_.ram_at(address);
  if (!ram) return nullptr;
  ram->add_watcher(this);
  rams_.push_back(ram);
  return ram;
}

void Hart::own_write(base::GuestRam& ram, std::uint64_t address, const void* data, std::size_t length) {
  own_write_ = true;
  ram.write(address, data, length);
  own_write_ = false;
  // Setting a watch costs about as much as kWritesPerReview stores on the slow path.
  if (++own_writes_ % kWritesPerReview == 0) ram.drop_unneeded_watches(address);
}

void Hart::start_wait(std::uint64_t deadline) {
  wait_deadline_ = deadline;
  waiting_ = true;
}

void Hart::ram_written(std::uint64_t address, std::uint64_t length) {
  if (own_write_) engine_->note_own_store(address, length);
  engine_->invalidate_code(address, length);
  if (!own_write_) line_changed(address, length);
}

void Hart::page_watched(std::uint64_t page) { engine_->drop_write_shortcuts(page); }

void Hart::page_read_watched(std::uint64_t page) { engine_->drop_read_shortcuts(page); }

bool Hart::needs_watch(std::uint64_t page, std::uint8_t why) const {
  if (why == base::GuestRam::kCode) return engine_->has_code(page);
  if (why == base::GuestRam::kReservation)
    return state_.reservation && (state_.reservation_address & ~(base::GuestRam::kPage - 1)) == page;
  return why == base::GuestRam::kWatchpoint || why == base::GuestRam::kReadWatch;
}

/// Calls access(ram, physical, bytes) for each page's part of a virtual range; false where a part is not RAM.
template <class Access>
bool Hart::debug_access(std::uint64_t address, std::size_t length, Access access) {
  while (length != 0) {
    Privileged::Translation t;
    if (privileged_.translate_hint(address, t) != Cause::none) return false;
    const std::size_t part = std::min<std::size_t>(length, 0x1000 - (address & 0xfff));
    base::GuestRam* ram = ram_at(t.physical);
    if (!ram) return false;
    access(*ram, t.physical, part);
    address += part, length -= part;
  }
  return true;
}

bool Hart::debug_read(std::uint64_t address, void* data, std::size_t length) {
  auto* bytes = static_cast<std::uint8_t*>(data);
  return debug_access(address, length, [&](base::GuestRam& ram, std::uint64_t physical, std::size_t part) {
    ram.read(physical, bytes, part);
    bytes += part;
  });
}

}  // namespace sluice::riscv
