// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What an image counts of its own work, read from its memory: firmware/kernel/statistics.h.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/base/memory/guest_ram.h"
#include "platform/firmware/firmware.h"

namespace sluice::platform {

/// Name and value in the order in which the image names them; counters of one name (one for each hart) are summed.
using FirmwareCounters = std::vector<std::pair<std::string, std::uint64_t>>;

/// Empty for an image that has no statistics_table or has not set it up yet. The guest may have damaged the table, so
/// what does not lie in memory, or is not a name, is left out.
FirmwareCounters read_counters(const Firmware&, const std::vector<base::GuestRam*>&);

}  // namespace sluice::platform
