// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a device that has an RPC encoder shows of it.

#include <cstdint>

#include "models/base/registers/register_bank.h"
#include "models/nic/rpc_encoder/message_encoder.h"

namespace sluice::nic::rpc {

/// Declares the registers of rpc_encoder_regs.h, `offset` bytes from the bank's start.
void declare_registers(MessageEncoder&, base::RegisterBank&, std::uint64_t offset);

}  // namespace sluice::nic::rpc
