// SPDX-License-Identifier: Apache-2.0
#include "models/base/memory/guest_ram.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <sys/mman.h>

#include "models/base/parameters/quantity.h"

namespace sluice::base {

namespace {

/// Zeroes that take host memory only where they are touched.
void* reserve(std::uint64_t size) {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw std::runtime_error("needs " + to_text(Bytes(size)) + " of address space, which this machine refuses (" +
                             std::strerror(errno) + "): a smaller size or a higher limit (ulimit -v) would do");
  return p;
}

}  // namespace

GuestRam::GuestRam(std::uint64_t base, std::uint64_t size)
    : base_(base),
      size_(size),
      watch_(size / kPage),
      bytes_(static_cast<std::uint8_t*>(reserve(size + tag_bytes()))),
      tags_(reinterpret_cast<RequestId*>(bytes_ + size)) {}

GuestRam::~GuestRam() { munmap(bytes_, size_ + tag_bytes()); }

std::uint64_t GuestRam::resident_bytes() const {
  constexpr std::uint64_t kPart = std::uint64_t{64} << 20;
  std::vector<unsigned char> resident(kPart / kPage);
  std::uint64_t pages = 0;
  for (std::uint64_t offset = 0; offset < size_; offset += kPart) {
    const std::uint64_t part = std::min(kPart, size_ - offset);
    if (mincore(bytes_ + offset, part, resident.data()) != 0) return 0;
    for (std::uint64_t page = 0; page < part / kPage; ++page) pages += resident[page] & 1;
  }
  return pages * kPage;
}

void GuestRam::write(std::uint64_t address, const void* data, std::uint64_t length) {
  std::memcpy(at(address), data, length);
  if (watched(address, length)) tell_written(address, length);
}

void GuestRam::read(std::uint64_t address, void* data, std::uint64_t length) const {
  std::memcpy(data, at(address), length);
}

void GuestRam::tell_written(std::uint64_t address, std::uint64_t length) {
  for (RamWatcher* w : watchers_) w->ram_written(address, length);
}

bool GuestRam::awaited(std::uint64_t address, std::uint64_t length, const RamWatcher* writer) const {
  return std::any_of(watchers_.begin(), watchers_.end(),
                     [&](const RamWatcher* w) { return w != writer && w->awaits(address, length); });
}

bool GuestRam::watched(std::uint64_t address, std::uint64_t length) const {
  if (length == 0) return false;
  const std::uint64_t last = (address - base_ + length - 1) / kPage;
  for (std::uint64_t page = (address - base_) / kPage; page <= last; ++page)
    if (watch_[page]) return true;
  return false;
}

bool GuestRam::holds_code(std::uint64_t address, std::uint64_t length) const {
  const auto known = [=](const Range& r) { return address < r.address + r.length && r.address < address + length; };
  if (std::any_of(code_.begin(), code_.end(), known)) return true;
  return watched(address, length) && std::any_of(watchers_.begin(), watchers_.end(),
                                                 [=](const RamWatcher* w) { return w->has_decoded(address, length); });
}

void GuestRam::set_watch(std::uint64_t address, Watch why) {
  std::uint8_t& bits = watch_[(address - base_) / kPage];
  const bool was = bits != 0;
  bits |= why;
  const std::uint64_t page = address & ~(kPage - 1);
  if (why == kReadWatch)
    for (RamWatcher* w : watchers_) w->page_read_watched(page);
  if (was) return;
  for (RamWatcher* w : watchers_) w->page_watched(page);
}

void GuestRam::clear_watch(std::uint64_t address, Watch why) {
  watch_[(address - base_) / kPage] &= static_cast<std::uint8_t>(~why);
}

void GuestRam::drop_unneeded_watches(std::uint64_t address) {
  std::uint8_t& bits = watch_[(address - base_) / kPage];
  const std::uint64_t page = address & ~(kPage - 1);
  for (const Watch why : {kCode, kReservation, kWait, kWatchpoint, kReadWatch}) {
    if (!(bits & why)) continue;
    bool needed = false;
    for (const RamWatcher* w : watchers_) needed = needed || w->needs_watch(page, why);
    if (!needed) bits &= static_cast<std::uint8_t>(~why);
  }
}

void GuestRam::set_tag(std::uint64_t address, std::uint64_t length, RequestId id) {
  if (length == 0) return;
  const std::uint64_t last = (address - base_ + length - 1) / kTagLine;
  for (std::uint64_t line = (address - base_) / kTagLine; line <= last; ++line)
    if (tags_[line] != id) tags_[line] = id;
}

}  // namespace sluice::base
