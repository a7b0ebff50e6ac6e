/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/server/bypass.h: kernel bypass. Each process polls a queue pair of the NIC that is its own; the NIC steers
 * the calls there by their UDP port. A process belongs to one hart. Those of a hart, and its batch threads, have it by
 * turns of a time slice; hart 0 looks at the kernel's own queue between turns and each 100 us. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/server/processes.h"

/* Reads the device tree. To be called before memory_reserve(), which may overwrite it. */
void bypass_find(void);

/* Whether the device tree says something that is of use for kernel bypass only. */
bool bypass_is_asked_for(void);

/* Gives the processes their queues, from 1 on, and lets each set itself up. The NIC has not started (nic->start).
 * False: it has too few queues, as a line on the console says. */
bool bypass_setup(const struct nic* nic, struct server_process* processes, uint32_t count, uint32_t harts);

/* Runs the processes of this hart. */
void bypass_serve(uint32_t hart) __attribute__((noreturn));
