/* SPDX-License-Identifier: Apache-2.0 */
# The mistakes of sabotage.c that are one instruction each, and a trap handler. The handler continues after the
# instruction that has trapped; after a jump, it continues where the jump would have returned to.

        .section .text
        .balign 4
        .globl  sabotage_trap
        .type   sabotage_trap, @function
sabotage_trap:
        addi    sp, sp, -16
        sd      t0, 0(sp)
        sd      t1, 8(sp)
        csrr    t1, scause
        li      t0, 1                   # fetch access fault
        bne     t1, t0, 1f
        csrw    sepc, ra
        j       3f
1:      csrr    t0, sepc
        lbu     t1, 0(t0)
        andi    t1, t1, 3
        addi    t0, t0, 2
        addi    t1, t1, -3
        bnez    t1, 2f
        addi    t0, t0, 2
2:      csrw    sepc, t0
3:      ld      t0, 0(sp)
        ld      t1, 8(sp)
        addi    sp, sp, 16
        sret
        .size   sabotage_trap, . - sabotage_trap

        .macro  one name, instruction:vararg
        .globl  \name
        .type   \name, @function
\name:  \instruction                    # GUILTY
        ret
        .size   \name, . - \name
        .endm

        one     sabotage_load, ld t0, 0(a0)
        one     sabotage_store, sd zero, 0(a0)
        one     sabotage_load_word, lw t0, 0(a0)
        one     sabotage_atomic_word, amoadd.w t0, zero, (a0)
        one     sabotage_atomic, amoadd.d t0, zero, (a0)
        one     sabotage_illegal, csrw cycle, zero
        one     sabotage_jump, jr a0

        .balign 64
        .globl  sabotage_victim
sabotage_victim:
        .rept   1024
        unimp
        .endr
