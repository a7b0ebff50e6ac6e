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
#define IMSIC_EITHRESHOLD 0x72u /* identities from this one on do not; 0: all do */
#define IMSIC_EIP0 0x80u        /* pending bits, 64 to a register; odd numbers do not exist */
#define IMSIC_EIP63 0xbfu
#define IMSIC_EIE0 0xc0u /* enable bits, as pending */
#define IMSIC_EIE63 0xffu
#define IMSIC_WORD(select) (((select)&0x3fu) / 2u) /* which 64 identities an eip or eie register has */

/* mtopei and stopei: the identity, which is its priority too. */
#define IMSIC_TOPEI_IDENTITY_SHIFT 16
