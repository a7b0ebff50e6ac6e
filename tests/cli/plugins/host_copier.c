/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cli/plugins/host_copier.c: has host_copier.cpp copy what this hart has just written, and compares it when the
 * interrupt comes; then has it copy from where no memory is. */
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"

#define COPIER ((volatile uint64_t*)0x13000000)
#define BYTES 1000u

static volatile uint32_t told;
static unsigned interrupts;

static void on_message(void* unused) {
  (void)unused;
  told = 1;
  interrupts++;
}

static void copy(const uint8_t* from, uint64_t bytes) {
  told = 0;
  COPIER[0] = (uint64_t)(uintptr_t)from;
  COPIER[4] = bytes;
  while (!told) interrupt_idle(&told);
}

int application_main(void) {
  uint64_t address = 0, start;
  uint32_t data = 0;
  unsigned wrong = 0;
  interrupt_setup_hart(0);
  interrupt_connect(0, 0, on_message, 0, &address, &data);
  uint8_t* from = memory_reserve(BYTES + 64, 128);
  uint8_t* to = memory_reserve(BYTES + 64, 128);
  COPIER[1] = (uint64_t)(uintptr_t)to + 3;
  COPIER[2] = address;
  COPIER[3] = data;
  for (unsigned turn = 0; turn < 3; turn++) {
    for (unsigned n = 0; n < BYTES + 8; n++) from[n] = (uint8_t)(n * 7 + turn), to[n] = 0xee;
    start = csr_read(cycle);
    copy(from + 5, BYTES);
    print("copied in %lu cycles\n", (unsigned long)(csr_read(cycle) - start));
    for (unsigned n = 0; n < BYTES; n++) wrong += to[n + 3] != (uint8_t)((n + 5) * 7 + turn);
    wrong += to[2] != 0xee || to[BYTES + 3] != 0xee;
  }
  copy((const uint8_t*)0x1000, 8);
  print("%u wrong, %u interrupts, %lu failed\n", wrong, interrupts, (unsigned long)COPIER[5]);
  return 0;
}
