/* SPDX-License-Identifier: Apache-2.0 */
/* models/irq/aplic_regs.h: one interrupt domain of an advanced PLIC (RISC-V AIA 1.0) in MSI delivery mode. All
 * registers are 32 bits wide; what is not listed reads as 0 and ignores writes. Freestanding C that C++ also accepts.
 */
#pragma once

#define APLIC_SIZE 0x4000u
#define APLIC_MAX_SOURCES 1023u

#define APLIC_DOMAINCFG 0x0000u
#define APLIC_DOMAINCFG_FIXED 0x80000000u /* ro  bits 31:24 read as 0x80 */
#define APLIC_DOMAINCFG_IE 0x00000100u    /* rw  MSIs are sent for pending and enabled sources */
#define APLIC_DOMAINCFG_DM 0x00000004u    /* ro  1: MSI delivery */

#define APLIC_SOURCECFG(source) (0x0000u + 4u * (source)) /* source 1 and up */
#define APLIC_SOURCECFG_D 0x400u  /* machine domain: the source is delegated to the supervisor domain */
#define APLIC_SOURCECFG_SM 0x007u /* source mode; 2 and 3 are reserved */
#define APLIC_SOURCECFG_INACTIVE 0u
#define APLIC_SOURCECFG_DETACHED 1u /* the wire is ignored: setip and setipnum make it pending */
#define APLIC_SOURCECFG_EDGE1 4u    /* rising edge */
#define APLIC_SOURCECFG_EDGE0 5u    /* falling edge */
#define APLIC_SOURCECFG_LEVEL1 6u   /* high */
#define APLIC_SOURCECFG_LEVEL0 7u   /* low */

/* Machine domain only: where MSIs go. With HHXW = 0 and guest index 0, hart h has (base PPN | h << LHXS) << 12. */
#define APLIC_MMSIADDRCFG 0x1bc0u        /* base PPN 31:0 */
#define APLIC_MMSIADDRCFGH 0x1bc4u       /* the fields below */
#define APLIC_MMSIADDRCFGH_L 0x80000000u /* locks all four registers until reset */
#define APLIC_MMSIADDRCFGH_HHXS_SHIFT 24 /* high hart index: shift, less 12 */
#define APLIC_MMSIADDRCFGH_HHXS 0x1f000000u
#define APLIC_MMSIADDRCFGH_LHXS_SHIFT 20 /* low hart index: shift */
#define APLIC_MMSIADDRCFGH_LHXS 0x00700000u
#define APLIC_MMSIADDRCFGH_HHXW_SHIFT 16 /* high hart index: bits */
#define APLIC_MMSIADDRCFGH_HHXW 0x00070000u
#define APLIC_MMSIADDRCFGH_LHXW_SHIFT 12 /* low hart index: bits */
#define APLIC_MMSIADDRCFGH_LHXW 0x0000f000u
#define APLIC_MMSIADDRCFGH_PPN 0x00000fffu /* base PPN 43:32 */
#define APLIC_SMSIADDRCFG 0x1bc8u
#define APLIC_SMSIADDRCFGH 0x1bccu /* LHXS and PPN as above; the other fields of mmsiaddrcfgh hold for both */
#define APLIC_PAGE_SHIFT 12        /* a PPN counts pages of 2^12 bytes */

#define APLIC_SETIP(word) (0x1c00u + 4u * (word)) /* read: pending bits */
#define APLIC_SETIPNUM 0x1cdcu
#define APLIC_IN_CLRIP(word) (0x1d00u + 4u * (word)) /* read: rectified inputs */
#define APLIC_CLRIPNUM 0x1ddcu
#define APLIC_SETIE(word) (0x1e00u + 4u * (word)) /* read: enable bits */
#define APLIC_SETIENUM 0x1edcu
#define APLIC_CLRIE(word) (0x1f00u + 4u * (word))
#define APLIC_CLRIENUM 0x1fdcu
#define APLIC_SETIPNUM_LE 0x2000u

#define APLIC_GENMSI 0x3000u /* 31:18 hart index, 12 Busy, 10:0 EIID: sends an MSI */
#define APLIC_GENMSI_BUSY 0x1000u
#define APLIC_TARGET(source) (0x3000u + 4u * (source)) /* 31:18 hart index, 10:0 EIID */
#define APLIC_TARGET_HART_SHIFT 18
#define APLIC_TARGET_HART 0xfffc0000u
#define APLIC_TARGET_EIID 0x000007ffu
