/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/time_slice.c */
#include "firmware/process/time_slice.h"

#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/fdt.h"

static uint64_t ticks;

void time_slice_find(void) {
  struct fdt_walk node;
  uint64_t us = TIME_SLICE_DEFAULT_US;
  if (fdt_find_chosen(&node, board_device_tree)) us = fdt_get_u32(&node, "sluice,time-slice", TIME_SLICE_DEFAULT_US);
  ticks = us * (board.timebase_frequency / 1000) / 1000;
}

uint64_t time_slice_end(void) { return csr_read(time) + ticks; }
