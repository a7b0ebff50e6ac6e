/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/context.h: where a process stands while it does not run. Assembly includes it, too. */
#pragma once

#define CONTEXT_PC 0 /* register xN is at 8 * N */
#define CONTEXT_KERNEL_SP 256
#define CONTEXT_HART 264
#define CONTEXT_FLOAT 272 /* register fN is at CONTEXT_FLOAT + 8 * N, then fcsr */
#define CONTEXT_FCSR 528

#ifndef __ASSEMBLER__
#include <stdint.h>

struct user_context {
  uint64_t pc, x[31];       /* x[0] is x1 */
  uint64_t kernel_sp, hart; /* of who runs it */
  uint64_t f[32], fcsr;
};
_Static_assert(sizeof(struct user_context) == CONTEXT_FCSR + 8, "as the assembly has it");

/* Runs user mode from here to its next trap, interrupts included, and returns scause. The address space must be active.
 * sepc and stval are the trap's. */
unsigned long user_run(struct user_context* context);

/* Saves and loads the floating-point registers. */
void user_save_float(struct user_context* context);
void user_load_float(const struct user_context* context);
#endif
