/* firmware/kernel/statistics.h: counters that whoever looks at the memory can find and name: the simulator, which puts
 * them into the result file, and a debugger. The table is the image's symbol `statistics_table`. Counting costs what it
 * costs anyway; only set-up writes here. Freestanding C that C++ also accepts. */
#pragma once

#include <stdint.h>

#include "models/base/freestanding.h"

#define STATISTICS_BLOCKS 256u
#define STATISTICS_NAMES_MAX 512u /* bytes of a block's names, the zero byte included */

struct statistics_block {
  uint64_t names;    /* address of text: a name for each counter (a-z, 0-9, _), one space between, a zero byte */
  uint64_t counters; /* address of that many 64-bit counters; blocks with the same names belong to several harts */
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

/* Called by one hart, during set-up. Both must stay where they are. Beyond STATISTICS_BLOCKS, nothing happens. */
void statistics_add(const char* names, const uint64_t* counters);
#ifdef __cplusplus
}
#endif
