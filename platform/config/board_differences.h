// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The differences between two boards.

#include <string>
#include <vector>

#include "platform/config/board_config.h"

namespace sluice::config {

/// One parameter whose effective value differs between two boards, an instance that only one has, or their plug-ins.
struct Difference {
  std::string path;  ///< "nic.eth0.queues", or "nic.eth1"
  std::string first;
  std::string second;  ///< values as text; empty where the board has no such parameter
};
std::vector<Difference> differences(const BoardConfig&, const BoardConfig&);

}  // namespace sluice::config
