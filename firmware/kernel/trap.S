# Supervisor trap entry. Interrupts save what a C function may change and return; exceptions end the run in panic.c.
#
# The unwind information leads a debugger from a handler into the interrupted function: it goes on at sepc, which no
# handler changes, and its registers are in the frame.

        .cfi_sections .debug_frame
        .section .text
        .balign 4
        .globl  supervisor_trap_entry
        .type   supervisor_trap_entry, @function
supervisor_trap_entry:
        .cfi_startproc
        .cfi_signal_frame
        .cfi_return_column sepc
        addi    sp, sp, -144
        .cfi_def_cfa_offset 144
        sd      ra, 0(sp)
        sd      t0, 8(sp)
        sd      t1, 16(sp)
        sd      t2, 24(sp)
        sd      a0, 32(sp)
        sd      a1, 40(sp)
        sd      a2, 48(sp)
        sd      a3, 56(sp)
        sd      a4, 64(sp)
        sd      a5, 72(sp)
        sd      a6, 80(sp)
        sd      a7, 88(sp)
        sd      t3, 96(sp)
        sd      t4, 104(sp)
        sd      t5, 112(sp)
        sd      t6, 120(sp)
        .cfi_offset ra, -144
        .cfi_offset t0, -136
        .cfi_offset t1, -128
        .cfi_offset t2, -120
        .cfi_offset a0, -112
        .cfi_offset a1, -104
        .cfi_offset a2, -96
        .cfi_offset a3, -88
        .cfi_offset a4, -80
        .cfi_offset a5, -72
        .cfi_offset a6, -64
        .cfi_offset a7, -56
        .cfi_offset t3, -48
        .cfi_offset t4, -40
        .cfi_offset t5, -32
        .cfi_offset t6, -24
        csrr    a0, scause
        bgez    a0, 1f
        call    supervisor_interrupt
        ld      ra, 0(sp)
        ld      t0, 8(sp)
        ld      t1, 16(sp)
        ld      t2, 24(sp)
        ld      a0, 32(sp)
        ld      a1, 40(sp)
        ld      a2, 48(sp)
        ld      a3, 56(sp)
        ld      a4, 64(sp)
        ld      a5, 72(sp)
        ld      a6, 80(sp)
        ld      a7, 88(sp)
        ld      t3, 96(sp)
        ld      t4, 104(sp)
        ld      t5, 112(sp)
        ld      t6, 120(sp)
        .cfi_remember_state
        .cfi_restore ra
        .cfi_restore t0
        .cfi_restore t1
        .cfi_restore t2
        .cfi_restore a0
        .cfi_restore a1
        .cfi_restore a2
        .cfi_restore a3
        .cfi_restore a4
        .cfi_restore a5
        .cfi_restore a6
        .cfi_restore a7
        .cfi_restore t3
        .cfi_restore t4
        .cfi_restore t5
        .cfi_restore t6
        addi    sp, sp, 144
        .cfi_def_cfa_offset 0
        sret
        .cfi_restore_state
1:      addi    a1, sp, 144
        call    supervisor_exception
        .cfi_endproc
        .size   supervisor_trap_entry, . - supervisor_trap_entry
