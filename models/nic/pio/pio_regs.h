/* SPDX-License-Identifier: Apache-2.0 */
/* models/nic/pio/pio_regs.h: registers, cache lines and control words of the NIC that software reads and writes itself,
 * by loads and stores (programmed I/O). Freestanding C that C++ also accepts.
 *
 * Registers are 8 bytes wide. Times are cycles of the NIC's clock. */
#pragma once

#define PIO_REGISTERS_SIZE 0x1000

#define PIO_COUNTER 0x000    /* cycles since the start; ro */
#define PIO_CONTROL 0x008    /* PIO_CONTROL_* */
#define PIO_RX_BLOCK 0x010   /* how long a receive may be held back before it is answered with no frame */
#define PIO_MAX_FRAME 0x018  /* longest frame, bytes without FCS; ro */
#define PIO_RX_DROPPED 0x020 /* frames for which there was no room; ro */
#define PIO_TX_ERRORS 0x028  /* commits of a length that is none; ro */

#define PIO_CONTROL_LOOPBACK 1 /* the MAC returns what it sends */
/* a sent frame goes from the transmit queue into the receive queue, in front of the MAC; with LOOPBACK or without */
#define PIO_CONTROL_TURN_AROUND 2

/* When the last frame passed a place, cycles; ro. */
#define PIO_TX_COMMIT 0x040     /* the commit arrived */
#define PIO_TX_DMA_READ 0x048   /* the frame left the stream buffer */
#define PIO_TX_EXIT 0x050       /* its last beat left the transmit queue */
#define PIO_RX_ENTRY 0x080      /* its last beat came from the MAC */
#define PIO_RX_QUEUE 0x088      /* it left the receive queue */
#define PIO_RX_DMA_WRITE 0x090  /* it was in the packet buffer */
#define PIO_RX_READ_START 0x098 /* the host's receive arrived */
#define PIO_RX_READ 0x0a0       /* the receive was answered */

/* What software that measures tells whoever reads the results; wo. PIO_SAMPLE ends a sample: with the stamps above. */
#define PIO_HOST_ROUND_TRIP 0x0c0    /* of a read of PIO_COUNTER, cycles */
#define PIO_HOST_TX_BUFFER 0x0c8     /* PIO_COUNTER when the frame was ready and a transmit buffer was there */
#define PIO_HOST_READ_COMPLETE 0x0d0 /* PIO_COUNTER when the frame had been copied to memory */
#define PIO_SAMPLE 0x0d8             /* bytes of the frame */

/* The PCIe function, class Ethernet (02 00 00): BAR 0, 64-bit prefetchable memory, has the registers, and from
 * PIO_PACKET_BUFFER on the packet buffer, which takes accesses of any size. */
#define PIO_VENDOR_ID 0x534cu /* no vendor's: this device exists in no silicon */
#define PIO_DEVICE_ID 0x0910u
#define PIO_CLASS_CODE 0x020000u
#define PIO_BAR 0
#define PIO_PACKET_BUFFER 0x20000

/* Registers of the PCIe form alone. Their values are control words with an offset in the packet buffer. */
#define PIO_HOST_RX_NEXT 0x100     /* the next frame; a read is held back until there is one, or for PIO_RX_BLOCK; ro */
#define PIO_HOST_RX_NEXT_ACK 0x108 /* the host has done with the frame at this offset; wo */
#define PIO_HOST_TX 0x110          /* a buffer to write a frame to, and its size; not valid: there is none; ro */
#define PIO_HOST_TX_ACK 0x118      /* sends the frame of this length at this offset; wo */

/* The lines of a coherent NIC. Receive and transmit have two control lines each; frames longer than the part of them
 * that a control line has go on in the overflow lines. */
#define PIO_LINE 128
#define PIO_RX_LINES 0x0000
#define PIO_TX_LINES 0x8000
#define PIO_CONTROL_LINE(n) ((n)*PIO_LINE) /* n: 0 or 1 */
#define PIO_OVERFLOW 0x100
#define PIO_OVERFLOW_LINES 76
#define PIO_LINES_SIZE 0x10000

/* A control line: the control word, and from PIO_INLINE on the frame's first bytes. */
#define PIO_INLINE 64
#define PIO_INLINE_BYTES (PIO_LINE - PIO_INLINE)

/* The control word, 64 bits. */
#define PIO_WORD_VALID 1u
#define PIO_WORD_TYPE_SHIFT 1
#define PIO_WORD_TYPE_BYPASS 1u
#define PIO_WORD_LENGTH_SHIFT 4
#define PIO_WORD_LENGTH_MASK 0xffffu
#define PIO_WORD_OFFSET_SHIFT 32 /* PCIe */
