// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What [cluster.NAME] asks of its firmware, as properties of the device tree's /chosen.

#include <vector>

#include "models/part/firmware_property.h"
#include "platform/config/board_config.h"
#include "platform/firmware/firmware.h"

namespace sluice::platform {

/// The properties for what the board sets. Throws config::UserError where the firmware reads no property of such a
/// name, so that it would have no effect.
std::vector<part::FirmwareProperty> firmware_settings(const config::BoardConfig&, const config::Instance& cluster,
                                                      const Firmware&);

}  // namespace sluice::platform
