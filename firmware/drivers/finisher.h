/* firmware/drivers/finisher.h: SiFive test finisher: ends the run. */
#pragma once

void finisher_pass(void) __attribute__((noreturn));

/* What a failure's code may be: the device has 16 bits for it. */
#define FINISHER_MOST 65535u

/* `code` becomes the simulator's diagnosis; above FINISHER_MOST it is FINISHER_MOST. */
void finisher_fail(unsigned code) __attribute__((noreturn));
