/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/card_answers.c: firmware of a system behind an endpoint controller. It shows the host a page of
 * its memory, takes doorbells and messages, and answers each: with a word in that page, with one in the host's memory,
 * and with a doorbell. */
#include "firmware/drivers/imsic.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/start.h"
#include "models/accel/endpoint_controller/endpoint_controller_regs.h"
#include "models/irq/finisher_regs.h"
#include "tests/board/guests/ring_protocol.h"

static volatile uint8_t page[4096] __attribute__((aligned(4096)));
static volatile uint32_t woken;
static volatile uint64_t rung;
static uint64_t controller;
static uint32_t source;

static volatile uint64_t* at(uint64_t offset) { return (volatile uint64_t*)(uintptr_t)(controller + offset); }

static bool find_controller(void) {
  struct fdt_walk node;
  if (!fdt_begin(&node, board_device_tree)) return false;
  while (fdt_next(&node)) {
    if (!fdt_is_compatible(&node, "sluice,endpoint-controller")) continue;
    controller = fdt_cells(fdt_get(&node, "reg", 0), 0);
    source = fdt_cell(fdt_get(&node, "interrupts", 0), 0);
    return true;
  }
  return false;
}

static void on_doorbell(void* unused) {
  (void)unused;
  for (uint64_t pending; (pending = *at(EPC_PENDING)) != 0; *at(EPC_PENDING) = pending) rung |= pending;
  woken = 1;
}

static void on_message(void* unused) {
  (void)unused;
  rung |= RING_MESSAGE;
  woken = 1;
}

int application_main(void) {
  uint64_t address = 0;
  uint32_t identity = 0;
  if (!find_controller()) return 1;
  interrupt_setup_hart(0);
  interrupt_connect(0, source, on_doorbell, 0, &address, &identity);
  if (board.interrupts == BOARD_INTERRUPTS_AIA) {
    aplic_connect(source, 0, identity);
    interrupt_connect(0, source, on_message, 0, &address, &identity);
    *at(EPC_MESSAGES) = address;
    *at(EPC_SCRATCHPAD + 8 * RING_PAD_IDENTITY) = identity;
  }
  *at(EPC_ENABLE) = ~0ul;
  *at(EPC_INBOUND) = (uint64_t)(uintptr_t)page;
  *at(EPC_SCRATCHPAD + 8 * RING_PAD_READY) = RING_READY;
  print("card: waits for doorbells\n");
  volatile uint64_t* words = (volatile uint64_t*)page;
  for (;;) {
    woken = 0;
    if (rung == 0) interrupt_idle(&woken);
    if (rung == 0) continue;
    uint64_t by = rung;
    rung = 0;
    if (by == 1ul << RING_RESET) {
      *(volatile uint32_t*)(uintptr_t)(board.finisher + FINISHER_CONTROL) = FINISHER_RESET;
      for (;;) cpu_pause();
    }
    uint64_t host = *at(EPC_SCRATCHPAD + 8 * RING_PAD_HOST);
    *at(EPC_OUTBOUND) = host & ~4095ul;
    volatile uint64_t* host_word = at(EPC_OUTBOUND_WINDOW + (host & 4095));
    words[RING_WORD_ANSWER] = words[RING_WORD_QUESTION] + 1;
    host_word[1] = host_word[0] + 1;
    *at(EPC_RING) = by == RING_MESSAGE ? 2 : 1;
  }
}
