/* SPDX-License-Identifier: Apache-2.0 */
/* Sv39: every combination of the low eight bits of a leaf entry, of SUM, MXR and U or S mode, for fetch, load and
 * store, at three levels; misaligned superpages; reserved bits. A line per entry: a checksum over the causes and the
 * entry's bits afterwards (A and D). */
#include "guest.h"

typedef unsigned long u64;
#define TARGET_VA 0x12345000ul
#define MPRV (1ul << 17)
#define MPP_S (1ul << 11)
#define SUM (1ul << 18)
#define MXR (1ul << 19)
enum { FETCH, LOAD, STORE, KINDS };

static u64 root[512] __attribute__((aligned(4096)));
static u64 middle[512] __attribute__((aligned(4096)));
static u64 last[512] __attribute__((aligned(4096)));
static unsigned target[1024] __attribute__((aligned(4096)));

/* Runs one access with `status` added to mstatus; the cause of its trap, or 0xff. A fetch finds an ecall. */
#define PROBE(name, access)                                                                                \
  static __attribute__((noinline)) u64 name(u64 va, u64 status) {                                          \
    u64 cause;                                                                                             \
    __asm__ volatile("la t0, 1f\n csrw mtvec, t0\n li %0, 0xff\n csrs mstatus, %2\n" access                \
                     "\n csrc mstatus, %3\n j 2f\n .balign 4\n 1: csrr %0, mcause\n csrc mstatus, %3\n 2:" \
                     : "=&r"(cause)                                                                        \
                     : "r"(va), "r"(status), "r"(MPRV | 3 * MPP_S | SUM | MXR)                             \
                     : "t0", "t1", "memory");                                                              \
    return cause;                                                                                          \
  }
PROBE(probe_load, "ld t1, 8(%1)")
PROBE(probe_store, "sd zero, 8(%1)")
PROBE(probe_fetch, "csrw mepc, %1\n mret")

static u64 entry_for(const void* at) { return (u64)at >> 12 << 10; }

static u64 check(int level, u64 entry, u64 va, u64* slot, u64 status, int kind) {
  root[va >> 30 & 511] = entry_for(middle) | 1;
  if (level < 2) middle[va >> 21 & 511] = entry_for(last) | 1;
  *slot = entry;
  __asm__ volatile("csrw satp, %0\n sfence.vma" ::"r"(8ul << 60 | (u64)root >> 12) : "memory");
  u64 cause = kind == FETCH  ? probe_fetch(va, status)
              : kind == LOAD ? probe_load(va, status | MPRV)
                             : probe_store(va, status | MPRV);
  return cause << 8 | (*slot ^ entry);
}

static void check_entry(int level, u64 entry, u64 va) {
  u64* slot = level == 0 ? &last[va >> 12 & 511] : level == 1 ? &middle[va >> 21 & 511] : &root[va >> 30 & 511];
  u64 sum = 0;
  for (int kind = FETCH; kind < KINDS; ++kind)
    for (u64 mode = 0; mode < 8; ++mode) {
      u64 status = (mode & 1 ? MPP_S : 0) | (mode & 2 ? SUM : 0) | (mode & 4 ? MXR : 0);
      sum = (sum ^ check(level, entry, va, slot, status, kind)) * 0x9e3779b97f4a7c15ul + (sum >> 31);
    }
  put_hex(sum);
}

int main(void) {
  __asm__ volatile("csrw pmpaddr0, %0\n csrw pmpcfg0, %1\n csrw medeleg, zero" ::"r"(-1ul), "r"(0x1ful));
  target[0] = 0x73; /* ecall */
  for (int level = 0; level < 3; ++level) {
    u64 size = 4096ul << (9 * level);
    u64 va = (TARGET_VA & -size) | ((u64)target & (size - 1));
    u64 page = entry_for((void*)((u64)target & -size));
    for (u64 flags = 0; flags < 256; ++flags) {
      if (level > 0 && (flags & 0xdf) == 1) continue; /* a pointer, to no table */
      check_entry(level, page | flags, va);
      if (level > 0) check_entry(level, (page + (1 << 10)) | flags, va); /* misaligned */
    }
    for (int bit = 54; bit < 64; ++bit) check_entry(level, page | 0xcf | 1ul << bit, va);
    put_text("level done\n");
  }
  return 0;
}
