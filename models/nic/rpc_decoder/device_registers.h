// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a device that has an RPC decoder shows of it.

#include <cstdint>

#include "models/base/measure/statistics.h"
#include "models/base/registers/register_bank.h"
#include "models/nic/rpc_decoder/call_decoder.h"

namespace sluice::nic::rpc {

/// Declares the registers of rpc_decoder_regs.h, `offset` bytes from the bank's start.
void declare_registers(CallDecoder&, base::RegisterBank&, std::uint64_t offset);
/// Counts frames by verdict.
void register_statistics(const CallDecoder&, base::StatisticsGroup&);

}  // namespace sluice::nic::rpc
