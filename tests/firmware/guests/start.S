/* SPDX-License-Identifier: Apache-2.0 */
# Entry of a bare guest in M mode: stack, floating point on, main(), and its result to the test finisher.
# Runs alike on qemu-system-riscv64 -M virt -bios none and on tests/unit/riscv/iss_machine.h.
    .section .text.start
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, stack_top
    li t0, 0x6000
    csrs mstatus, t0
    la t0, unexpected_trap
    csrw mtvec, t0
    la t0, bss_start
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sd zero, 0(t0)
    addi t0, t0, 8
    j 1b
2:  call main
finish:
    li t0, 0x5555
    beqz a0, 2f
    slli a0, a0, 16
    li t0, 0x3333
    or t0, a0, t0
2:  li a0, 0x100000
    sw t0, 0(a0)
1:  j 1b
    .balign 4
unexpected_trap:
    li a0, 0x7777
    j finish
