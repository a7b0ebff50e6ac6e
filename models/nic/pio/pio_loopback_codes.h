/* SPDX-License-Identifier: Apache-2.0 */
/* models/nic/pio/pio_loopback_codes.h: exit codes with which the firmware pio-loopback ends a failed run by the test
 * finisher, in addition to those of firmware/kernel/exit_codes.h. Freestanding C that C++ also accepts. */
#pragma once

#define PIO_LOOPBACK_NO_DEVICE 16 /* there is no PIO NIC */
#define PIO_LOOPBACK_NO_PLAN 17   /* the device tree asks for no sizes */
#define PIO_LOOPBACK_WRONG 18     /* a frame came back with other bytes, or another length */
#define PIO_LOOPBACK_NO_FRAME 19  /* a receive was answered with no frame */
