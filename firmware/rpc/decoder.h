/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/decoder.h: tells a NIC that decodes RPC calls (models/nic/rpc_decoder/rpc_decoder_regs.h) of the image's
 * programs. */
#pragma once

#include "firmware/drivers/nic.h"

struct rpc_program;

/* Enters a procedure of an instance of a program into the decoder with these registers. owner: RPCD_OWNER; function:
 * what the control line has as the function pointer. */
void rpc_decoder_enter(uint64_t registers, uint32_t entry, const struct rpc_program* program, uint32_t procedure,
                       uint32_t instance, uint32_t owner, uintptr_t function);

/* Enters every procedure of every instance that is served, as far as the decoder's table has room. The calls of an
 * instance go to the queue of its place among them all, modulo the NIC's queues. Does nothing for a NIC without a
 * decoder. */
void rpc_decoder_setup(const struct nic* nic);
