/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/pio/pio.h: a NIC whose frames the host reads and writes itself: one frame at a time in each
 * direction. For one hart. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "models/nic/pio/pio_regs.h"

/* One form of the NIC. A frame's bytes are copied 32 at a time, so what is behind a frame is copied with it. Frames in
 * memory may have any alignment, which the core allows. */
struct pio {
  /* Waits for a buffer for the next frame. */
  void (*get_buffer)(void);
  /* Copies a frame to the buffer. */
  void (*write)(const uint64_t* frame, uint32_t bytes);
  /* The frame in the buffer belongs to the request whose bytes lie at an address. For the ledger; takes one hint for
   * each line. */
  void (*bind)(const void* request, uint32_t bytes);
  /* Sends the frame in the buffer. */
  void (*commit)(uint32_t bytes);
  /* Waits for a frame. Returns its length; 0: none has come in the block time. */
  uint32_t (*receive)(void);
  /* Address from which a load has brought the received frame's request, for sluice_bind(). */
  const void* (*received)(void);
  /* Copies the received frame to memory. */
  void (*read)(uint64_t* frame, uint32_t bytes);
  /* The received frame is no longer needed. */
  void (*release)(void);
};

/* Finds the NIC with this path (sluice,path in the device tree); 0: there is none. To be called before
 * memory_reserve(), which may overwrite the tree. */
const struct pio* pio_find(const char* path);

struct pcie_function;

/* The NIC whose registers and lines are at these addresses. */
const struct pio* pio_open_coherent(uint64_t registers, uint64_t lines);
/* The NIC that is this PCIe function. Turns translation on for this hart. */
const struct pio* pio_open_pcie(const struct pcie_function* function);

extern uint64_t pio_registers; /* address; 0: no NIC has been opened */

static inline uint64_t pio_register(uint32_t offset) { return *(volatile uint64_t*)(pio_registers + offset); }
static inline void pio_set_register(uint32_t offset, uint64_t value) {
  *(volatile uint64_t*)(pio_registers + offset) = value;
}

/* Copies 32 B a turn, as a C library does. */
static inline void pio_copy(volatile uint64_t* to, const volatile uint64_t* from, uint32_t bytes) {
  for (uint32_t at = 0; at < bytes; at += 32) {
    uint64_t a = from[0], b = from[1], c = from[2], d = from[3];
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
    to += 4, from += 4;
  }
}

/* A control word of a frame. */
static inline uint64_t pio_word(uint32_t bytes) {
  return PIO_WORD_VALID | PIO_WORD_TYPE_BYPASS << PIO_WORD_TYPE_SHIFT | (uint64_t)bytes << PIO_WORD_LENGTH_SHIFT;
}
static inline uint32_t pio_length(uint64_t word) {
  return word & PIO_WORD_VALID ? word >> PIO_WORD_LENGTH_SHIFT & PIO_WORD_LENGTH_MASK : 0;
}
