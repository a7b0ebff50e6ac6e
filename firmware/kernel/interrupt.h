/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/interrupt.h: interrupts in supervisor mode. The kernel runs to completion: interrupts are taken only
 * inside interrupt_idle(), so handlers need no locks against the code of their own hart, and a handler never nests. */
#pragma once

#include <stdint.h>

typedef void interrupt_handler(void* context);

/* Enables external interrupts on this hart. Every hart that waits for a device calls it once. */
void interrupt_setup_hart(unsigned hart);

/* Routes one interrupt of a PCIe function to `handler` on `hart`, whichever controller the board has. With AIA, each
 * call takes a new identity; `address` and `data` receive the contents of the function's MSI-X table entry. With a
 * PLIC, `line` is the wired source, which all vectors share, and `address` receives 0. Panics when no identity or line
 * is left. */
void interrupt_connect(unsigned hart, uint32_t line, interrupt_handler* handler, void* context, uint64_t* address,
                       uint32_t* data);

/* Runs the handlers of all interrupts that are pending for this hart. A caller without work (`*ready` = 0) first sleeps
 * until one is pending; the call may also return without a reason. `ready` is read with interrupts off, so a handler
 * that sets it cannot be missed. The account is `interrupt` afterwards, unless the caller had work and no interrupt was
 * pending. */
void interrupt_idle(const volatile uint32_t* ready);

/* Calls `handler` on this hart when time reaches `when` (ticks of the time counter). One deadline per hart. */
void interrupt_at(uint64_t when, interrupt_handler* handler, void* context);
/* Forgets the deadline. */
void interrupt_never(void);
