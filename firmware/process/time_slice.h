/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/time_slice.h: how long a thread runs while others wait for its hart. */
#pragma once

#include <stdint.h>

#define TIME_SLICE_DEFAULT_US 1000u

/* Reads sluice,time-slice of the device tree's /chosen, microseconds. To be called before memory_reserve(), which may
 * overwrite the tree. */
void time_slice_find(void);

/* The end of a slice that begins now, as interrupt_at() takes it. */
uint64_t time_slice_end(void);
