/* SPDX-License-Identifier: Apache-2.0 */
# Into user mode and back. To who calls user_run() the process's time is one function call: what it must keep is on its
# stack. sscratch has the hart's number in supervisor mode and the context's address in user mode, and stvec leads where
# traps of the mode go.

#include "firmware/process/context.h"

        .cfi_sections .debug_frame
        .section .text
        .balign 4
        .globl  user_run
        .type   user_run, @function
user_run:
        .cfi_startproc
        addi    sp, sp, -112
        .cfi_def_cfa_offset 112
        sd      ra, 0(sp)
        .cfi_offset ra, -112
        sd      s0, 8(sp)
        sd      s1, 16(sp)
        sd      s2, 24(sp)
        sd      s3, 32(sp)
        sd      s4, 40(sp)
        sd      s5, 48(sp)
        sd      s6, 56(sp)
        sd      s7, 64(sp)
        sd      s8, 72(sp)
        sd      s9, 80(sp)
        sd      s10, 88(sp)
        sd      s11, 96(sp)
        sd      sp, CONTEXT_KERNEL_SP(a0)
        csrr    t0, sscratch
        sd      t0, CONTEXT_HART(a0)
        csrw    sscratch, a0
        la      t0, user_trap
        csrw    stvec, t0
        ld      t0, CONTEXT_PC(a0)
        csrw    sepc, t0
        li      t0, 0x120               # SPP and SPIE: to user mode, and no interrupts in supervisor mode after it
        csrc    sstatus, t0
        ld      x1, 8(a0)
        ld      x2, 16(a0)
        ld      x3, 24(a0)
        ld      x4, 32(a0)
        ld      x5, 40(a0)
        ld      x6, 48(a0)
        ld      x7, 56(a0)
        ld      x8, 64(a0)
        ld      x9, 72(a0)
        ld      x11, 88(a0)
        ld      x12, 96(a0)
        ld      x13, 104(a0)
        ld      x14, 112(a0)
        ld      x15, 120(a0)
        ld      x16, 128(a0)
        ld      x17, 136(a0)
        ld      x18, 144(a0)
        ld      x19, 152(a0)
        ld      x20, 160(a0)
        ld      x21, 168(a0)
        ld      x22, 176(a0)
        ld      x23, 184(a0)
        ld      x24, 192(a0)
        ld      x25, 200(a0)
        ld      x26, 208(a0)
        ld      x27, 216(a0)
        ld      x28, 224(a0)
        ld      x29, 232(a0)
        ld      x30, 240(a0)
        ld      x31, 248(a0)
        ld      x10, 80(a0)
        sret

        .balign 4
user_trap:
        csrrw   a0, sscratch, a0
        sd      x1, 8(a0)
        sd      x2, 16(a0)
        sd      x3, 24(a0)
        sd      x4, 32(a0)
        sd      x5, 40(a0)
        sd      x6, 48(a0)
        sd      x7, 56(a0)
        sd      x8, 64(a0)
        sd      x9, 72(a0)
        sd      x11, 88(a0)
        sd      x12, 96(a0)
        sd      x13, 104(a0)
        sd      x14, 112(a0)
        sd      x15, 120(a0)
        sd      x16, 128(a0)
        sd      x17, 136(a0)
        sd      x18, 144(a0)
        sd      x19, 152(a0)
        sd      x20, 160(a0)
        sd      x21, 168(a0)
        sd      x22, 176(a0)
        sd      x23, 184(a0)
        sd      x24, 192(a0)
        sd      x25, 200(a0)
        sd      x26, 208(a0)
        sd      x27, 216(a0)
        sd      x28, 224(a0)
        sd      x29, 232(a0)
        sd      x30, 240(a0)
        sd      x31, 248(a0)
        csrr    t0, sscratch
        sd      t0, 80(a0)
        csrr    t0, sepc
        sd      t0, CONTEXT_PC(a0)
        ld      t0, CONTEXT_HART(a0)
        csrw    sscratch, t0
        ld      sp, CONTEXT_KERNEL_SP(a0)
        .option push
        .option norelax
        la      gp, __global_pointer$
        .option pop
        la      t0, supervisor_trap_entry
        csrw    stvec, t0
        csrr    a0, scause
        ld      ra, 0(sp)
        ld      s0, 8(sp)
        ld      s1, 16(sp)
        ld      s2, 24(sp)
        ld      s3, 32(sp)
        ld      s4, 40(sp)
        ld      s5, 48(sp)
        ld      s6, 56(sp)
        ld      s7, 64(sp)
        ld      s8, 72(sp)
        ld      s9, 80(sp)
        ld      s10, 88(sp)
        ld      s11, 96(sp)
        addi    sp, sp, 112
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .size   user_run, . - user_run

        .macro  each_float operation
        .irp    n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        \operation f\n, CONTEXT_FLOAT + 8 * \n(a0)
        .endr
        .endm

        .globl  user_save_float
        .type   user_save_float, @function
user_save_float:
        each_float fsd
        csrr    t0, fcsr
        sd      t0, CONTEXT_FCSR(a0)
        ret
        .size   user_save_float, . - user_save_float

        .globl  user_load_float
        .type   user_load_float, @function
user_load_float:
        each_float fld
        ld      t0, CONTEXT_FCSR(a0)
        csrw    fcsr, t0
        ret
        .size   user_load_float, . - user_load_float
