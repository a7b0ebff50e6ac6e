/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/encoder.h: tells a NIC that encodes replies and calls (models/nic/rpc_encoder/rpc_encoder_regs.h) of the
 * results and arguments of the image's programs. */
#pragma once

#include <stdint.h>

struct rpc_program;

/* Entries that the schema of a procedure's result takes: one, and one more for each arm of a union. */
uint32_t rpc_encoder_entries(const struct rpc_program* program, uint32_t procedure);

/* Enters the schema of a procedure's arguments, for calls. */
void rpc_encoder_enter_arguments(uint64_t registers, uint32_t entry, const struct rpc_program* program,
                                 uint32_t procedure);

/* Enters the schema of a procedure's result into the encoder with these registers, at `entry` and behind it. */
void rpc_encoder_enter(uint64_t registers, uint32_t entry, const struct rpc_program* program, uint32_t procedure);
