/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/start.h: from boot/start.S into an application. */
#pragma once

/* What an application's image runs on hart 0 in supervisor mode once board, console and interrupts are known. Its
 * return value ends the run: 0 passes, 1 to 65535 fails with that code, anything else with 65535. */
int application_main(void);
