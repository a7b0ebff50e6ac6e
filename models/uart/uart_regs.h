/* SPDX-License-Identifier: Apache-2.0 */
/* models/uart/uart_regs.h: 16550A UART. Registers are one byte wide, at consecutive addresses; a wider access reaches
 * only the register at its own address. Freestanding C that C++ also accepts. */
#pragma once

#define UART_SIZE 8u
#define UART_FIFO 16u /* characters, each way */

#define UART_RBR 0u /* ro  oldest character received        (LCR.DLAB = 0) */
#define UART_THR 0u /* wo  character to send                (LCR.DLAB = 0) */
#define UART_IER 1u /* rw  interrupt enables                (LCR.DLAB = 0) */
#define UART_DLL 0u /* rw  divisor, low byte                (LCR.DLAB = 1) */
#define UART_DLM 1u /* rw  divisor, high byte               (LCR.DLAB = 1) */
#define UART_IIR 2u /* ro  interrupt identification */
#define UART_FCR 2u /* wo  FIFO control */
#define UART_LCR 3u /* rw  line control */
#define UART_MCR 4u /* rw  modem control */
#define UART_LSR 5u /* ro  line status; a read clears the errors */
#define UART_MSR 6u /* ro  modem status; a read clears the changes */
#define UART_SCR 7u /* rw  scratch */

#define UART_IER_ERBFI 0x01u /* received data available, or character timeout */
#define UART_IER_ETBEI 0x02u /* transmitter holding register empty */
#define UART_IER_ELSI 0x04u  /* line status */
#define UART_IER_EDSSI 0x08u /* modem status */
#define UART_IER_ALL 0x0fu

/* Interrupt causes, for which the chip's data sheet has no short names. After NONE, they are in order of falling
 * priority. */
#define UART_IIR_NONE 0x01u
#define UART_IIR_LINE_STATUS 0x06u
#define UART_IIR_RECEIVED 0x04u
#define UART_IIR_TIMEOUT 0x0cu
#define UART_IIR_THR_EMPTY 0x02u
#define UART_IIR_MODEM_STATUS 0x00u
#define UART_IIR_ID 0x0fu
#define UART_IIR_FIFOS 0xc0u /* both set while the FIFOs are on */

#define UART_FCR_FIFO_ENABLE 0x01u
#define UART_FCR_RCVR_RESET 0x02u
#define UART_FCR_XMIT_RESET 0x04u
#define UART_FCR_RCVR_TRIGGER_SHIFT 6 /* 1, 4, 8 or 14 characters */

#define UART_LCR_WLS 0x03u /* word length: 5 to 8 bits */
#define UART_LCR_STB 0x04u /* two stop bits; one and a half after 5 bits */
#define UART_LCR_PEN 0x08u /* parity */
#define UART_LCR_DLAB 0x80u

#define UART_MCR_DTR 0x01u
#define UART_MCR_RTS 0x02u
#define UART_MCR_OUT1 0x04u
#define UART_MCR_OUT2 0x08u
#define UART_MCR_LOOP 0x10u
#define UART_MCR_ALL 0x1fu

#define UART_LSR_DR 0x01u   /* a received character waits */
#define UART_LSR_OE 0x02u   /* overrun */
#define UART_LSR_THRE 0x20u /* nothing waits to be sent */
#define UART_LSR_TEMT 0x40u /* nothing waits to be sent or is being sent */

#define UART_MSR_DCTS 0x01u /* this and the next three bits: CTS, DSR, RI, DCD has changed (RI: trailing edge only) */
#define UART_MSR_DDSR 0x02u
#define UART_MSR_TERI 0x04u
#define UART_MSR_DDCD 0x08u
#define UART_MSR_CTS 0x10u
#define UART_MSR_DSR 0x20u
#define UART_MSR_RI 0x40u
#define UART_MSR_DCD 0x80u
#define UART_MSR_CHANGES 0x0fu
#define UART_MSR_CHANGES_SHIFT 4 /* from the bit of a line down to the bit of its change */
