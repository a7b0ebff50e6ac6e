/* firmware/boot/boot.h: constants that start.S and C share. */
#pragma once

#define BOOT_MAX_HARTS 64
#define BOOT_STACK_BYTES 8192

#define BOOT_FDT_MAGIC 0xedfe0dd0 /* of a device tree, as a little-endian load sees it */
#define BOOT_FDT_BOOT_HART 28     /* offset of boot_cpuid_phys, big endian */

#define BOOT_MSTATUS_MPP 0x1800
#define BOOT_MSTATUS_ENTER 0x2800 /* MPP = S, FS = initial */

#ifndef __ASSEMBLER__
/* Entry point of each hart that hart 0 has released, else zero. */
extern void (*volatile boot_released[BOOT_MAX_HARTS])(unsigned long hart, void* unused);
#endif
