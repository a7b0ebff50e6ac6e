/* SPDX-License-Identifier: Apache-2.0 */
/* mailbox_regs.h: registers of the mailbox NIC. Freestanding C that C++ also accepts. */
#pragma once

#define MAILBOX_VENDOR_ID 0x534cu
#define MAILBOX_DEVICE_ID 0x0998u

/* BAR 0: 64-bit prefetchable memory, little endian, accesses of 8 bytes. */
#define MAILBOX_BAR_SIZE 0x4000u
#define MAILBOX_RECEIVED 0x00u /* length of the oldest frame, 0: there is none; a write removes the frame */
#define MAILBOX_SEND 0x08u     /* wo: sends that many bytes of MAILBOX_TX */
#define MAILBOX_ADDRESS 0x10u  /* ro: the station address, its first byte lowest */
#define MAILBOX_RX 0x1000u     /* the oldest frame's bytes */
#define MAILBOX_TX 0x2000u     /* bytes to send */
#define MAILBOX_FRAME_MAX 1514u
