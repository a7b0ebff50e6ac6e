// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Captures of the messages of a coherent link.

#include "models/base/fabric/link_capture.h"
#include "models/coherence/link/coherent_link.h"

namespace sluice::coherence {

void capture(CoherentLink&, base::LinkCapture&);

/// A message as a line of text: "MREQ_RLDD            line 0x20000000  cache 0".
std::string to_line(const CoherentMessage&);
/// In the layout of docs/reference/captures.md.
std::string to_bytes(const CoherentMessage&);

}  // namespace sluice::coherence
