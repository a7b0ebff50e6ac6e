/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/uart.h: 16550 UART, output by polling. */
#pragma once

void uart_setup(void);

/* Waits until the transmitter has room; a line feed is sent as carriage return and line feed. */
void uart_put(char c);
