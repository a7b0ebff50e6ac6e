/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn PMP rules (OFF, TOR, NA4, NAPOT) over 16 KiB, and loads and stores of 1 to 8 bytes from S and U mode
 * around their bounds; at the end locked rules, which bind M mode. A line per set of rules: a checksum over causes. */
#include "guest.h"

typedef unsigned long u64;
#define RULES 8
#define SETS 1500
#define MPRV (1ul << 17)
#define MPP_S (1ul << 11)
#define LOCK 0x80ul

static char area[16384] __attribute__((aligned(16384)));

#define ACCESS(instruction)                                                                                          \
  static __attribute__((noinline)) u64 instruction##_at(u64 address, u64 status) {                                   \
    u64 cause;                                                                                                       \
    __asm__ volatile("la t0, 1f\n csrw mtvec, t0\n li %0, 0xff\n csrs mstatus, %2\n" #instruction                    \
                     " t1, 0(%1)\n csrc mstatus, %3\n j 2f\n .balign 4\n 1: csrr %0, mcause\n csrc mstatus, %3\n 2:" \
                     : "=&r"(cause)                                                                                  \
                     : "r"(address), "r"(status), "r"(MPRV | 3 * MPP_S)                                              \
                     : "t0", "t1", "memory");                                                                        \
    return cause;                                                                                                    \
  }
ACCESS(lb)
ACCESS(lh)
ACCESS(lw)
ACCESS(ld)
ACCESS(sb)
ACCESS(sw)
ACCESS(sd)

static u64 seed = 88172645463325252ul;
static u64 draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (seed * 2685821657736338717ul) >> 8;
}

#define SET_ADDRESS(n) __asm__ volatile("csrw pmpaddr" #n ", %0" ::"r"(address[n]))

static void set_rules(u64 lock) {
  u64 address[RULES], config = 0;
  for (int i = 0; i < RULES; ++i) {
    u64 r = draw();
    u64 where = (u64)area + (r & 0x3ffc);
    u64 mode = r >> 20 & 3, permissions = r >> 24 & 7;
    if (!(permissions & 1)) permissions &= ~2ul; /* W without R is reserved */
    u64 size = 8ul << (r >> 30) % 11;            /* 8 B to 8 KiB */
    address[i] = mode == 3 ? (where & -size) >> 2 | (size / 8 - 1) : where >> 2;
    config |= (lock | mode << 3 | permissions) << (8 * i);
  }
  __asm__ volatile("csrw pmpcfg0, zero");
  SET_ADDRESS(0);
  SET_ADDRESS(1);
  SET_ADDRESS(2);
  SET_ADDRESS(3);
  SET_ADDRESS(4);
  SET_ADDRESS(5);
  SET_ADDRESS(6);
  SET_ADDRESS(7);
  __asm__ volatile("csrw pmpcfg0, %0\n sfence.vma" ::"r"(config) : "memory");
}

static u64 probe(u64 sum, u64 status) {
  static u64 (*const accesses[8])(u64, u64) = {lb_at, lh_at, lw_at, ld_at, sb_at, sw_at, sd_at, ld_at};
  static const unsigned char sizes[8] = {1, 2, 4, 8, 1, 4, 8, 8};
  u64 r = draw(), kind = r & 7;
  u64 address = (u64)area + (r >> 8 & 0x3fff & -(u64)sizes[kind]);
  return (sum ^ accesses[kind](address, status)) * 0x9e3779b97f4a7c15ul + (sum >> 31);
}

int main(void) {
  for (int set = 0; set < SETS; ++set) {
    u64 sum = 0;
    set_rules(0);
    for (int i = 0; i < 40; ++i) sum = probe(sum, MPRV | (i & 1 ? MPP_S : 0));
    put_hex(sum);
  }
  set_rules(LOCK);
  for (int i = 0; i < 400; ++i) put_hex(probe(0, 0));
  return 0;
}
