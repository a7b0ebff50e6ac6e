/* models/accel/dma_requester/dma_bench_codes.h: why the firmware dma-bench ends a run as failed, as the test finisher's
 * code, beside those of firmware/kernel/exit_codes.h. Freestanding C that C++ also accepts: the simulator's diagnosis
 * says what they mean. */
#pragma once

#define DMA_BENCH_NO_DEVICE 16 /* there is no DMA requester */
#define DMA_BENCH_NO_PLAN 17   /* the device tree asks for no measurements */
#define DMA_BENCH_REFUSED 18   /* DMAR_STATUS said DMAR_STATUS_ERROR after a command */
#define DMA_BENCH_FAILED 19    /* of a command's transactions at least one failed */
