// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Whether software may open requests of the ledger, by a hint (hints.h). Off unless a workload wants them: any other
/// counts those of its own.

namespace sluice::base {

inline bool software_opens_requests = false;

}  // namespace sluice::base
