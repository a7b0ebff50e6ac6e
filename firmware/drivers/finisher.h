/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/finisher.h: SiFive test finisher: ends the run. */
#pragma once

void finisher_pass(void) __attribute__((noreturn));

/* Largest failure code: the device has 16 bits for it. */
#define FINISHER_MOST 65535u

/* Ends the run as failed; the simulator's diagnosis names `code`. A code above FINISHER_MOST becomes FINISHER_MOST. */
void finisher_fail(unsigned code) __attribute__((noreturn));
