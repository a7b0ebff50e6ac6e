/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/pio/coherent.c: the PIO NIC whose frames lie in cache lines. */
#include "firmware/drivers/pio/pio.h"
#include "models/base/measure/hints.h"

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

static void bind(const void* request, uint32_t bytes) {
  sluice_bind((const void*)tx_line(PIO_CONTROL_LINE(tx_control)), request);
  for (uint32_t at = PIO_INLINE_BYTES; at < bytes; at += PIO_LINE)
    sluice_bind((const void*)tx_line(PIO_OVERFLOW + at - PIO_INLINE_BYTES), request);
}

/* The load that commits a frame gets the next buffer. */
static void commit(uint32_t bytes) {
  *tx_line(PIO_CONTROL_LINE(tx_control)) = pio_word(bytes);
  tx_control ^= 1;
  (void)*tx_line(PIO_CONTROL_LINE(tx_control));
}

/* After an answer without a frame, too, the other line is next. */
static uint32_t receive(void) {
  uint32_t bytes = pio_length(*rx_line(PIO_CONTROL_LINE(rx_control)));
  if (bytes == 0) rx_control ^= 1;
  return bytes;
}

static const void* received(void) { return (const void*)rx_line(PIO_CONTROL_LINE(rx_control)); }

static void read(uint64_t* frame, uint32_t bytes) {
  uint32_t first = inline_bytes(bytes);
  pio_copy(frame, rx_line(PIO_CONTROL_LINE(rx_control) + PIO_INLINE), first);
  pio_copy(frame + first / 8, rx_line(PIO_OVERFLOW), bytes - first);
}

/* The load of the other line, which the next receive is, frees this one. */
static void release(void) { rx_control ^= 1; }

static const struct pio form = {get_buffer, write, bind, commit, receive, received, read, release};

const struct pio* pio_open_coherent(uint64_t registers, uint64_t first_line) {
  pio_registers = registers;
  lines = first_line;
  return &form;
}
