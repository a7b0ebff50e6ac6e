/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/apps/pio_loopback.c: sends frames through a PIO NIC whose MAC is in loopback, one at a time, and stamps them
 * by the NIC's own counter, for the sizes in the device tree's /chosen node. The NIC keeps the samples. */
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "models/nic/pio/pio_loopback_codes.h"
#include "models/nic/pio/pio_regs.h"

#define MAX_SIZES 1024u
#define MAX_FRAME 9600u
#define ROUND_TRIPS 100u

static struct {
  uint32_t sizes[MAX_SIZES];
  uint32_t size_count, frames;
  const char* nic; /* path of the NIC that is to be measured */
} plan;

static uint64_t registers, lines;       /* of the NIC */
static unsigned rx_control, tx_control; /* the control lines that come next, and that this hart holds */
static uint64_t *sent, *received;

static uint64_t read_register(uint32_t offset) { return *(volatile uint64_t*)(registers + offset); }
static void write_register(uint32_t offset, uint64_t value) { *(volatile uint64_t*)(registers + offset) = value; }
static volatile uint64_t* rx_line(uint32_t offset) { return (volatile uint64_t*)(lines + PIO_RX_LINES + offset); }
static volatile uint64_t* tx_line(uint32_t offset) { return (volatile uint64_t*)(lines + PIO_TX_LINES + offset); }

static bool read_tree(void) {
  struct fdt_walk node;
  if (!fdt_begin(&node, board_device_tree)) return false;
  while (fdt_next(&node)) {
    uint32_t length = 0;
    if (node.depth == 1 && text_equal(node.name, "chosen")) {
      const void* sizes = fdt_get(&node, "sluice,loopback-sizes", &length);
      for (uint32_t i = 0; sizes != 0 && i < length / 4 && i < MAX_SIZES; i++)
        plan.sizes[plan.size_count++] = fdt_cell(sizes, i);
      plan.nic = fdt_get(&node, "sluice,loopback-nic", 0);
      plan.frames = fdt_get_u32(&node, "sluice,loopback-frames", 0);
    }
  }
  return plan.size_count != 0 && plan.frames != 0 && plan.nic != 0;
}

/* The NIC may come before /chosen in the tree. */
static bool find_nic(void) {
  struct fdt_walk node;
  fdt_begin(&node, board_device_tree);
  while (fdt_next(&node)) {
    uint32_t length = 0;
    const void* reg = fdt_get(&node, "reg", &length);
    if (reg == 0 || length < 32 || !fdt_is_compatible(&node, "sluice,pio-coherent")) continue;
    const char* path = fdt_get(&node, "sluice,path", 0);
    if (path == 0 || !text_equal(path, plan.nic)) continue;
    registers = fdt_cells(reg, 0);
    lines = fdt_cells(reg, 4);
  }
  return registers != 0;
}

static uint64_t measure_round_trip(void) {
  uint64_t first = read_register(PIO_COUNTER), last = first;
  for (unsigned i = 0; i < ROUND_TRIPS; i++) last = read_register(PIO_COUNTER);
  return (last - first + ROUND_TRIPS / 2) / ROUND_TRIPS;
}

/* Copies 32 B a turn, as a C library does. What is behind the frame is copied with it. */
static void copy(volatile uint64_t* to, const volatile uint64_t* from, uint32_t bytes) {
  for (uint32_t at = 0; at < bytes; at += 32) {
    uint64_t a = from[0], b = from[1], c = from[2], d = from[3];
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
    to += 4, from += 4;
  }
}

/* The first bytes of a frame lie in the control line, the others in the overflow lines. */
static uint32_t inline_bytes(uint32_t bytes) { return bytes < PIO_INLINE_BYTES ? bytes : PIO_INLINE_BYTES; }

static void copy_to_lines(uint32_t bytes) {
  uint32_t first = inline_bytes(bytes);
  copy(tx_line(PIO_CONTROL_LINE(tx_control) + PIO_INLINE), sent, first);
  copy(tx_line(PIO_OVERFLOW), sent + first / 8, bytes - first);
}

static void copy_from_lines(uint32_t bytes) {
  uint32_t first = inline_bytes(bytes);
  copy(received, rx_line(PIO_CONTROL_LINE(rx_control) + PIO_INLINE), first);
  copy(received + first / 8, rx_line(PIO_OVERFLOW), bytes - first);
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
  fill(bytes, number);
  uint64_t got_buffer = read_register(PIO_COUNTER);
  copy_to_lines(bytes);
  *tx_line(PIO_CONTROL_LINE(tx_control)) =
      PIO_WORD_VALID | PIO_WORD_TYPE_BYPASS << PIO_WORD_TYPE_SHIFT | (uint64_t)bytes << PIO_WORD_LENGTH_SHIFT;
  tx_control ^= 1;
  (void)*tx_line(PIO_CONTROL_LINE(tx_control)); /* commits */
  __asm__ volatile("fence" ::: "memory");

  uint64_t word = *rx_line(PIO_CONTROL_LINE(rx_control));
  if (!(word & PIO_WORD_VALID)) return PIO_LOOPBACK_NO_FRAME;
  if ((word >> PIO_WORD_LENGTH_SHIFT & PIO_WORD_LENGTH_MASK) != bytes) return PIO_LOOPBACK_WRONG;
  copy_from_lines(bytes);
  uint64_t complete = read_register(PIO_COUNTER);
  rx_control ^= 1; /* the load of that line frees this one */
  if (!is_right(bytes)) return PIO_LOOPBACK_WRONG;

  write_register(PIO_HOST_TX_BUFFER, got_buffer);
  write_register(PIO_HOST_READ_COMPLETE, complete);
  write_register(PIO_SAMPLE, bytes);
  return 0;
}

int application_main(void) {
  account(application);
  if (!read_tree()) return PIO_LOOPBACK_NO_PLAN;
  if (!find_nic()) return PIO_LOOPBACK_NO_DEVICE;
  sent = memory_reserve(MAX_FRAME + 32, 128);
  received = memory_reserve(MAX_FRAME + 32, 128);
  write_register(PIO_CONTROL, PIO_CONTROL_LOOPBACK);
  write_register(PIO_HOST_ROUND_TRIP, measure_round_trip());
  (void)*tx_line(PIO_CONTROL_LINE(tx_control)); /* the first transmit buffer */
  for (uint32_t s = 0; s < plan.size_count; s++)
    for (uint32_t n = 0; n < plan.frames; n++) {
      int error = measure(plan.sizes[s], n);
      if (error != 0) return error;
    }
  return 0;
}
