/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/boot/boot.h: constants that start.S and C share. */
#pragma once

#define BOOT_MAX_HARTS 64

/* Each hart has four regions behind the image, in ascending order: a guard page, the stack for machine-mode traps, a
 * guard page, and the stack for everything else. PMP denies every access to a guard page. */
#define BOOT_GUARD_BYTES 4096
#define BOOT_TRAP_STACK_BYTES 4096
#define BOOT_STACK_BYTES 8192
#define BOOT_TRAP_STACK_TOP (BOOT_GUARD_BYTES + BOOT_TRAP_STACK_BYTES) /* offset in the hart's regions */
#define BOOT_HART_BYTES (BOOT_TRAP_STACK_TOP + BOOT_GUARD_BYTES + BOOT_STACK_BYTES)

/* pmpcfg for three NAPOT entries. The first two are the guard pages: no permissions, and locked, so that they bind
 * machine mode too. The third covers all addresses: read, write, execute. */
#define BOOT_PMP_CONFIG 0x1f9898
#define BOOT_PMP_GUARD_MASK (BOOT_GUARD_BYTES / 8 - 1) /* low bits to set in pmpaddr: NAPOT size of a guard page */

#define BOOT_TRAP_FRAME_BYTES 144 /* what both trap handlers push (trap_frame.inc) */

#define BOOT_FDT_MAGIC 0xedfe0dd0 /* device-tree magic, as a little-endian load reads it */
#define BOOT_FDT_BOOT_HART 28     /* offset of boot_cpuid_phys, big endian */

#define BOOT_MSTATUS_MPP 0x1800
#define BOOT_MSTATUS_ENTER 0x2800 /* MPP = S, FS = initial */

#ifndef __ASSEMBLER__
/* Entry point of each hart that hart 0 has released, else zero. */
extern void (*volatile boot_released[BOOT_MAX_HARTS])(unsigned long hart, void* unused);
#endif
