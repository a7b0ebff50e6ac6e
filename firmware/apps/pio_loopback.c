/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/apps/pio_loopback.c: sends frames through a PIO NIC whose MAC is in loopback, one at a time, and stamps them
 * by the NIC's own counter, for the sizes in the device tree's /chosen node. The NIC keeps the samples. */
#include "firmware/drivers/pio/pio.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "models/nic/pio/pio_loopback_codes.h"

#define MAX_SIZES 1024u
#define MAX_FRAME 9600u
#define ROUND_TRIPS 100u

static struct {
  uint32_t sizes[MAX_SIZES];
  uint32_t size_count, frames;
  const char* nic; /* path of the NIC that is to be measured */
} plan;

static const struct pio* nic;
static uint64_t *sent, *received;

static bool read_tree(void) {
  struct fdt_walk node;
  if (!fdt_find_chosen(&node, board_device_tree)) return false;
  uint32_t length = 0;
  const void* sizes = fdt_get(&node, "sluice,loopback-sizes", &length);
  for (uint32_t i = 0; sizes != 0 && i < length / 4 && i < MAX_SIZES; i++)
    plan.sizes[plan.size_count++] = fdt_cell(sizes, i);
  plan.nic = fdt_get(&node, "sluice,loopback-nic", 0);
  plan.frames = fdt_get_u32(&node, "sluice,loopback-frames", 0);
  return plan.size_count != 0 && plan.frames != 0 && plan.nic != 0;
}

__attribute__((noinline)) static uint64_t measure_round_trip(void) {
  const volatile uint64_t* counter = (const volatile uint64_t*)(pio_registers + PIO_COUNTER);
  uint64_t first = *counter, last = first;
  for (unsigned i = 0; i < ROUND_TRIPS; i++) last = *counter;
  return (last - first + ROUND_TRIPS / 2) / ROUND_TRIPS;
}

static void fill(uint32_t bytes, uint32_t number) {
  for (uint32_t i = 0; i < (bytes + 7) / 8; i++) sent[i] = (uint64_t)number << 32 ^ i * 0x9e3779b97f4a7c15ull;
}

static bool is_right(uint32_t bytes) {
  const uint8_t *a = (const uint8_t*)sent, *b = (const uint8_t*)received;
  for (uint32_t i = 0; i < bytes; i++)
    if (a[i] != b[i]) return false;
  return true;
}

static int measure(uint32_t bytes, uint32_t number) {
  nic->get_buffer();
  fill(bytes, number);
  uint64_t got_buffer = pio_register(PIO_COUNTER);
  nic->write(sent, bytes);
  nic->commit(bytes);
  fence_all();

  uint32_t length = nic->receive();
  if (length == 0) return PIO_LOOPBACK_NO_FRAME;
  if (length != bytes) return PIO_LOOPBACK_WRONG;
  nic->read(received, bytes);
  uint64_t complete = pio_register(PIO_COUNTER);
  nic->release();
  if (!is_right(bytes)) return PIO_LOOPBACK_WRONG;

  pio_set_register(PIO_HOST_TX_BUFFER, got_buffer);
  pio_set_register(PIO_HOST_READ_COMPLETE, complete);
  pio_set_register(PIO_SAMPLE, bytes);
  return 0;
}

int application_main(void) {
  account(application);
  if (!read_tree()) return PIO_LOOPBACK_NO_PLAN;
  nic = pio_find(plan.nic);
  if (nic == 0) return PIO_LOOPBACK_NO_DEVICE;
  sent = memory_reserve(MAX_FRAME + 32, 128);
  received = memory_reserve(MAX_FRAME + 32, 128);
  pio_set_register(PIO_CONTROL, PIO_CONTROL_LOOPBACK);
  measure_round_trip(); /* brings its code into the caches */
  pio_set_register(PIO_HOST_ROUND_TRIP, measure_round_trip());
  for (uint32_t s = 0; s < plan.size_count; s++)
    for (uint32_t n = 0; n < plan.frames; n++) {
      int error = measure(plan.sizes[s], n);
      if (error != 0) return error;
    }
  (void)pio_register(PIO_COUNTER); /* the last sample is there before the run ends */
  return 0;
}
