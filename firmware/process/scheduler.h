/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/scheduler.h: which thread runs on which core. Each core has a queue of threads that are ready, in
 * the order in which they became so. A thread that is woken goes to the core that it ran on last, unless that one is
 * busy and another is free. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/process/task.h"

/* The core takes part from now on. Another core that has a task for it writes `data` to `address`, unless that is 0. */
void scheduler_start(uint32_t core, uint64_t address, uint32_t data);

/* A core for a task that was asleep. One that is free is not found again before it has looked for a task. */
uint32_t scheduler_find_core(const struct task* task);

/* Behind all others that wait for the core. Any core may call it, and interrupts the other one. */
void scheduler_put(uint32_t core, struct task* task);

/* The next task for the core; 0: there is none, and the core is free until a task comes. */
struct task* scheduler_take(uint32_t core);

bool scheduler_has_task(uint32_t core);
