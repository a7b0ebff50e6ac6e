#include "platform/config/memory_map.h"

#include <algorithm>

#include "models/base/quantity.h"

namespace sluice::config {
namespace {

std::string describe(const MemoryRegion& r) {
  return r.name + " at " + base::hexadecimal(r.base) + " (" + to_text(base::Bytes(r.size)) + ")";
}

}  // namespace

void check_memory_map(const std::string& file, std::vector<MemoryRegion> regions) {
  std::sort(regions.begin(), regions.end(), [](const MemoryRegion& a, const MemoryRegion& b) {
    return a.base != b.base ? a.base < b.base : a.name < b.name;
  });
  const MemoryRegion* before = nullptr;
  for (const MemoryRegion& r : regions) {
    if (r.size == 0) throw UserError(file + ": " + r.name + " has no size");
    if (r.size - 1 > ~r.base) throw UserError(file + ": " + describe(r) + " reaches beyond 64-bit addresses");
    if (before && r.base - before->base < before->size) {
      throw UserError(file + ": " + describe(r) + " overlaps " + describe(*before));
    }
    before = &r;
  }
}

}  // namespace sluice::config
