/* firmware/drivers/finisher.h: SiFive test finisher: ends the run. */
#pragma once

void finisher_pass(void) __attribute__((noreturn));

/* `code` becomes the simulator's diagnosis; 1 to 65535. */
void finisher_fail(unsigned code) __attribute__((noreturn));
