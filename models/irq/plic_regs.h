/* SPDX-License-Identifier: Apache-2.0 */
/* models/irq/plic_regs.h: platform-level interrupt controller (RISC-V PLIC 1.0, SiFive's layout). All registers are 32
 * bits wide. Context 2h is hart h in machine mode, context 2h + 1 the same hart in supervisor mode. Freestanding C that
 * C++ also accepts. */
#pragma once

#define PLIC_SIZE 0x4000000u
#define PLIC_MAX_SOURCES 1023u
#define PLIC_MAX_CONTEXTS 15872u

#define PLIC_PRIORITY(source) (0x000000u + 4u * (source)) /* rw  source 1 and up; priority 0 never interrupts */
#define PLIC_PENDING(word) (0x001000u + 4u * (word))      /* ro  sources 32*word to 32*word + 31 */
#define PLIC_ENABLE(context, word) (0x002000u + 0x80u * (context) + 4u * (word)) /* rw  as PLIC_PENDING */
#define PLIC_THRESHOLD(context) (0x200000u + 0x1000u * (context)) /* rw  only priorities above it interrupt */
/* Read: claims the enabled pending source of highest priority (of equals the lowest number); 0 if there is none.
 * Write: completes the source written. */
#define PLIC_CLAIM(context) (0x200004u + 0x1000u * (context))
