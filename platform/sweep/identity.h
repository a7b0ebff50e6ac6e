// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The identity of a run: a digest of everything that determines its result.

#include <string>

#include "platform/config/board_config.h"
#include "platform/firmware/sha256.h"

namespace sluice::sweep {

/// 32 hexadecimal digits of the SHA-256 of the board's name, every parameter (seed and replication among them), the
/// files that the run reads (firmware, plug-ins, captures, scripts) and the program's sources. What only describes a
/// value, such as its source, is no part of it.
std::string identity_of(const config::BoardConfig&, platform::FileDigests&);

}  // namespace sluice::sweep
