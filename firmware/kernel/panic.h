/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/panic.h: the end of a run that went wrong: says why, then fails through the test finisher. */
#pragma once

void panic(const char* why) __attribute__((noreturn));
void panic_trap(const char* mode, unsigned long cause, unsigned long pc, unsigned long value, unsigned long sp)
    __attribute__((noreturn));
/* stack: name of the hart's stack that has overflowed. */
void panic_stack(unsigned hart, const char* stack, unsigned long cause, unsigned long pc, unsigned long value,
                 unsigned long sp) __attribute__((noreturn));
