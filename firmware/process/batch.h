/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/batch.h: work without a deadline, for harts that nobody else needs: as many threads as the device
 * tree's /chosen has in sluice,batch-threads, of the process image process-batch. Each belongs to one hart, and those
 * of a hart take turns. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads the device tree. To be called before memory_reserve(), which may overwrite it. */
void batch_find(void);

/* Makes the process, with this number, and gives its threads to the harts in turn, from the first or the last one on.
 * The counter `batch_units` of the image says how much work they have done, each unit firmware/user/batch.c's. */
void batch_setup(unsigned harts, uint16_t process, bool from_last);

bool batch_has_work(unsigned hart);

/* Whether the hart is wanted elsewhere; asked after each interrupt. */
typedef bool batch_until(const void* context);

/* Runs the hart's threads by turns of a time slice until until(context), or none of them is left. */
void batch_run(unsigned hart, batch_until* until, const void* context);

/* Runs one of them until until(context); the next one has the next turn. Sets no deadline of its own. */
void batch_take_turn(unsigned hart, batch_until* until, const void* context);
