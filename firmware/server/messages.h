/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/server/messages.h: the copies between a process's memory and the kernel's (struct socket_message). */
#pragma once

#include <stdint.h>

#include "firmware/net/stack.h"
#include "firmware/process/process.h"

/* Writes a datagram to the message that the thread's system call names. Returns 0 or SYSTEM_CALL_ERROR: the memory is
 * not the process's. What is longer than the message's room is cut. */
uint64_t message_receive(const struct thread* thread, const struct net_datagram* datagram);

/* Reads the message that the thread's system call names. Returns its length, or -1: the memory is not the process's, or
 * it is longer than `most`. */
int64_t message_send(const struct thread* thread, uint8_t* to, uint32_t most, struct net_peer* peer);
