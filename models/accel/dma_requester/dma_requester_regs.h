/* SPDX-License-Identifier: Apache-2.0 */
/* models/accel/dma_requester/dma_requester_regs.h: registers of the DMA requester, an endpoint that issues reads and
 * writes of host memory on command of software, and time-stamps each. The model, the driver and the tests include this
 * file. Freestanding C that C++ also accepts.
 *
 * PCIe function: DMAR_VENDOR_ID / DMAR_DEVICE_ID. BAR 0: 64-bit prefetchable memory, DMAR_BAR0_SIZE.
 *
 * Access: little endian, aligned, by the register's width; the registers of 8 B also as two halves of 4 B. Anything
 * else reads as all ones or is dropped, and is counted. While a command runs, writes to registers other than CONTROL
 * are dropped and counted. Reset values are 0. */
#pragma once

#include <stdint.h>

#include "models/base/freestanding.h"

#define DMAR_VENDOR_ID 0x534cu /* no vendor's: this device exists in no silicon */
#define DMAR_DEVICE_ID 0x0d3au
#define DMAR_CLASS_CODE 0x088000u /* system peripheral, other */
#define DMAR_BAR_REGISTERS 0
#define DMAR_BAR0_SIZE 0x1000u

#define DMAR_REVISION 0x00u /* ro  DMAR_REVISION_1 */
#define DMAR_REVISION_1 0x00010000u

#define DMAR_CONTROL 0x04u    /* wo */
#define DMAR_CONTROL_START 1u /* starts the command in the registers; ignored and counted while busy */
#define DMAR_CONTROL_STOP 2u  /* issues nothing more; the command ends when what is under way has ended */

#define DMAR_STATUS 0x08u /* ro */
#define DMAR_STATUS_BUSY 1u
#define DMAR_STATUS_DONE 2u   /* the last command has ended */
#define DMAR_STATUS_ERROR 4u  /* the last command was not started: DMAR_ERROR says why */
#define DMAR_STATUS_FAILED 8u /* at least one transaction of the last command failed */

#define DMAR_ERROR 0x0cu /* ro  why a command was refused */
#define DMAR_ERROR_NONE 0u
#define DMAR_ERROR_OPERATION 1u   /* no such operation, pattern or interface */
#define DMAR_ERROR_SIZE 2u        /* size is 1 to DMAR_SIZE_MAX */
#define DMAR_ERROR_UNIT 3u        /* a slot must hold offset + size */
#define DMAR_ERROR_WINDOW 4u      /* the window must hold a slot, and end within the address space */
#define DMAR_ERROR_OUTSTANDING 5u /* 1 to DMAR_OUTSTANDING_MAX */
#define DMAR_ERROR_COUNT 6u       /* at least 1 */
#define DMAR_ERROR_BUS_MASTER 7u  /* bus mastering is off */

#define DMAR_OPERATION 0x10u /* rw  what a transaction is */
#define DMAR_READ 0u         /* a read; ends when its last byte has arrived */
#define DMAR_WRITE 1u        /* a write; ends when its last bit has left the device */
#define DMAR_WRITE_READ 2u   /* a write and then a read of the same bytes, which must be those written */
#define DMAR_OPERATIONS 3u

#define DMAR_PATTERN 0x14u /* rw  which slot is next */
#define DMAR_SEQUENTIAL 0u
#define DMAR_RANDOM 1u

#define DMAR_INTERFACE 0x18u /* rw */
#define DMAR_ENGINE 0u       /* the DMA engine: its latency and its rate */
#define DMAR_DIRECT 1u       /* the command interface: no engine latency, no rate cap */

#define DMAR_LABEL 0x1cu     /* rw  kept with the command's results; the device does not interpret it */
#define DMAR_LABEL_COLD 1u   /* as firmware/apps/dma_bench.c uses it: the window was evicted from the caches before */
#define DMAR_LABEL_STREAM 2u /* likewise: many transactions are under way, for the rate; else one, for the latency */

#define DMAR_WINDOW 0x20u      /* rw  8 B  bus address of the window's first byte */
#define DMAR_WINDOW_SIZE 0x28u /* rw  8 B  bytes; a slot that does not fit whole is left out */
#define DMAR_SIZE 0x30u        /* rw  bytes of a transaction */
#define DMAR_SIZE_MAX 65536u
#define DMAR_UNIT 0x34u        /* rw  bytes from slot to slot */
#define DMAR_OFFSET 0x38u      /* rw  bytes from a slot's start to the transaction's */
#define DMAR_OUTSTANDING 0x3cu /* rw  transactions under way at most; 1 measures latency */
#define DMAR_OUTSTANDING_MAX 1024u
#define DMAR_WARMUP 0x40u /* rw  transactions before those that count */
#define DMAR_COUNT 0x44u  /* rw  transactions that count; more follow until the last of these has ended */
#define DMAR_RECORD 0x48u /* rw  8 B  where a struct dmar_record is written when the command ends; 0: nowhere */

/* Results of the running command or, if none runs, of the last one. Only counted transactions are included. */
#define DMAR_COMPLETED 0x50u   /* ro  ended well */
#define DMAR_FAILED 0x54u      /* ro  ended with an error, or read other bytes than were written */
#define DMAR_ELAPSED 0x58u     /* ro  8 B  ns, from the end of the warm-up to the end of the last transaction */
#define DMAR_LATENCY_SUM 0x60u /* ro  8 B  ns, over the completed ones, from their issue to their end */
#define DMAR_LATENCY_MIN 0x68u /* ro  ns */
#define DMAR_LATENCY_MAX 0x6cu /* ro  ns */

struct dmar_record {
  uint32_t status; /* as DMAR_STATUS; never 0. One write stores the whole record, after all data */
  uint32_t label;
  uint32_t completed;
  uint32_t failed;
};
_Static_assert(sizeof(struct dmar_record) == 16, "one DMA write within a cache line");
