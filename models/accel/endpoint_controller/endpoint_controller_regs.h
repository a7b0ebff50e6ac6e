/* SPDX-License-Identifier: Apache-2.0 */
/* models/accel/endpoint_controller/endpoint_controller_regs.h: registers of the endpoint controller, which joins the
 * system-on-chip that it is on to the PCIe hierarchy of another. The model, the firmware and the tests include this
 * file. Freestanding C that C++ also accepts.
 *
 * "The host" is whoever reaches the controller by PCIe; "the system" is the system-on-chip that the controller is on.
 * Access on both sides: little endian, aligned, by the register's width; registers of 8 B also as two halves of 4 B. On
 * the host's side, any other read returns all ones, any other write is dropped, and both are counted; on the system's
 * side, they are bus errors. Reset values are 0 unless said.
 *
 * PCIe function: EPC_VENDOR_ID / EPC_DEVICE_ID, MSI-X.
 *   BAR EPC_BAR_REGISTERS: 32-bit memory, EPC_BAR0_SIZE: the registers below, MSI-X table and PBA.
 *   BAR EPC_BAR_WINDOW: 64-bit prefetchable memory, the board's `window`: memory of the system from EPC_INBOUND on.
 *   BAR EPC_BAR_MESSAGES: 32-bit memory, EPC_MESSAGES_SIZE: writes go to EPC_MESSAGES of the system, where an
 *   interrupt controller takes messages. Reads are refused. */
#pragma once

#include <stdint.h>

#include "models/base/freestanding.h"

#define EPC_VENDOR_ID 0x534cu /* no vendor's: this device exists in no silicon */
#define EPC_DEVICE_ID 0x0e9cu
#define EPC_CLASS_CODE 0x068000u /* bridge device, other */
#define EPC_BAR_REGISTERS 0
#define EPC_BAR0_SIZE 0x10000u
#define EPC_BAR_WINDOW 2
#define EPC_BAR_MESSAGES 4
#define EPC_MESSAGES_SIZE 0x1000u
#define EPC_MSIX_TABLE 0x8000u /* in BAR 0 */
#define EPC_MSIX_PBA 0xc000u
#define EPC_SCRATCHPADS 8

/* The host's side, in BAR 0. A function reset clears all of it, and the scratchpads. */
#define EPC_HOST_RING 0x00u        /* wo 8 B: rings the system's doorbells whose bits are set */
#define EPC_HOST_PENDING 0x08u     /* w1c 8 B: the host's doorbells that the system has rung */
#define EPC_HOST_WINDOW_SIZE 0x10u /* ro 8 B: bytes of BAR 2 */
#define EPC_HOST_SCRATCHPAD 0x40u  /* rw 8 B, EPC_SCRATCHPADS of them: the same on both sides */

/* The system's side, at the board's `address`. A reset of the system clears it, but for the scratchpads. */
#define EPC_RING                                                                                                      \
  0x00u                      /* wo 8 B: rings the host's doorbells whose bits are set. One that was not pending sends \
                              * MSI-X vector bit % vectors. */
#define EPC_PENDING 0x08u    /* w1c 8 B: the system's doorbells that the host has rung */
#define EPC_ENABLE 0x10u     /* rw 8 B: the interrupt line is up while a pending doorbell is enabled */
#define EPC_RAISE 0x18u      /* wo 4 B: sends the MSI-X vector of the written number, or pends it while it is masked */
#define EPC_STATUS 0x1cu     /* ro 4 B: what the host has switched on */
#define EPC_STATUS_MEMORY 1u /* memory space: the BARs answer */
#define EPC_STATUS_MASTER 2u /* bus mastering: the outbound window and MSI-X work */
#define EPC_STATUS_MSIX 4u   /* MSI-X */
#define EPC_INBOUND 0x20u    /* rw 8 B: address on the system of BAR 2's first byte; reset: the board's `target` */
#define EPC_MESSAGES 0x28u   /* rw 8 B: address on the system of BAR 4's first byte; 0: writes to it are refused */
#define EPC_OUTBOUND 0x30u   /* rw 8 B: PCIe address of the outbound window's first byte */
#define EPC_OUTBOUND_SIZE 0x38u /* ro 8 B: bytes of the outbound window */
#define EPC_SCRATCHPAD 0x40u    /* rw 8 B, EPC_SCRATCHPADS of them: the same on both sides */
#define EPC_REGISTERS_SIZE 0x1000u
#define EPC_OUTBOUND_WINDOW 0x10000u /* the outbound window: loads read, and stores write, by PCIe */
