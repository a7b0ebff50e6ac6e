// SPDX-License-Identifier: Apache-2.0
#include "platform/config/memory_map.h"

#include <algorithm>

#include "models/base/parameters/quantity.h"

namespace sluice::config {
namespace {

/// Sv39, Sv48, Sv57 and the PMP of RV64 have physical addresses of 56 bits (RISC-V Privileged, 4.4 and 3.7).
constexpr std::uint64_t kLastAddress = (std::uint64_t{1} << 56) - 1;

std::string describe(const MemoryRegion& r) {
  return r.name + " at " + base::hexadecimal(r.base) + " (" + to_text(base::Bytes(r.size)) + ")";
}

/// The place where the user should look first: an override, else a line of the board's own file, else that file as a
/// whole.
std::string place(const std::string& file, const MemoryRegion& a, const MemoryRegion& b) {
  for (const bool override : {true, false}) {
    for (const MemoryRegion* r : {&a, &b}) {
      const Location& where = r->where;
      if (override ? !where.file.empty() && where.line == 0 : where.file == file) return where.text() + ": ";
    }
  }
  return file + ": ";
}

}  // namespace

void check_memory_map(const std::string& file, std::vector<MemoryRegion> regions) {
  std::sort(regions.begin(), regions.end(), [](const MemoryRegion& a, const MemoryRegion& b) {
    return a.base != b.base ? a.base < b.base : a.name < b.name;
  });
  const MemoryRegion* before = nullptr;
  for (const MemoryRegion& r : regions) {
    if (r.size == 0) throw UserError(place(file, r, r) + r.name + " has no size");
    if (r.base > kLastAddress || r.size - 1 > kLastAddress - r.base)
      throw UserError(place(file, r, r) + describe(r) + " reaches beyond 56-bit physical addresses");
    if (before && r.base - before->base < before->size) {
      throw UserError(place(file, r, *before) + describe(r) + " overlaps " + describe(*before));
    }
    before = &r;
  }
}

}  // namespace sluice::config
