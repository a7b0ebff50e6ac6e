/* SPDX-License-Identifier: Apache-2.0 */
/* models/accel/dma_requester/dma_bench_codes.h: exit codes with which the firmware dma-bench ends a failed run by the
 * test finisher, in addition to those of firmware/kernel/exit_codes.h. The simulator's diagnosis explains them.
 * Freestanding C that C++ also accepts. */
#pragma once

#define DMA_BENCH_NO_DEVICE 16 /* there is no DMA requester */
#define DMA_BENCH_NO_PLAN 17   /* the device tree asks for no measurements */
#define DMA_BENCH_REFUSED 18   /* DMAR_STATUS said DMAR_STATUS_ERROR after a command */
#define DMA_BENCH_FAILED 19    /* at least one transaction of a command failed */
