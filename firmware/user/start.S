/* SPDX-License-Identifier: Apache-2.0 */
# Where every thread of a process begins: a0 is its number, a1 and a2 are what the kernel gives to it; main() gets all
# three, and what it returns ends the process.
#include "firmware/process/system_call.h"

        .section .text.start, "ax"
        .globl  _start
_start:
        .option push
        .option norelax
        la      gp, __global_pointer$
        .option pop
        call    main
        li      a7, SYSTEM_CALL_EXIT
        ecall
