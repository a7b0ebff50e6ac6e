/* SPDX-License-Identifier: Apache-2.0 */
/* models/irq/imsic_regs.h: incoming MSI controller (RISC-V AIA 1.0): memory page and indirect registers of an interrupt
 * file. Freestanding C that C++ also accepts. */
#pragma once

#define IMSIC_PAGE 0x1000u /* one per hart and level; the pages of a level follow each other */
#define IMSIC_MAX_IDENTITIES 2047u

/* Registers in the page: 32 bits wide, read as 0. All other offsets read as 0 and ignore writes. */
#define IMSIC_SETEIPNUM_LE 0x000u /* the identity written becomes pending */
#define IMSIC_SETEIPNUM_BE 0x004u /* the same, its bytes in big-endian order */

/* Indirect registers, reached by miselect and mireg or by siselect and sireg. */
#define IMSIC_EIDELIVERY 0x70u  /* 1: interrupts reach the hart */
#define IMSIC_EITHRESHOLD 0x72u /* only identities below this one reach the hart; 0: all do */
#define IMSIC_EIP0 0x80u        /* pending bits, 64 to a register; odd numbers do not exist */
#define IMSIC_EIP63 0xbfu
#define IMSIC_EIE0 0xc0u /* enable bits, numbered like the pending bits */
#define IMSIC_EIE63 0xffu
#define IMSIC_WORD(select) (((select)&0x3fu) / 2u) /* index of the 64 identities of an eip or eie register */

/* mtopei and stopei: the identity in bits 26:16 and, as the priority, again in bits 10:0. */
#define IMSIC_TOPEI_IDENTITY_SHIFT 16
