/* firmware/kernel/interrupt.h: interrupts in supervisor mode. The kernel runs to completion: interrupts are taken only
 * inside interrupt_idle(), so handlers need no locks against the code of their own hart, and a handler never nests. */
#pragma once

#include <stdint.h>

typedef void interrupt_handler(void* context);

/* Enables external interrupts on this hart. Every hart that waits for a device calls it once. */
void interrupt_setup_hart(unsigned hart);

/* Routes one interrupt of a PCIe function to `handler` on `hart`, whichever controller the board has. With AIA,
 * `address` and `data` receive what the function's MSI-X table entry must hold, and each call gives another identity;
 * with a PLIC, `line` is the wired source, shared by all vectors, and `address` receives 0. Panics when there are no
 * more. */
void interrupt_connect(unsigned hart, uint32_t line, interrupt_handler* handler, void* context, uint64_t* address,
                       uint32_t* data);

/* Runs the handlers of all that is pending for this hart. A caller without work, `*ready` = 0, sleeps first until
 * something is; it may also return for no reason. `ready` is looked at with interrupts off, so a handler that sets it
 * cannot be missed. The account is `interrupt` afterwards where anything was let in. */
void interrupt_idle(const volatile uint32_t* ready);

/* Calls `handler` on this hart when time reaches `when` (ticks of the time counter). One deadline per hart. */
void interrupt_at(uint64_t when, interrupt_handler* handler, void* context);
