// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/firmware_counters.h"

#include <algorithm>
#include <cstddef>

#include "firmware/kernel/statistics.h"

namespace sluice::platform {
namespace {

bool read(const std::vector<base::GuestRam*>& rams, std::uint64_t address, void* data, std::uint64_t bytes) {
  for (const base::GuestRam* ram : rams) {
    if (!ram->contains(address, bytes)) continue;
    ram->read(address, data, bytes);
    return true;
  }
  return false;
}

bool is_name(const std::string& s) {
  return !s.empty() && std::all_of(s.begin(), s.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// The words of a text of at most STATISTICS_NAMES_MAX bytes; empty if it is longer or not a list of names.
std::vector<std::string> read_names(const std::vector<base::GuestRam*>& rams, std::uint64_t address) {
  std::vector<std::string> names(1);
  for (std::uint64_t i = 0; i < STATISTICS_NAMES_MAX; ++i) {
    char c = 0;
    if (!read(rams, address + i, &c, 1)) return {};
    if (c == '\0') return std::all_of(names.begin(), names.end(), is_name) ? names : std::vector<std::string>{};
    if (c == ' ')
      names.emplace_back();
    else
      names.back() += c;
  }
  return {};
}

}  // namespace

FirmwareCounters read_counters(const Firmware& firmware, const std::vector<base::GuestRam*>& rams) {
  FirmwareCounters counters;
  const auto table = firmware.symbols().variable("statistics_table");
  std::uint64_t blocks = 0;
  if (!table || !read(rams, *table, &blocks, sizeof blocks)) return counters;
  for (std::uint64_t b = 0; b < std::min<std::uint64_t>(blocks, STATISTICS_BLOCKS); ++b) {
    statistics_block block;
    if (!read(rams, *table + offsetof(struct statistics_table, block) + b * sizeof block, &block, sizeof block)) break;
    std::uint64_t at = block.counters;
    for (const std::string& name : read_names(rams, block.names)) {
      std::uint64_t value = 0;
      if (!read(rams, at, &value, sizeof value)) break;
      at += sizeof value;
      const auto known = std::find_if(counters.begin(), counters.end(), [&](const auto& c) { return c.first == name; });
      if (known == counters.end())
        counters.emplace_back(name, value);
      else
        known->second += value;
    }
  }
  return counters;
}

}  // namespace sluice::platform
