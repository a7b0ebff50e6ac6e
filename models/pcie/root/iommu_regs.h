/* SPDX-License-Identifier: Apache-2.0 */
/* models/pcie/root/iommu_regs.h: registers of the IOMMU between the root ports and memory. The model, the driver and
 * the tests include this file. Freestanding C that C++ also accepts.
 *
 * Page tables are those of Sv39 (RISC-V privileged specification): three levels of 512 entries of 8 B; a leaf at level
 * 0, 1 or 2 maps 4 KiB, 2 MiB or 1 GiB. A device's read needs R, its write W. A and D are neither looked at nor set; U
 * and X mean nothing. One table serves all devices. */
#pragma once

#include <stdint.h>

#include "models/base/freestanding.h"

#define IOMMU_SIZE 0x1000u /* of the register window */

#define IOMMU_CONTROL 0x00u         /* rw */
#define IOMMU_CONTROL_TRANSLATE 1u  /* else bus addresses are physical addresses */
#define IOMMU_COMMAND 0x04u         /* wo */
#define IOMMU_COMMAND_INVALIDATE 1u /* forgets every cached translation */
#define IOMMU_ROOT 0x08u            /* rw  8 B  physical address of the root table, a multiple of 4096 */

#define IOMMU_FAULT 0x10u /* w1c  a request was refused; the next two registers keep the first until it is cleared */
#define IOMMU_FAULT_PENDING 1u
#define IOMMU_FAULT_REQUESTER 0x14u /* ro  routing id in bits 15:0, cause in bits 31:16 */
#define IOMMU_FAULT_CAUSE_SHIFT 16
#define IOMMU_FAULT_ADDRESS 0x18u /* ro  8 B  bus address */
#define IOMMU_CAUSE_NOT_MAPPED 1u /* an entry is not valid, or its reserved bits or superpage address are not 0 */
#define IOMMU_CAUSE_PERMISSION 2u /* the leaf lacks R or W */
#define IOMMU_CAUSE_TABLE 3u      /* a table lies outside memory, or the address has more than 39 bits */

#define IOMMU_PTE_VALID 0x01u
#define IOMMU_PTE_READ 0x02u
#define IOMMU_PTE_WRITE 0x04u
#define IOMMU_PTE_EXECUTE 0x08u
#define IOMMU_PTE_LEAF (IOMMU_PTE_READ | IOMMU_PTE_WRITE | IOMMU_PTE_EXECUTE)
#define IOMMU_PTE_ADDRESS_SHIFT 10  /* bits 53:10: physical address in units of 4096 */
#define IOMMU_PTE_RESERVED_SHIFT 54 /* these bits and those above it are zero */
#define IOMMU_TABLE_ENTRIES 512u
#define IOMMU_LEVELS 3u
/* Bits of an address below a leaf's page at a level: 12, 21, 30. */
#define IOMMU_PAGE_SHIFT(level) (12u + 9u * (level))
