/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/statistics.h: counters that the simulator and a debugger can find in memory by name; the simulator
 * puts them into the result file. The table is the image's symbol `statistics_table`. It adds no cost to counting,
 * because only set-up writes to it. Freestanding C that C++ also accepts. */
#pragma once

#include <stdint.h>

#include "models/base/freestanding.h"

#define STATISTICS_BLOCKS 1024u
#define STATISTICS_NAMES_MAX 512u /* bytes of a block's names, the zero byte included */

struct statistics_block {
  uint64_t names;    /* address of the counters' names (a-z, 0-9, _), one space between two, and a zero byte */
  uint64_t counters; /* address of as many 64-bit counters; each hart may have a block of the same names */
};

struct statistics_table {
  uint64_t count; /* blocks in use */
  struct statistics_block block[STATISTICS_BLOCKS];
};
_Static_assert(sizeof(struct statistics_table) == 8 + 16 * STATISTICS_BLOCKS, "no padding");

#ifdef __cplusplus
extern "C" {
#endif
extern struct statistics_table statistics_table;

/* Adds a block; one hart calls this during set-up. Names and counters must stay where they are. Ignored once there are
 * STATISTICS_BLOCKS blocks. */
void statistics_add(const char* names, const uint64_t* counters);
#ifdef __cplusplus
}
#endif
