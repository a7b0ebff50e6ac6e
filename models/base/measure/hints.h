/* SPDX-License-Identifier: Apache-2.0 */
/* models/base/measure/hints.h: the architectural no-ops by which firmware talks to the ledger. They are HINT encodings
 * that the RISC-V specification leaves for custom use (rd = x0), cost one issue slot, and do nothing on other machines.
 *
 *   slti  x0, a, stage      probe: the request whose bytes lie at address a enters `stage` on this core
 *   slti  x0, a, 1024 + r   drop: the request whose bytes lie at address a ends without a reply, for reason r
 *   slti  x0, a, 512        complete: the request whose bytes lie at address a has done what it was opened for
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
#else
#define sluice_probe(stage, address) ((void)(stage), (void)(address))
#define sluice_complete(address) ((void)(address))
static inline void sluice_open(const void* address, unsigned long what) {
  (void)address;
  (void)what;
}
#define sluice_drop(reason, address) ((void)(reason), (void)(address))
static inline void sluice_bind(const void* dst, const void* src) {
  (void)dst;
  (void)src;
}
static inline void sluice_account(unsigned long account) { (void)account; }
#endif
