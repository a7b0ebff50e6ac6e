/* SPDX-License-Identifier: Apache-2.0 */
/* models/irq/clint_regs.h: the core-local interruptor, in the layout of SiFive's CLINT, which is that of an ACLINT's
 * MSWI and MTIMER devices put together. Freestanding C that C++ also accepts. */
#pragma once

#define CLINT_SIZE 0x10000u
#define CLINT_MAX_HARTS 4095u

#define CLINT_MSIP(hart) (0x0000u + 4u * (hart))     /* rw  32 bits; bit 0 drives the hart's mip.MSIP */
#define CLINT_MTIMECMP(hart) (0x4000u + 8u * (hart)) /* rw  64 bits, or two of 32: mip.MTIP while mtime >= mtimecmp */
#define CLINT_MTIME 0xbff8u                          /* rw  64 bits, or two of 32: ticks of the timebase */
