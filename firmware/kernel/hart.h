/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/hart.h: the number of this hart, and how to start work on other harts. */
#pragma once

#include <stdint.h>

typedef void hart_work(unsigned long hart, void* unused);

/* The hart's number in the image, from 0; sscratch holds it in supervisor mode. */
unsigned hart_id(void);
void hart_set_id(unsigned hart);

/* Wakes a hart that waits in boot/start.S and lets it run `work` in supervisor mode. Call it once at most per hart. */
void hart_start(unsigned hart, hart_work* work);

/* Keeps the hart busy for so long, by its cycle counter: to the end of the turn of its loop in which the time is over.
 * Where the device tree does not say the core's frequency, by `time`, and longer by less than a tick of that. */
void hart_spin(uint32_t nanoseconds);

/* Sleeps for ever. */
void hart_park(void) __attribute__((noreturn));
