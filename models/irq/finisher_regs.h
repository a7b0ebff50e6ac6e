/* SPDX-License-Identifier: Apache-2.0 */
/* models/irq/finisher_regs.h: SiFive's test finisher, as on QEMU's virt machine. Freestanding C that C++ also accepts.
 */
#pragma once

#define FINISHER_SIZE 0x1000u

/* rw  8, 16 or 32 bits; reads as 0. Bits 15:0 are the command, bits 31:16 the exit code of a failure */
#define FINISHER_CONTROL 0x0u
#define FINISHER_COMMAND 0x0000ffffu
#define FINISHER_CODE_SHIFT 16
#define FINISHER_FAIL 0x3333u
#define FINISHER_PASS 0x5555u
#define FINISHER_RESET 0x7777u
