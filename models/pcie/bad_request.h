// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Reports requests that nobody serves to the log of mistakes. Plain C++.

#include <string>

#include "models/pcie/tlp.h"

namespace sluice::pcie {

/// "nic.eth0: DMA read of 64 bytes at 0x1000 for transmit descriptor 0 of queue 0".
std::string transfer_text(const Origin&, bool write);

/// Notes a request that the component with path `at` does not serve. A device's transfer is one mistake, however many
/// TLPs it has. Configuration requests that no function claims are no mistake: software finds functions by them.
void report_bad_request(const Tlp&, const std::string& at, const std::string& cause);

}  // namespace sluice::pcie
