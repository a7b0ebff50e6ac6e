/* firmware/boot/boot.h: constants that start.S and C share. */
#pragma once

#define BOOT_MAX_HARTS 64

/* Behind the image every hart has, from below: a guard page, the stack of its machine mode's traps, a guard page, and
 * the stack of all else. PMP lets nobody touch a guard page. */
#define BOOT_GUARD_BYTES 4096
#define BOOT_TRAP_STACK_BYTES 4096
#define BOOT_STACK_BYTES 8192
#define BOOT_TRAP_STACK_TOP (BOOT_GUARD_BYTES + BOOT_TRAP_STACK_BYTES) /* from the start of a hart's part */
#define BOOT_HART_BYTES (BOOT_TRAP_STACK_TOP + BOOT_GUARD_BYTES + BOOT_STACK_BYTES)

/* pmpcfg of two guards, NAPOT without permissions and locked, so that they hold in machine mode too; then of
 * everything, NAPOT: read, write, execute. */
#define BOOT_PMP_CONFIG 0x1f9898
#define BOOT_PMP_GUARD_MASK (BOOT_GUARD_BYTES / 8 - 1) /* of pmpaddr: so many low ones say how large the guard is */

#define BOOT_TRAP_FRAME_BYTES 144 /* what both trap handlers push (trap_frame.inc) */

#define BOOT_FDT_MAGIC 0xedfe0dd0 /* of a device tree, as a little-endian load sees it */
#define BOOT_FDT_BOOT_HART 28     /* offset of boot_cpuid_phys, big endian */

#define BOOT_MSTATUS_MPP 0x1800
#define BOOT_MSTATUS_ENTER 0x2800 /* MPP = S, FS = initial */

#ifndef __ASSEMBLER__
/* Entry point of each hart that hart 0 has released, else zero. */
extern void (*volatile boot_released[BOOT_MAX_HARTS])(unsigned long hart, void* unused);
#endif
