/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/statistics.c */
#include "firmware/kernel/statistics.h"

__attribute__((used, externally_visible)) struct statistics_table statistics_table;

void statistics_add(const char* names, const uint64_t* counters) {
  if (statistics_table.count == STATISTICS_BLOCKS) return;
  statistics_table.block[statistics_table.count] =
      (struct statistics_block){(uint64_t)(uintptr_t)names, (uint64_t)(uintptr_t)counters};
  statistics_table.count++;
}
