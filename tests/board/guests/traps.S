/* SPDX-License-Identifier: Apache-2.0 */
# Guests that take traps over and over, on the bare machine. These never end: -DBEFORE, -DPINGPONG, -DRESTART,
# -DAFTER, -DNESTED. These end and pass: -DRETRIES, -DJUMPS, -DPOLLS. -DPART has two harts; one waits for the other.

        .section .text
        .globl  _start
        .type   _start, @function
_start:
        la      t0, trap_handler
        csrw    mtvec, t0
        li      t1, 300000
#if defined(BEFORE)                     /* the handler returns to an instruction before what traps */
        nop
        nop
        .word   0
        j       .
#elif defined(PINGPONG)                 /* two instructions trap; from each, the handler leads to the other */
        la      s2, 1f
        la      s3, 2f
1:      .word   0
2:      .word   0
        j       .
#elif defined(RESTART)                  /* the handler starts the function again */
        la      s2, 1f
1:      li      a0, 5
        addi    a0, a0, 1
        ld      a1, 0(zero)
        j       .
#elif defined(AFTER)                    /* a service that works, and then a vector that leads nowhere */
        li      t1, 3000
1:      ecall
        addi    t1, t1, -1
        bnez    t1, 1b
        csrw    mtvec, zero
        .word   0
#elif defined(NESTED)                   /* the handler pushes, and traps */
        la      sp, _start + 0x400000
        ecall
#elif defined(RETRIES)                  /* until the handler mends the address */
        li      a2, 0x10
1:      ld      a1, 0(a2)
        j       pass
#elif defined(JUMPS)                    /* a handler that leaves by a jump */
1:      ecall
        addi    t1, t1, -1
        bnez    t1, 1b
        j       pass
#elif defined(POLLS)                    /* asks a service the same until memory says otherwise */
        mv      t3, t1
        li      t1, 0
        la      t2, word
        sd      t3, 0(t2)
1:      li      a0, 0
        li      t2, 0
        li      t3, 0
        li      t4, 0
        ecall
        beqz    a0, 1b
        j       pass
#elif defined(PART)
        bnez    a0, 1f
        j       .
1:      li      t0, 8                   /* a message that nobody sends */
        csrw    mie, t0
        csrsi   mstatus, 8
2:      wfi
        j       2b
#endif
pass:   li      t0, 0x100000
        li      t1, 0x5555
        sw      t1, 0(t0)
        j       .
        .size   _start, . - _start

        .balign 4
        .globl  trap_handler
        .type   trap_handler, @function
trap_handler:
#if defined(BEFORE)
        csrr    t2, mepc
        addi    t2, t2, -4
        csrw    mepc, t2
        li      t2, 0
#elif defined(PINGPONG)
        csrr    t2, mepc
        csrw    mepc, s3
        beq     t2, s2, 1f
        csrw    mepc, s2
1:
#elif defined(RESTART)
        csrw    mepc, s2
#elif defined(NESTED)
        addi    sp, sp, -16
        csrr    t2, mcause
        ld      t2, 0(zero)
#elif defined(RETRIES)
        addi    t1, t1, -1
        bnez    t1, 1f
        la      a2, word
1:
#else
        csrr    t2, mepc
        addi    t2, t2, 4
        csrw    mepc, t2
#if defined(JUMPS)
        jr      t2
#elif defined(POLLS)
        la      t3, word
        ld      t4, 0(t3)
        addi    t4, t4, -1
        sd      t4, 0(t3)
        seqz    a0, t4
#endif
#endif
        mret
        .size   trap_handler, . - trap_handler

        .balign 8
word:   .dword  0
