// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Captures of the TLPs of a link.

#include "models/base/fabric/link_capture.h"
#include "models/pcie/link.h"

namespace sluice::pcie {

void capture(Link&, base::LinkCapture&);

/// A TLP as a line of text: "MWr     0x4000020000  64 B  from 00:00.0".
std::string to_line(const Tlp&);
/// The header as the specification lays it out, and the payload.
std::string to_bytes(const Tlp&);

}  // namespace sluice::pcie
