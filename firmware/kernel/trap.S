/* SPDX-License-Identifier: Apache-2.0 */
# Supervisor trap entry. Interrupts save what a C function may change and return; exceptions end the run in panic.c.
#
# The unwind information leads a debugger from a handler into the interrupted function: it goes on at sepc, which no
# handler changes, and its registers are in the frame.

#include "firmware/boot/trap_frame.inc"

        .cfi_sections .debug_frame
        .section .text
        .balign 4
        .globl  supervisor_trap_entry
        .type   supervisor_trap_entry, @function
supervisor_trap_entry:
        .cfi_startproc
        .cfi_signal_frame
        .cfi_return_column sepc
        save_frame
.Lframed:
        csrr    a0, scause
        bgez    a0, 1f
        call    supervisor_interrupt
        restore_frame
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
        addi    sp, sp, BOOT_TRAP_FRAME_BYTES
        .cfi_def_cfa_offset 0
        sret
        .cfi_restore_state
1:      addi    a1, sp, BOOT_TRAP_FRAME_BYTES
        call    supervisor_exception
        unimp                           # the call's return address must lie within this unwind information
        .cfi_endproc
        .size   supervisor_trap_entry, . - supervisor_trap_entry

        # Address at which the frame is complete, for boot/machine.c. It is stored here because a symbol in the code
        # would replace the handler's name in traces.
        .section .rodata
        .balign 8
        .globl  supervisor_trap_framed
supervisor_trap_framed:
        .dword  .Lframed
