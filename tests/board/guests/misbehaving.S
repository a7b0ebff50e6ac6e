/* SPDX-License-Identifier: Apache-2.0 */
# Guests that go wrong in one way each, on the bare machine: -DNOWHERE, -DHANDLER, -DSTACK, -DSPIN, -DSLEEP, -DLOAD,
# -DRETRY. -DPOLL and -DARMED only look as if they went wrong. -DREBOOT resets the board once, -DREBOOTS again and again.

        .section .text
        .globl  _start
        .type   _start, @function
_start:
#if defined(NOWHERE)                    /* no trap vector, and a jump to where nothing is */
        li      t0, 0x10
        jr      t0
#elif defined(HANDLER) || defined(STACK)
        la      t0, trap_handler
        csrw    mtvec, t0
        li      sp, 0x10                /* no stack */
        ecall
#elif defined(SPIN)                     /* never gets to its work */
        j       .
#elif defined(SLEEP)                    /* for an interrupt that nobody enables */
        wfi
        j       .
#elif defined(RETRY)                    /* a load from nowhere, tried again by its handler */
        la      t0, trap_handler
        csrw    mtvec, t0
        li      t1, 0x10
1:      ld      t1, 0(t1)
        j       1b
#elif defined(POLL)                     /* waits for a word in memory */
        la      t0, word
1:      ld      t1, 0(t0)
        beqz    t1, 1b
        j       .
#elif defined(ARMED)                    /* in a circle that the timer's interrupt may end */
        li      t0, 0x80
        csrw    mie, t0
        csrsi   mstatus, 8
1:      nop
        j       1b
#elif defined(REBOOT)                   /* memory outside the image tells whether it has been here */
        li      t0, 0x100000
        li      t1, 0x80800000
        ld      t2, 0(t1)
        addi    t3, t2, 1
        sd      t3, 0(t1)
        li      t4, 0x7777
        beqz    t2, 1f
        li      t4, 0x5555
1:      sw      t4, 0(t0)
        j       .
#elif defined(REBOOTS)                  /* for ever */
        li      t0, 0x100000
        li      t4, 0x7777
        sw      t4, 0(t0)
        j       .
#elif defined(LOAD)                     /* a load from nowhere, told as the failure's code: mcause */
        la      t0, trap_handler
        csrw    mtvec, t0
        li      t1, 0x10
        ld      t1, 0(t1)
#endif
        .size   _start, . - _start

        .balign 4
        .globl  trap_handler
        .type   trap_handler, @function
trap_handler:
#if defined(HANDLER)                    /* traps at its first instruction */
        ld      t0, 0(zero)
#elif defined(STACK)                    /* works a little, then pushes to a stack that is not there */
        csrr    t0, mcause
        addi    sp, sp, -16
        sd      t0, 0(sp)
#elif defined(RETRY)
        csrr    t0, mcause
        mret
#elif defined(LOAD)
        csrr    t0, mcause
        slli    t0, t0, 16
        li      t1, 0x3333
        or      t0, t0, t1
        li      t1, 0x100000
        sw      t0, 0(t1)
#endif
        j       .
        .size   trap_handler, . - trap_handler

        .balign 8
word:   .dword  0
