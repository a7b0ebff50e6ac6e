/* firmware/boot/trap_frame.h: the frame of both trap handlers, for assembly: what a called function may change. 144 bytes,
 * of which the first 128 are used. */
#pragma once

        .macro  save_frame
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
        .endm

        .macro  restore_frame
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
        .endm
