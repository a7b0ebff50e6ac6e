/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every program of an image: sets the state that its descriptor asks for, enters it, logs its traps and lets it
 * go on with the step after the one that trapped, and writes down its last state. An ecall that comes here changes the
 * mode to a0 & 3. At the end stops the machine. */
#include "layout.h"

#define t5_at (8 * 30)
#define t6_at (8 * 31)

  .option norvc
  .option norelax
  .text
  .globl _start
_start:
  /* QEMU has a second hart, so that its AMOs are not loads and stores; it sleeps. */
  csrr t0, mhartid
  beqz t0, 2f
1:
  wfi
  j 1b
2:
  /* The timer's interrupt is pending on QEMU until mtimecmp is set. The ISS has no CLINT here: the store traps. */
  la t0, 1f
  csrw mtvec, t0
  li t0, 0x2004000
  li t1, -1
  sd t1, 0(t0)
  .balign 4
1:
  j start

  .macro vectors prefix
  .balign DIFF_VECTORS
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  j \prefix\()_\n
  .endr
  .endm
  .macro save_registers base, at
  .irp n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29
  sd x\n, \at + 8 * \n(\base)
  .endr
  .endm
  .macro load_registers base, at
  .irp n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
  ld x\n, \at + 8 * \n(\base)
  .endr
  ld x31, \at + 8 * 31(\base)
  .endm
  /* t2 = a digest of x1 to x31, saved at \at(s0) */
  .macro digest at
  addi t0, s0, \at + 8
  li t1, 31
  li t2, 0
1:
  ld t3, 0(t0)
  slli t4, t2, 7
  srli t5, t2, 57
  or t2, t4, t5
  xor t2, t2, t3
  addi t0, t0, 8
  addi t1, t1, -1
  bnez t1, 1b
  .endm
  /* t2 = the offset at which to go on after a trap at s4; code at t1, s5 bytes, steps of t4, last offset at \at(s0) */
  .macro next_step at
  sub t2, s4, t1
  li t5, 0
  bgeu t2, s5, 2f
  neg t6, t4
  and t5, t2, t6
  add t5, t5, t4
2:
  ld t2, \at(s0)
  add t2, t2, t4
  bgeu t2, t5, 3f
  mv t2, t5
3:
  sd t2, \at(s0)
  .endm

  vectors machine
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
machine_\n:
  csrrw t6, mscratch, t6
  la t6, _start + DIFF_CONTROL
  sd t5, CB_T5(t6)
  li t5, \n
  j machine_trap
  .endr

machine_trap:
  save_registers t6, CB_SAVE
  sd t5, CB_VECTOR(t6)
  ld t5, CB_T5(t6)
  sd t5, CB_SAVE + t5_at(t6)
  csrr t5, mscratch
  sd t5, CB_SAVE + t6_at(t6)
  mv s0, t6
  ld s1, CB_DESC(s0)
  csrr s2, mstatus
  csrr s3, mcause
  csrr s4, mepc
  ld t0, CB_LOGGED(s0)
  ld t1, D_LOG_LIMIT(s1)
  bgeu t0, t1, finish
  digest CB_SAVE
  ld t0, CB_LOGGED(s0)
  slli t3, t0, L_SHIFT
  ld t4, D_LOG(s1)
  add t3, t3, t4
  sd s3, L_CAUSE(t3)
  sd s4, L_EPC(t3)
  csrr t5, mtval
  sd t5, L_TVAL(t3)
  csrw mtval, zero /* the machines may differ there: programs must not see it */
  csrw mcause, zero
  sd s2, L_STATUS(t3)
  ld t5, CB_VECTOR(s0)
  sd t5, L_VECTOR(t3)
  sd t2, L_DIGEST(t3)
  addi t0, t0, 1
  sd t0, CB_LOGGED(s0)
  ld t0, D_S_EXIT(s1)
  beq s4, t0, finish
  srli t0, s2, 11
  andi t0, t0, 3
  slli t0, t0, 3
  add t0, t0, s1
  ld t1, D_CODE(t0)
  ld s5, D_SIZE(s1)
  ld t4, D_STEP(s1)
  next_step CB_NEXT
  bgeu t2, s5, finish
  li t0, 0x20000 /* MPRV: QEMU 7.2 keeps it when M mode is left */
  csrc mstatus, t0
  bgez s3, 4f
  csrw mie, zero
4:
  li t0, 8
  beq s3, t0, 5f
  li t0, 9
  beq s3, t0, 5f
  li t0, 11
  bne s3, t0, 6f
5:
  ld t5, CB_SAVE + 80(s0)
  andi t5, t5, 3
  li t6, 2
  bne t5, t6, 7f
  li t5, 3
7:
  li t6, 0x1800 /* MPP */
  csrc mstatus, t6
  slli t5, t5, 11
  csrs mstatus, t5
6:
  csrr t0, mstatus
  srli t0, t0, 11
  andi t0, t0, 3
  slli t0, t0, 3
  add t0, t0, s1
  ld t1, D_CODE(t0)
  add t2, t2, t1
  csrw mepc, t2
  addi x31, s0, 0
  load_registers x31, CB_SAVE
  mret

finish:
  li t0, 0x6000 /* FS */
  csrs mstatus, t0
  ld s3, D_RESULT(s1)
  sd s2, R_STATUS(s3)
  csrr t0, fcsr
  sd t0, R_FCSR(s3)
  ld t0, CB_LOGGED(s0)
  sd t0, R_LOGGED(s3)
  .irp n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  ld t0, CB_SAVE + 8 * \n(s0)
  sd t0, R_X + 8 * \n(s3)
  .endr
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  fsd f\n, R_F + 8 * \n(s3)
  .endr
  addi t1, s3, R_CSRS
#define READ(name) csrr t0, name; sd t0, 0(t1); addi t1, t1, 8;
#define stimecmp 0x14d
#define senvcfg 0x10a
#define menvcfg 0x30a
#define mtopi 0xfb0
#define stopi 0xdb0
  DIFF_FINAL_CSRS(READ)
  li t0, R_DONE_MAGIC
  sd t0, R_DONE(s3)
  ld t0, CB_INDEX(s0)
  addi t0, t0, 1
  sd t0, CB_INDEX(s0)

start:
  la s0, _start + DIFF_CONTROL
  csrw mstatus, zero
  csrw satp, zero
  csrw menvcfg, zero /* STIP is not writable under STCE */
  csrw mip, zero
  ld t0, CB_INDEX(s0)
  ld t1, CB_COUNT(s0)
  bgeu t0, t1, stop
  ld t1, CB_TABLE(s0)
  slli t0, t0, 3
  add t1, t1, t0
  ld s1, 0(t1)
  sd s1, CB_DESC(s0)
  sd zero, CB_NEXT(s0)
  sd zero, CB_LOGGED(s0)
  li t0, 0x6000
  csrs mstatus, t0
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  fld f\n, D_F + 8 * \n(s1)
  .endr
  ld t0, D_FCSR(s1)
  csrw fcsr, t0
  addi t1, s1, D_CSRS
#define WRITE(name) ld t0, 0(t1); csrw name, t0; addi t1, t1, 8;
  DIFF_INITIAL_CSRS(WRITE)
  sfence.vma
  fence.i
  mv x31, s1
  load_registers x31, D_X
  mret

stop:
  li t0, 0x100000
  li t1, 0x5555
  sw t1, 0(t0)
  j stop

  /* The supervisor's handler, copied into each program. Its data are at S_DATA of the same page. */
  .balign 4096
supervisor:
  nop
  vectors supervisor
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
supervisor_\n:
  csrrw t6, sscratch, t6
  la t6, supervisor + S_DATA
  sd t5, S_T5(t6)
  li t5, \n
  j supervisor_trap
  .endr

supervisor_trap:
  save_registers t6, S_SAVE
  sd t5, S_VECTOR(t6)
  ld t5, S_T5(t6)
  sd t5, S_SAVE + t5_at(t6)
  csrr t5, sscratch
  sd t5, S_SAVE + t6_at(t6)
  mv s0, t6
  csrr s2, sstatus
  csrr s3, scause
  csrr s4, sepc
  ld t0, S_LOGGED(s0)
  ld t1, S_LIMIT(s0)
  bgeu t0, t1, supervisor_finish
  digest S_SAVE
  ld t0, S_LOGGED(s0)
  slli t3, t0, L_SHIFT
  ld t4, S_LOG(s0)
  add t3, t3, t4
  sd s3, L_CAUSE(t3)
  sd s4, L_EPC(t3)
  csrr t5, stval
  sd t5, L_TVAL(t3)
  csrw stval, zero
  csrw scause, zero
  sd s2, L_STATUS(t3)
  ld t5, S_VECTOR(s0)
  sd t5, L_VECTOR(t3)
  sd t2, L_DIGEST(t3)
  addi t0, t0, 1
  sd t0, S_LOGGED(s0)
  srli t0, s2, 5
  andi t0, t0, 8 /* SPP */
  add t0, t0, s0
  ld t1, S_CODE(t0)
  ld s5, S_SIZE(s0)
  ld t4, S_STEP(s0)
  next_step S_NEXT
  bgeu t2, s5, supervisor_finish
  bgez s3, 4f
  csrw sie, zero
4:
  li t0, 8
  bne s3, t0, 6f
  ld t5, S_SAVE + 80(s0)
  andi t5, t5, 1
  li t6, 0x100
  csrc sstatus, t6
  slli t5, t5, 8
  csrs sstatus, t5
6:
  csrr t0, sstatus
  srli t0, t0, 5
  andi t0, t0, 8
  add t0, t0, s0
  ld t1, S_CODE(t0)
  add t2, t2, t1
  csrw sepc, t2
  mv x31, s0
  load_registers x31, S_SAVE
  sret
supervisor_finish:
  mv x31, s0
  load_registers x31, S_SAVE
  j supervisor + S_EXIT

  .org DIFF_SUPERVISOR + S_EXIT
  ecall
  ebreak
  .word 0
  .org DIFF_HARNESS_SIZE
