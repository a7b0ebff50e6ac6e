/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/mischief.h: an RPC program whose procedures do what none should. */
#pragma once

#define RPC_PROGRAM_MISCHIEF 0x20000005u
#define MISCHIEF_VERSION 1u
#define MISCHIEF_NULL 0u
#define MISCHIEF_COUNT 1u /* {} -> {unsigned}: how often it was called, in this process */
#define MISCHIEF_CRASH 2u /* reads the kernel's memory */
#define MISCHIEF_DEEP 3u  /* writes over its stack */
#define MISCHIEF_LOOP 4u  /* never returns */
#define MISCHIEF_LONG 5u  /* {} -> {unsigned}: gives a result that is longer than the schema says */
#define MISCHIEF_SNOOP 6u /* loads a line of the next process */
#define MISCHIEF_EXIT 7u
#define MISCHIEF_PRINT 8u /* {} -> {int}: what the kernel answers to a request to print from a control line */
#define MISCHIEF_STAY 9u  /* takes what the lines of worker 0 bring, and goes back for none of it */
#define MISCHIEF_HANG 10u /* never returns, and does nothing at all */
#define MISCHIEF_LINE 11u /* loads a line of worker 0 that the NIC does not give */
