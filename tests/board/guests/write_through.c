/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/write_through.c: the packet buffer of a PIO NIC as write-through memory, beside the same bytes as
 * memory of type IO, through which another one would see and change them. Prints how many cycles accesses take.
 *
 * Fails with 1: no PIO NIC; 2: a value that was written; 3: a changed line was seen without an invalidation, or not
 * seen after it; 4: a store that did not reach the device. */
#include <stdint.h>

#include "firmware/drivers/pcie.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/start.h"
#include "firmware/memory/translation.h"
#include "models/nic/pio/pio_regs.h"

#define LINE 128u
#define LINES 4u
#define LONG 20000u /* cycles: more than any access takes */

static uint64_t device, cached; /* addresses of the packet buffer: type IO, and write-through */
static uint64_t word;           /* what was loaded last */

static volatile uint64_t* device_word(unsigned line) { return (volatile uint64_t*)(device + line * LINE); }
static volatile uint64_t* cached_word(unsigned line) { return (volatile uint64_t*)(cached + line * LINE); }

static uint64_t now(void) {
  uint64_t cycle;
  __asm__ volatile("rdcycle %0" : "=r"(cycle) : : "memory");
  return cycle;
}

/* Cycles of a load. */
static uint64_t load(volatile uint64_t* at) {
  uint64_t start = now();
  word = *at;
  __asm__ volatile("" : : "r"(word) : "memory");
  return now() - start;
}

/* Cycles of loads from all lines. */
static uint64_t load_all(void) {
  uint64_t start = now();
  for (unsigned n = 0; n < LINES; n++) word += *cached_word(n);
  return now() - start;
}

static void wait(uint64_t cycles) {
  for (uint64_t end = now() + cycles; now() < end;) {
  }
}

/* Changes a word of the device, and waits until it is there. */
static void change(unsigned line, uint64_t value) {
  *device_word(line) = value;
  load(device_word(line));
}

static void invalidate_all(void) {
  for (unsigned n = 0; n < LINES; n++) cache_invalidate((const void*)cached_word(n));
}

static int check(void) {
  for (unsigned n = 0; n < LINES; n++) change(n, n + 100);
  uint64_t uncached = load(device_word(0));
  if (word != 100) return 2;
  uint64_t miss = load(cached_word(0));
  if (word != 100) return 2;
  uint64_t hit = load(cached_word(0));
  if (word != 100) return 2;
  change(0, 7);
  load(cached_word(0));
  if (word != 100) return 3;
  cache_invalidate((const void*)cached_word(0));
  load(cached_word(0));
  if (word != 7) return 3;

  *cached_word(0) = 8;
  load(cached_word(0));
  if (word != 8) return 2;
  load(device_word(0));
  if (word != 8) return 4;

  cache_flush((const void*)cached_word(0));
  prefetch_read((const void*)cached_word(0));
  wait(LONG);
  uint64_t hidden = load(cached_word(0));
  if (word != 8) return 2;
  cache_invalidate((const void*)cached_word(0));
  prefetch_read((const void*)cached_word(0));
  uint64_t awaited = load(cached_word(0));
  if (word != 8) return 2;

  invalidate_all();
  uint64_t serial = load_all();
  invalidate_all();
  for (unsigned n = 0; n < LINES; n++) prefetch_read((const void*)cached_word(n));
  uint64_t beside = load_all();
  print("uncached %lu miss %lu hit %lu hidden %lu awaited %lu serial %lu beside %lu\n", uncached, miss, hit, hidden,
        awaited, serial, beside);
  return 0;
}

int application_main(void) {
  pcie_setup();
  const struct pcie_function* nic = 0;
  for (unsigned n = 0; (nic = pcie_function(n)) != 0; n++)
    if (nic->vendor_id == PIO_VENDOR_ID && nic->device_id == PIO_DEVICE_ID) break;
  if (nic == 0) return 1;
  translation_setup();
  uint64_t buffer = nic->bar[PIO_BAR] + PIO_PACKET_BUFFER;
  device = translation_map(buffer, LINES * LINE, MEMORY_IO);
  cached = translation_map(buffer, LINES * LINE, MEMORY_WRITE_THROUGH);
  check(); /* brings the code to the caches */
  invalidate_all();
  return check();
}
