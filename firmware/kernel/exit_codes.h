/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/exit_codes.h: test-finisher codes by which the firmware ends a run as failed. Other codes belong to
 * the application. The simulator's diagnosis explains these codes for images that have the symbol sluice_exit_codes
 * (boot/start.S). The file is freestanding C that C++ also accepts. */
#pragma once

#define EXIT_TRAP 3u    /* an unhandled exception; xepc, xcause and xtval describe it */
#define EXIT_NO_NIC 4u  /* a server found no NIC that it has a driver for */
#define EXIT_GAVE_UP 5u /* the kernel could not go on; the console says why */
#define EXIT_STACK 6u   /* a stack has overflowed; mepc, mcause and mtval describe the access, mscratch holds sp */
