/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal kernel in S mode that uses all harts: it starts every other hart by SBI, every hart waits for a timer and
 * then for an interrupt from its neighbour, and hart 0 shuts the machine down. a0: number of the hart that starts
 * first. HARTS: number of harts. */

#define HSM 0x48534D
#define TIME 0x54494D45
#define IPI 0x735049
#define RFENCE 0x52464E43
#define SRST 0x53525354
#define SSIE 2
#define STIE 32

  .macro sbi extension, function
  li a7, \extension
  li a6, \function
  ecall
  bnez a0, failed
  .endm

  .macro wait_for counter
1:
  la t0, \counter
  lw t1, 0(t0)
  li t2, HARTS
  bne t1, t2, 1b
  .endm

  .globl _start
  .text
_start:
  mv s0, a0
  li s1, 0
next_hart:
  beq s1, s0, started
  mv a0, s1
  la a1, hart
  li a2, 0
  sbi HSM, 0
started:
  addi s1, s1, 1
  li t0, HARTS
  blt s1, t0, next_hart
  mv a0, s0

hart: /* a0: its number */
  mv s0, a0
  la t0, failed
  csrw stvec, t0
  la t0, came_up
  li t1, 1
  amoadd.w zero, t1, (t0)
  wait_for came_up

  /* A timer interrupt 50 us from now: STIP wakes the hart, and the interrupt is not taken. */
  li t0, STIE
  csrw sie, t0
  rdtime a0
  addi s2, a0, 500
  mv a0, s2
  sbi TIME, 0
2:
  wfi
  csrr t0, sip
  andi t0, t0, STIE
  beqz t0, 2b
  rdtime t0
  bltu t0, s2, failed
  csrw sie, zero
  li a0, -1
  sbi TIME, 0
  csrr t0, sip
  andi t0, t0, STIE
  bnez t0, failed
  la t0, woke
  li t1, 1
  amoadd.w zero, t1, (t0)
  wait_for woke

  /* An interrupt to the next hart, which is the first after the last. */
  li t0, SSIE
  csrw sie, t0
  addi a1, s0, 1
  li t0, HARTS
  bne a1, t0, 3f
  li a1, 0
3:
  li a0, 1
  sbi IPI, 0
4:
  wfi
  csrr t0, sip
  andi t0, t0, SSIE
  beqz t0, 4b
  csrci sip, SSIE
  li a0, 0
  li a1, -1
  li a2, 0
  li a3, 0
  sbi RFENCE, 0
  la t0, called
  li t1, 1
  amoadd.w zero, t1, (t0)
  wait_for called
  bnez s0, 5f
  li a0, 0
  li a1, 0
  sbi SRST, 0
5:
  wfi
  j 5b

  .balign 4
failed: /* without SBI */
  csrr t2, scause
  li t0, 0x100000
  li t1, 0x73333
  sw t1, 0(t0)
  j .

  .balign 64
came_up:
  .word 0
woke:
  .word 0
called:
  .word 0
