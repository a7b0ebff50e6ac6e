/* SPDX-License-Identifier: Apache-2.0 */
/* models/base/measure/hints.h: the architectural no-ops by which firmware talks to the ledger. They are HINT encodings
 * that the RISC-V specification leaves for custom use (rd = x0), cost one issue slot, and do nothing on other machines.
 *
 *   slti  x0, a, stage      probe: the request whose bytes lie at address a enters `stage` on this core
 *   slti  x0, a, 1024 + r   drop: the request whose bytes lie at address a ends without a reply, for reason r
 *   slti  x0, a, 512        complete: the request whose bytes lie at address a has done what it was opened for
 *   slti  x0, a, 1280 + s   begins: in the stage that it is in on this core, that request's step s begins
 *   slti  x0, r, 1536 + s   does: software of this core's privilege mode (user or not) does step s in stage x[r];
 *                           what it says first of a stage takes the place of what the stage means by itself
 *   slti  x0, r, 1600 + s   tells: software of this core has a stage for step s, or does not need it; so where
 *                           nobody has done it, nobody needed it. x[r] has no meaning
 *   slt   x0, dst, src      bind: the bytes at dst belong to the request whose bytes lie at src
 *   sltu  x0, a, what       open: a request begins, in stage x[what] mod 256, whose bytes lie at address a. Its number,
 *                           x[what] / 256, means something to the workload; without one that wants it, nothing is
 *                           opened
 *   sltiu x0, r, account    account: this core's time belongs to account x[r] + imm from now on
 *
 * Addresses are virtual. An address without a request is no error: the hint does nothing.
 * Freestanding C. */
#pragma once

#include "models/base/measure/software_requests.h"
#include "models/base/measure/stages.h"

#ifdef __riscv
static inline __attribute__((always_inline)) void sluice_bind(const void* dst, const void* src) {
  __asm__ volatile("slt x0, %0, %1" : : "r"(dst), "r"(src) : "memory");
}
static inline __attribute__((always_inline)) void sluice_account(unsigned long account) {
  __asm__ volatile("sltiu x0, %0, 0" : : "r"(account) : "memory");
}
#define sluice_probe(stage, address) __asm__ volatile("slti x0, %0, %1" : : "r"(address), "i"(stage) : "memory")
#define sluice_drop(reason, address) sluice_probe(SLUICE_DROP(reason), address)
#define sluice_complete(address) sluice_probe(SLUICE_COMPLETE, address)
static inline __attribute__((always_inline)) void sluice_open(const void* address, unsigned long what) {
  __asm__ volatile("sltu x0, %0, %1" : : "r"(address), "r"(what) : "memory");
}
#define sluice_begins(step, address) sluice_probe(SLUICE_BEGINS(step), address)
#define sluice_does(stage, step) sluice_probe(SLUICE_DOES(step), (unsigned long)(stage))
#define sluice_tells(step) sluice_probe(SLUICE_TELLS(step), 0ul)
#else
#define sluice_probe(stage, address) ((void)(stage), (void)(address))
#define sluice_complete(address) ((void)(address))
static inline void sluice_open(const void* address, unsigned long what) {
  (void)address;
  (void)what;
}
#define sluice_drop(reason, address) ((void)(reason), (void)(address))
#define sluice_begins(step, address) ((void)(step), (void)(address))
#define sluice_does(stage, step) ((void)(stage), (void)(step))
#define sluice_tells(step) ((void)(step))
static inline void sluice_bind(const void* dst, const void* src) {
  (void)dst;
  (void)src;
}
static inline void sluice_account(unsigned long account) { (void)account; }
#endif
