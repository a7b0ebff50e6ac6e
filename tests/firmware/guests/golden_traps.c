/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn cases of privilege: mode, delegation, enables, pending interrupts, the trap bits of mstatus, FS, counter
 * enables, direct or vectored; one instruction each, then every trap CSR. A line per case: case, cause and checksum.
 * On QEMU it needs a machine with AIA: without, QEMU 7.2 takes the interrupt with the lowest number first. */
#include "guest.h"

typedef unsigned long u64;
#define CASES 4000
#define SUPERVISOR_BITS 0x222ul
#define MTIP 0x80ul /* QEMU's timer is due from the start */

/* clang-format off */
__asm__(
    ".option push\n .option norvc\n .balign 4\n"
    "instructions:\n"
    " nop\n ecall\n wfi\n ecall\n sret\n ecall\n mret\n ecall\n sfence.vma\n ecall\n csrr t2, satp\n ecall\n"
    " rdtime t2\n ecall\n rdcycle t2\n ecall\n rdinstret t2\n ecall\n csrr t2, 0x14d\n ecall\n"
    " csrr t2, sstatus\n ecall\n csrr t2, fcsr\n ecall\n csrr t2, mscratch\n ecall\n csrw sip, zero\n ecall\n"
    " csrr t2, hpmcounter3\n ecall\n ld t2, 0(zero)\n ecall\n csrw satp, zero\n ecall\n csrr t2, scounteren\n ecall\n"
    " csrs cycle, t2\n ecall\n fadd.d f0, f0, f0\n ecall\n .word 0\n ecall\n csrr t2, sie\n ecall\n"
    "instructions_end:\n"
    /* Vectors note where a trap came in: machine vectors in t1, supervisor vectors in t0, which end in an ecall. */
    " .balign 256\nmachine_vectors:\n"
    " .set i, 0\n .rept 16\n j machine_entries + 8 * i\n .set i, i + 1\n .endr\n"
    " .balign 256\nsupervisor_vectors:\n"
    " .set i, 0\n .rept 16\n j supervisor_entries + 8 * i\n .set i, i + 1\n .endr\n"
    "machine_entries:\n .set i, 0\n .rept 16\n addi t1, zero, 0x200 + i\n j machine_common\n .set i, i + 1\n .endr\n"
    "supervisor_entries:\n .set i, 0\n .rept 16\n addi t0, zero, 0x100 + i\n ecall\n .set i, i + 1\n .endr\n"
    ".macro note csr, at\n csrr t0, \\csr\n sd t0, \\at(t2)\n .endm\n"
    "machine_common:\n csrr t2, mscratch\n sd t0, 0(t2)\n sd t1, 8(t2)\n"
    " note mcause, 16\n note mepc, 24\n note mtval, 32\n note mstatus, 40\n note scause, 48\n note sepc, 56\n"
    " note stval, 64\n note mip, 72\n note sip, 80\n note sie, 88\n csrw mie, zero\n ld ra, 96(t2)\n ret\n"
    /* launch(record, instruction): mret to it; returns from machine_common. */
    "launch:\n csrw mscratch, a0\n sd ra, 96(a0)\n csrw mepc, a1\n li t0, 0\n li t1, 0\n li t2, -1\n mret\n"
    ".option pop\n");
/* clang-format on */
extern unsigned instructions[], instructions_end[];
extern char machine_vectors[], supervisor_vectors[];
void launch(u64* record, void* instruction);
enum { NOP, WFI, SRET, MRET };

#define WRITE(csr, value) __asm__ volatile("csrw " #csr ", %0" ::"r"((u64)(value)) : "memory")

static u64 seed = 88172645463325252ul;
static u64 draw(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (seed * 2685821657736338717ul) >> 8;
}

static void run_case(u64 number) {
  static u64 record[13];
  const u64 modes[3] = {0, 1, 3};
  u64 a = draw(), b = draw(), stce = b & 1;
  WRITE(mie, 0);
  WRITE(mip, 0);
  WRITE(0x30a, stce << 63); /* menvcfg */
  WRITE(0x14d, -1ul);       /* stimecmp */
  WRITE(mideleg, a & SUPERVISOR_BITS);
  WRITE(medeleg, draw() & 0xb1ff); /* not the supervisor's ecall: its vectors end in one */
  WRITE(mcounteren, draw() & 0xff);
  WRITE(scounteren, draw() & 0xff);
  u64 pending = b >> 1 & 1 ? 0 : a >> 12 & SUPERVISOR_BITS;
  u64 enabled = a >> 24 & SUPERVISOR_BITS;
  WRITE(mip, pending);
  u64 mode = modes[(b >> 8) % 3];
  u64 status = mode << 11 | (b >> 20 & 0x1a2) | (b >> 30 & 7) << 20 | (b >> 40 & 3) << 13;
  u64 pick = (b >> 44) % ((instructions_end - instructions) / 2);
  if (pick == WFI && !(enabled & pending & ~(stce << 5))) pick = NOP; /* nothing would wake it */
  if (pick == MRET && mode == 3) pick = NOP;
  WRITE(sepc, pick == SRET && mode != 0 ? &instructions[0] : 0);
  WRITE(mcause, 0);
  WRITE(mtval, 0);
  WRITE(scause, 0);
  WRITE(stval, 0);
  WRITE(satp, 0);
  WRITE(mtvec, machine_vectors + (b >> 53 & 1));
  WRITE(stvec, supervisor_vectors + (b >> 54 & 1));
  WRITE(mstatus, status);
  WRITE(mie, enabled);
  launch(record, &instructions[2 * pick]);
  record[9] &= ~MTIP;
  u64 sum = number;
  for (int i = 0; i < 12; ++i) sum = (sum ^ record[i]) * 0x9e3779b97f4a7c15ul + (sum >> 31);
  put_hex(number);
  put_hex(record[6] ? record[6] : record[2]);
  put_hex(sum);
}

int main(void) {
  WRITE(pmpaddr0, -1ul);
  WRITE(pmpcfg0, 0x1f);
  for (u64 number = 0; number < CASES; ++number) run_case(number);
  return 0;
}
