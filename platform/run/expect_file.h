// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Scripts that talk to firmware, as text files: docs/models/uart.md has the format.

#include <string>
#include <vector>

#include "models/uart/back_ends.h"
#include "platform/config/board_config.h"

namespace sluice::platform {

/// The steps of a script's text; name is used in messages. Throws config::UserError with the line.
std::vector<uart::ExpectScript::Step> parse_expect(const std::string& text, const std::string& name);

/// The steps of the script that [uart] expect names: a path from the working directory or from that of the board's
/// file. Empty where it names none. Throws config::UserError with the script's line.
std::vector<uart::ExpectScript::Step> expect_steps(const config::BoardConfig&);

}  // namespace sluice::platform
