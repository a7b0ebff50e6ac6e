/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/system_call.h: what a process may ask of the kernel: the number in a7, arguments in a0 and a1, the
 * answer in a0. User code includes it, too. */
#pragma once

#define SYSTEM_CALL_EXIT 1  /* (code): never returns */
#define SYSTEM_CALL_PRINT 2 /* (text, bytes): at most SYSTEM_CALL_PRINT_MOST; how many were printed */
#define SYSTEM_CALL_YIELD 3 /* (): another process may run */
#define SYSTEM_CALL_PRINT_MOST 256u
/* (names, counters): as statistics_add() of firmware/kernel/statistics.h. The counters of a block lie in one page. 0,
 * or SYSTEM_CALL_ERROR: they do not, are not the process's, or there is no room for more. */
#define SYSTEM_CALL_COUNT 4

/* Memory that a process has without asking: a page is there, and zero, when it is first touched. */
#define PROCESS_HEAP 0x3fc8000000ul
#define PROCESS_HEAP_END 0x3fd0000000ul

#define SYSTEM_CALL_ERROR (~0ul) /* the number is no call's, or an address is not the process's */
