/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/hart.h: the number of this hart, and how to start work on other harts. */
#pragma once

#include <stdint.h>

typedef void hart_work(unsigned long hart, void* unused);

/* sscratch holds the hart id in supervisor mode. */
unsigned hart_id(void);
void hart_set_id(unsigned hart);

/* Wakes a parked hart and lets it run `work` in supervisor mode. Call it at most once for each hart. */
void hart_start(unsigned hart, hart_work* work);

/* Sleeps for ever. */
void hart_park(void) __attribute__((noreturn));
