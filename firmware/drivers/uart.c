/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/uart.c */
#include "firmware/drivers/uart.h"

#include <stdint.h>

#include "firmware/kernel/board.h"
#include "models/uart/uart_regs.h"

static volatile uint8_t* uart(void) { return (volatile uint8_t*)board.uart; }

void uart_setup(void) {
  if (board.uart == 0) return;
  uart()[UART_IER] = 0;
  uart()[UART_LCR] = UART_LCR_WLS; /* 8 bits, no parity, one stop bit */
  uart()[UART_FCR] = UART_FCR_FIFO_ENABLE;
}

static void put_raw(char c) {
  while ((uart()[UART_LSR] & UART_LSR_THRE) == 0) {
  }
  uart()[UART_THR] = (uint8_t)c;
}

void uart_put(char c) {
  if (board.uart == 0) return;
  if (c == '\n') put_raw('\r');
  put_raw(c);
}
