/* SPDX-License-Identifier: Apache-2.0 */
# Machine-mode entry. Every hart comes here with a0 = hart id and a1 = device tree. An image counts its harts from 0: the
# device tree's boot hart (boot_cpuid_phys) is hart 0, whatever its hart id is. Hart 0 clears .bss and boots; the others
# wait in wfi until hart 0 has given them work (kernel/hart.c). All end in supervisor mode by mret.

#include "firmware/boot/boot.h"
#include "firmware/boot/trap_frame.inc"

        .cfi_sections .debug_frame
# Tells the simulator that the codes by which this image ends a run are those of kernel/exit_codes.h.
        .globl  sluice_exit_codes
        .set    sluice_exit_codes, 1

        .section .text.start, "ax"
        .globl  _start
        .type   _start, @function
_start:
        .cfi_startproc
        .cfi_undefined ra               # a backtrace ends here
        .option push
        .option norelax
        la      gp, __global_pointer$
        .option pop
        csrw    mie, zero
        csrw    satp, zero
        beqz    a1, 2f
        lwu     t0, 0(a1)
        li      t1, BOOT_FDT_MAGIC
        bne     t0, t1, 2f
        lwu     t0, BOOT_FDT_BOOT_HART(a1)
        rev8    t0, t0
        srli    t0, t0, 32
        sub     a0, a0, t0
2:      li      t0, BOOT_MAX_HARTS
        bgeu    a0, t0, surplus_hart

        la      sp, _end
        addi    t0, a0, 1
        li      t1, BOOT_HART_BYTES
        mul     t0, t0, t1
        add     sp, sp, t0              # the end of this hart's part (boot.h)
        li      t0, BOOT_STACK_BYTES + BOOT_GUARD_BYTES
        sub     t1, sp, t0              # end of the trap stack, start of the stack's guard
        csrw    mscratch, t1

        # A core without PMP traps here and goes on at 1:, without guards.
        la      t0, 1f
        csrw    mtvec, t0
        li      t2, BOOT_TRAP_STACK_TOP
        sub     t2, t1, t2              # start of the trap stack's guard
        srli    t1, t1, 2
        ori     t1, t1, BOOT_PMP_GUARD_MASK
        csrw    pmpaddr0, t1
        srli    t2, t2, 2
        ori     t2, t2, BOOT_PMP_GUARD_MASK
        csrw    pmpaddr1, t2
        li      t0, -1
        csrw    pmpaddr2, t0
        li      t0, BOOT_PMP_CONFIG
        csrw    pmpcfg0, t0
        .balign 4
1:      la      t0, machine_trap_entry
        csrw    mtvec, t0

        bnez    a0, secondary_hart

        la      t0, __bss_start
        la      t1, __bss_end
2:      bgeu    t0, t1, 3f
        sd      zero, 0(t0)
        sd      zero, 8(t0)
        sd      zero, 16(t0)
        sd      zero, 24(t0)
        addi    t0, t0, 32
        j       2b
3:      mv      s0, a0
        mv      s1, a1
        call    machine_setup
        la      a2, supervisor_main

enter_supervisor:                       # a2: where to; s0, s1: its arguments
        csrw    mepc, a2
        la      t0, supervisor_trap_entry
        csrw    stvec, t0
        li      t0, BOOT_MSTATUS_MPP
        csrc    mstatus, t0
        li      t0, BOOT_MSTATUS_ENTER
        csrs    mstatus, t0
        mv      a0, s0
        mv      a1, s1
        mret

# A secondary hart sleeps with the machine software interrupt enabled but not taken (mstatus.MIE = 0); wfi returns when
# hart 0 raises it, or for no reason, so the release word decides.
secondary_hart:
        mv      s0, a0
        csrsi   mie, 8                  # MSIE
4:      wfi
        la      t0, boot_released
        slli    t1, s0, 3
        add     t0, t0, t1
        ld      a2, 0(t0)
        beqz    a2, 4b
        fence   r, rw
        csrw    mie, zero
        mv      s2, a2
        mv      a0, s0
        call    machine_setup
        mv      a2, s2
        li      s1, 0
        j       enter_supervisor

surplus_hart:
        wfi
        j       surplus_hart
        .cfi_endproc
        .size   _start, . - _start

# Access faults that hit no guard page are passed on to supervisor mode. No other trap to machine mode is expected after
# boot: it ends the run with a report. The handler has a stack of its own, whose address is in mscratch, also for a trap
# inside the report.
        .balign 4
        .type   machine_trap_entry, @function
machine_trap_entry:
        .cfi_startproc
        .cfi_signal_frame
        .cfi_return_column mepc
        csrrw   sp, mscratch, sp
        .cfi_register sp, mscratch
        save_frame
        csrr    a3, mscratch
        sd      a3, 128(sp)
        .cfi_offset sp, -16
        addi    t0, sp, BOOT_TRAP_FRAME_BYTES
        csrw    mscratch, t0
        csrr    a0, mcause
        csrr    a1, mepc
        csrr    a2, mtval
        call    machine_trap
        beqz    a0, 5f
        restore_frame
        ld      sp, 128(sp)
        mret
5:      wfi
        j       5b
        .cfi_endproc
        .size   machine_trap_entry, . - machine_trap_entry

        # Not in .bss: a secondary hart may wake for no reason while hart 0 clears it.
        .section .data
        .balign 8
        .globl  boot_released
boot_released:
        .zero   8 * BOOT_MAX_HARTS
