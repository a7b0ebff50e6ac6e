/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/wired_message.c: lets the UART's wire interrupt the core, and counts the cycles from the register
 * write that raises the wire to the handler. With AIA the wire goes through the APLIC, which sends a message. */
#include "firmware/drivers/imsic.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/start.h"
#include "firmware/kernel/statistics.h"
#include "models/uart/uart_regs.h"

#define UART_SOURCE 10u
#define ROUNDS 16u

static struct { uint64_t interrupts, interrupt_cycles; } counters;
static volatile uint32_t taken;
static volatile uint64_t taken_at;

static void on_wire(void* context) {
  (void)context;
  taken_at = csr_read(cycle);
  ((volatile uint8_t*)board.uart)[UART_IER] = 0;
  taken = 1;
}

int application_main(void) {
  volatile uint8_t* uart = (volatile uint8_t*)board.uart;
  uint64_t address;
  uint32_t identity;
  statistics_add("interrupts interrupt_cycles", &counters.interrupts);
  interrupt_setup_hart(0);
  interrupt_connect(0, UART_SOURCE, on_wire, 0, &address, &identity);
  if (board.interrupts == BOARD_INTERRUPTS_AIA) aplic_connect(UART_SOURCE, 0, identity);
  print("wired messages\n");
  while ((uart[UART_LSR] & UART_LSR_TEMT) == 0) cpu_pause();
  for (unsigned n = 0; n < ROUNDS; n++) {
    taken = 0;
    uint64_t raised = csr_read(cycle);
    uart[UART_IER] = UART_IER_ETBEI;
    while (taken == 0) interrupt_idle(&taken);
    counters.interrupts++;
    counters.interrupt_cycles += taken_at - raised;
  }
  return 0;
}
