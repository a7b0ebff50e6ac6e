/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over what can leave straight execution: traps in three modes, paging with an alias, atomics, devices,
 * misaligned accesses, code that changes itself, counters, hints, floating point. Prints checksums and clocks, so that
 * a difference of a single slot shows. Needs the device of tests/unit/riscv/iss_machine.h. */
#include "guest.h"
#include "models/base/measure/hints.h"

typedef unsigned long u64;

#define CSR_READ(name)                              \
  ({                                                \
    u64 v_;                                         \
    __asm__ volatile("csrr %0, " #name : "=r"(v_)); \
    v_;                                             \
  })
#define CSR_WRITE(name, value) __asm__ volatile("csrw " #name ", %0" : : "r"(value) : "memory")
#define DEVICE ((volatile u64*)0x20000000ul)

static u64 root[512] __attribute__((aligned(4096))), middle[512] __attribute__((aligned(4096)));
static u64 leaf[512] __attribute__((aligned(4096)));
static unsigned char page[3 * 4096] __attribute__((aligned(4096)));
static unsigned code[1024] __attribute__((aligned(4096)));
static volatile u64 traps, sum, last_tval;

static void mix(u64 v) { sum = (sum ^ v) * 0x9e3779b97f4a7c15ul + (sum >> 29); }

/* Skips the instruction, except that an ecall with a7 = 1 returns to M mode. */
__attribute__((interrupt("machine"), aligned(4))) static void handler(void) {
  const u64 cause = CSR_READ(mcause), pc = CSR_READ(mepc);
  ++traps;
  last_tval = CSR_READ(mtval);
  mix(cause);
  mix(last_tval);
  if (cause >> 63) {
    CSR_WRITE(mie, 0);
    return;
  }
  mix(pc);
  mix(CSR_READ(minstret));
  mix(CSR_READ(mcycle));
  if (cause == 8 || cause == 9) __asm__ volatile("csrs mstatus, %0" : : "r"(0x1800ul));
  u64 length = 4;
  if (cause == 1 || cause == 12 || cause == 0) {
    CSR_WRITE(mepc, pc + 4);
    return;
  }
  if (cause == 2 || cause == 3 || (cause >= 4 && cause <= 7) || cause == 13 || cause == 15)
    length = (*(unsigned short*)(pc & 0xffffffffful) & 3) == 3 ? 4 : 2;
  CSR_WRITE(mepc, pc + length);
}

static void atomics(void) {
  static u64 cell = 5;
  static unsigned half = 0x80000001u;
  u64 old;
  __asm__ volatile("amoadd.d %0, %1, (%2)" : "=r"(old) : "r"(7ul), "r"(&cell) : "memory");
  mix(old);
  __asm__ volatile("amominu.w %0, %1, (%2)" : "=r"(old) : "r"(9ul), "r"(&half) : "memory");
  mix(old);
  __asm__ volatile("amomax.w %0, %1, (%2)" : "=r"(old) : "r"(-3l), "r"(&half) : "memory");
  mix(old), mix(half);
  u64 failed;
  do {
    __asm__ volatile("lr.d %0, (%2)\n addi %0, %0, 3\n sc.d %1, %0, (%2)"
                     : "=&r"(old), "=&r"(failed)
                     : "r"(&cell)
                     : "memory");
  } while (failed);
  mix(old);
  __asm__ volatile("sc.d %0, %1, (%2)" : "=&r"(failed) : "r"(old), "r"(&cell) : "memory");
  mix(failed);
  __asm__ volatile("amoadd.d %0, %1, (%2)" : "=r"(old) : "r"(7ul), "r"((char*)&cell + 4) : "memory");
  __asm__ volatile("amoadd.w x0, %0, (%1)" : : "r"(7ul), "r"(DEVICE) : "memory");
}

static void misaligned(void) {
  for (unsigned i = 0; i < sizeof page; ++i) page[i] = (unsigned char)(i * 7);
  for (u64 i = 4090; i < 4100; ++i) {
    mix(*(volatile u64*)(page + i));
    *(volatile unsigned*)(page + i) += (unsigned)i;
    mix((u64) * (volatile short*)(page + i));
  }
}

/* Writes "a0 = n; return" into a page and calls it, then changes it under way. */
static void self_modifying(void) {
  for (unsigned n = 1; n < 20; ++n) {
    unsigned* at = code + (n % 3) * 1023 / 2;
    at[0] = n << 20 | 10 << 7 | 0x13;
    at[1] = 0x00008067;
    __asm__ volatile("fence.i" : : : "memory");
    mix(((u64(*)(void))at)());
    at[0] = 3 * n << 20 | 10 << 7 | 0x13;
    __asm__ volatile("fence.i" : : : "memory");
    mix(((u64(*)(void))at)());
  }
  /* A store to the very next instructions, in one block. */
  u64 result;
  __asm__ volatile(
      "la t0, 1f\n li t1, 0x00150513\n mv a0, zero\n .option push\n .option norvc\n sw t1, 0(t0)\n fence.i\n"
      "1: addi a0, a0, 77\n .option pop\n mv %0, a0\n li t1, 0x04d50513\n sw t1, 0(t0)\n fence.i"
      : "=r"(result)
      :
      : "t0", "t1", "a0", "memory");
  mix(result);
}

static void devices(void) {
  for (unsigned i = 0; i < 20; ++i) {
    *DEVICE = i * 5;
    mix(*DEVICE + i);
    mix(*(volatile unsigned*)DEVICE);
    mix(CSR_READ(mcycle));
  }
  mix(*(volatile u64*)0x30000000ul);
  *(volatile unsigned short*)0x30000001ul = 3;
}

static void hints(void) {
  for (unsigned i = 0; i < 5; ++i) {
    sluice_probe(SLUICE_STAGE_handler, page + 64 * i);
    sluice_bind(page + 128, page + 64 * i);
    sluice_account(i);
  }
  sluice_probe(SLUICE_STAGE_handler, 0x30000000ul);
}

static void floats(void) {
  double d = 1.0;
  float f = 3.0f;
  for (int i = 1; i < 40; ++i) {
    d = d / 3 + i * 1.25;
    f = f * 0.75f - (float)d;
    page[i] = (unsigned char)(int)d;
  }
  union {
    double d;
    u64 u;
  } v = {d + (double)f};
  mix(v.u);
  mix(CSR_READ(fflags));
  __asm__ volatile("csrw frm, 5\n fadd.d fa0, fa0, fa0\n csrw frm, 0" : : : "fa0");
  __asm__ volatile("csrc mstatus, %0\n fadd.d fa0, fa0, fa0\n csrs mstatus, %1"
                   :
                   : "r"(0x6000ul), "r"(0x2000ul)
                   : "fa0");
  mix(CSR_READ(mstatus));
  __asm__ volatile("csrs mstatus, %0" : : "r"(0x6000ul));
}

__attribute__((noinline)) static void in_lower_mode(u64 mode) {
  volatile u64* alias = (volatile u64*)(0x40000000ul + ((u64)page & 0xfff));
  if (mode == 1) {
    for (int i = 0; i < 30; ++i) {
      alias[i] = alias[i + 1] + (u64)i;
      mix(((u64*)page)[i]);
    }
    /* The same code through its alias. */
    code[0] = 0x02a00513, code[1] = 0x00008067;
    __asm__ volatile("fence.i" : : : "memory");
    mix(((u64(*)(void))0x40001000ul)());
    ((volatile unsigned*)0x40001000ul)[0] = 0x02b00513;
    __asm__ volatile("fence.i" : : : "memory");
    mix(((u64(*)(void))0x40001000ul)());
    mix(((u64(*)(void))code)());
    mix(*(volatile u64*)0x40005000ul);   /* page fault */
    *(volatile u64*)0x40002000ul = 1;    /* read-only: page fault */
    mix(*(volatile u64*)(0x40001ffcul)); /* crosses from a page to the next */
    __asm__ volatile("sfence.vma" : : : "memory");
    CSR_WRITE(mscratch, 1); /* illegal here */
  }
}

static void lower_modes(void) {
  /* 0x8000_0000: 1 GiB, identity, supervisor; 0x4000_0000: small pages. */
  root[2] = 0x80000000ul >> 2 | 0xcf;
  root[0] = 0 | 0xc7;
  root[1] = (u64)middle >> 2 | 1;
  middle[0] = (u64)leaf >> 2 | 1;
  leaf[0] = (u64)page >> 2 | 0xc7;
  leaf[1] = (u64)code >> 2 | 0xcf;
  leaf[2] = ((u64)page + 4096) >> 2 | 0x43;
  CSR_WRITE(pmpaddr0, ~0ul);
  CSR_WRITE(pmpcfg0, 0x1ful);
  CSR_WRITE(satp, 8ul << 60 | (u64)root >> 12);
  CSR_WRITE(medeleg, 0ul);
  __asm__ volatile("csrc mstatus, %0\n csrs mstatus, %1\n la t0, 1f\n csrw mepc, t0\n mret\n 1:"
                   :
                   : "r"(0x1800ul), "r"(0x800ul)
                   : "t0", "memory");
  in_lower_mode(1);
  __asm__ volatile("li a7, 1\n ecall" : : : "a7", "memory");
  CSR_WRITE(satp, 0ul);
  __asm__ volatile("csrs mstatus, %0" : : "r"(0x1800ul));
}

static void waits(void) {
  static u64 cell;
  u64 old;
  __asm__ volatile("lr.d %0, (%1)\n .word 0x01d00073" : "=r"(old) : "r"(&cell) : "memory");
  mix(CSR_READ(mcycle));
  __asm__ volatile(".word 0x0100000f");
  mix(CSR_READ(minstret));
}

int main(void) {
  CSR_WRITE(mtvec, (u64)handler);
  for (int round = 0; round < 3; ++round) {
    atomics();
    misaligned();
    self_modifying();
    devices();
    hints();
    floats();
    lower_modes();
    waits();
    mix(CSR_READ(time));
    __asm__ volatile(".word 0" : : : "memory");
    __asm__ volatile(".word 0xffffffff" : : : "memory");
    put_hex(sum);
    put_hex(traps);
    put_hex(CSR_READ(mcycle));
  }
  put_hex(CSR_READ(minstret));
  return 0;
}
