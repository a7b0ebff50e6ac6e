/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/pio/coherent.c: the PIO NIC whose frames lie in cache lines. */
#include "firmware/drivers/pio/pio.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/fdt.h"

static uint64_t lines;
static unsigned rx_control, tx_control; /* the control lines that come next, and that this hart holds */

static volatile uint64_t* rx_line(uint32_t offset) { return (volatile uint64_t*)(lines + PIO_RX_LINES + offset); }
static volatile uint64_t* tx_line(uint32_t offset) { return (volatile uint64_t*)(lines + PIO_TX_LINES + offset); }

/* The first bytes of a frame lie in the control line, the others in the overflow lines. */
static uint32_t inline_bytes(uint32_t bytes) { return bytes < PIO_INLINE_BYTES ? bytes : PIO_INLINE_BYTES; }

static void get_buffer(void) { (void)*tx_line(PIO_CONTROL_LINE(tx_control)); }

static void write(const uint64_t* frame, uint32_t bytes) {
  uint32_t first = inline_bytes(bytes);
  pio_copy(tx_line(PIO_CONTROL_LINE(tx_control) + PIO_INLINE), frame, first);
  pio_copy(tx_line(PIO_OVERFLOW), frame + first / 8, bytes - first);
}

/* The load that commits a frame gets the next buffer. */
static void commit(uint32_t bytes) {
  *tx_line(PIO_CONTROL_LINE(tx_control)) = pio_word(bytes);
  tx_control ^= 1;
  (void)*tx_line(PIO_CONTROL_LINE(tx_control));
}

static uint32_t receive(void) { return pio_length(*rx_line(PIO_CONTROL_LINE(rx_control))); }

static void read(uint64_t* frame, uint32_t bytes) {
  uint32_t first = inline_bytes(bytes);
  pio_copy(frame, rx_line(PIO_CONTROL_LINE(rx_control) + PIO_INLINE), first);
  pio_copy(frame + first / 8, rx_line(PIO_OVERFLOW), bytes - first);
}

/* The load of the other line, which the next receive is, frees this one. */
static void release(void) { rx_control ^= 1; }

static const struct pio form = {get_buffer, write, commit, receive, read, release};

const struct pio* pio_find_coherent(const char* path) {
  struct fdt_walk node;
  if (!fdt_begin(&node, board_device_tree)) return 0;
  while (fdt_next(&node)) {
    uint32_t length = 0;
    const void* reg = fdt_get(&node, "reg", &length);
    if (reg == 0 || length < 32 || !fdt_is_compatible(&node, "sluice,pio-coherent")) continue;
    const char* own = fdt_get(&node, "sluice,path", 0);
    if (own == 0 || !text_equal(own, path)) continue;
    pio_registers = fdt_cells(reg, 0);
    lines = fdt_cells(reg, 4);
    return &form;
  }
  return 0;
}
