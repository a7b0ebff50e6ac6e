/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/server/delivery.h: delivery by the kernel. The NIC spreads frames over a queue for each hart and interrupts
 * it; the kernel does the protocols, finds the socket, and wakes a thread, which takes the datagram by a system call
 * with one copy, and answers by another one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/server/processes.h"

/* Datagrams that a hart's NIC queue may have brought and no thread has taken. Beyond that each socket may have one. The
 * driver needs so many buffers more. */
#define DELIVERY_HELD_MOST 1024u
#define DELIVERY_BUFFERS (DELIVERY_HELD_MOST + SERVER_PROCESSES_MOST)

/* Opens a socket for each process, with a thread for each hart that has a queue of the NIC,
 * SERVICE_THREADS at most. */
void delivery_setup(const struct nic* nic, struct server_process* processes, uint32_t count);

/* Serves the NIC's queue of this hart, and runs threads. */
void delivery_serve(uint32_t hart) __attribute__((noreturn));
