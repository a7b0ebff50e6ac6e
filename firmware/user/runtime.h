/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/runtime.h: what RPC programs use of a kernel (memory_reserve(), hart_spin()), in a process. */
#pragma once

#include <stdint.h>

/* core_frequency: ticks of `cycle` a second. */
void runtime_setup(uint64_t core_frequency);

struct service_start;
/* For a process that has one. Its memory_reserve_dma() is that of its start. */
void runtime_start(const struct service_start* start);
