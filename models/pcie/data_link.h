// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The data link layer of a PCIe link while something goes wrong. Timing: docs/models/pcie.md.

#include "models/base/fabric/replay.h"
#include "models/pcie/link.h"

namespace sluice::pcie {

using base::MessageFate;
using base::MessageFault;
using DataLink = base::ReplayLayer<TlpProtocol>;
using TlpFaultPlan = base::FaultPlan<TlpProtocol>;

/// The specification's limits for a link. retrain: time in Recovery.
base::ReplayTiming replay_timing(const Link::Parameters&, base::Time retrain);

}  // namespace sluice::pcie

extern template class sluice::base::ReplayLayer<sluice::pcie::TlpProtocol>;
