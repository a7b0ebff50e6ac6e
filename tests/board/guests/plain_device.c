/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/plain_device.c: every hart uses the plain TLM-2.0 device of disturbed_run.cpp, which makes its
 * callers wait, and hart 0 says what it has seen. */
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/start.h"

#define DEVICE ((volatile uint64_t*)0x11000000)
#define ACCESSES 64u

static volatile uint32_t finished;
static uint64_t least = ~0ull, most;

/* Work between accesses takes a different time each round and on each hart. */
static uint64_t use_device(unsigned hart) {
  uint64_t hash = 0;
  for (uint64_t i = 0; i < ACCESSES; i++) {
    for (volatile unsigned n = 0; n < i * 7 % 29 + hart; n++) {
    }
    uint64_t start = csr_read(cycle);
    uint64_t count = DEVICE[1];
    uint64_t cycles = csr_read(cycle) - start;
    hash = hash * 31 + count;
    if (hart != 0) continue;
    if (cycles < least) least = cycles;
    if (cycles > most) most = cycles;
    DEVICE[0] = hash;
    if (DEVICE[0] != hash) hart_park();
  }
  return hash;
}

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  use_device((unsigned)hart);
  __atomic_fetch_add(&finished, 1, __ATOMIC_RELEASE);
  hart_park();
}

int application_main(void) {
  for (unsigned hart = 1; hart < board.harts; hart++) hart_start(hart, secondary_main);
  uint64_t hash = use_device(0);
  while (finished + 1 < board.harts) cpu_pause();
  print("plain device: hash %lx, %lu to %lu cycles\n", (unsigned long)hash, (unsigned long)least, (unsigned long)most);
  return 0;
}
