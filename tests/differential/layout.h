/* SPDX-License-Identifier: Apache-2.0 */
/* What the harness (harness.S), the generator and the comparison agree on: addresses and offsets in bytes.
 * Constants only, for the assembler too. */
#pragma once

#define DIFF_RAM 0x80000000
#define DIFF_RAM_SIZE 0x4000000 /* 64 MiB; QEMU keeps its device tree in the last 4 */
#define DIFF_HARNESS_SIZE 0x2000
#define DIFF_SUPERVISOR 0x1000 /* page of the harness that is copied into each program */
#define DIFF_CONTROL 0x3000    /* control block, from DIFF_RAM */
#define DIFF_PROGRAMS 0x10000  /* programs, from DIFF_RAM */
#define DIFF_VECTORS 0x40      /* offset of either trap vector table in its page; 16 entries */

/* The control block. */
#define CB_COUNT 0  /* number of programs */
#define CB_INDEX 8  /* number of the program that runs */
#define CB_TABLE 16 /* address of the table of descriptors' addresses */
#define CB_DESC 24
#define CB_NEXT 32 /* offset in the code of the step that runs next */
#define CB_LOGGED 40
#define CB_T5 48
#define CB_VECTOR 56
#define CB_SAVE 64 /* x0 to x31 */

/* A program's descriptor. */
#define D_CODE 0 /* address of the code for U, S, (2), M mode */
#define D_SIZE 32
#define D_STEP 40 /* bytes, a power of two: after a trap the next step runs */
#define D_LOG 48
#define D_LOG_LIMIT 56 /* entries */
#define D_RESULT 64
#define D_S_EXIT 72 /* address of the instruction by which the supervisor's handler ends the program */
#define D_HOST 80   /* to 256: for the host alone */
#define D_X 256
#define D_F 512
#define D_FCSR 768
#define D_CSRS 776

/* An entry of a log: 64 bytes. */
#define L_CAUSE 0
#define L_EPC 8
#define L_TVAL 16
#define L_STATUS 24
#define L_VECTOR 32
#define L_DIGEST 40 /* of x1 to x31 */
#define L_SHIFT 6

/* A program's result. */
#define R_DONE 0 /* R_DONE_MAGIC */
#define R_DONE_MAGIC 0x600d
#define R_LOGGED 8
#define R_STATUS 16 /* mstatus at the last trap */
#define R_FCSR 24
#define R_X 32
#define R_F 288
#define R_CSRS 544

/* The supervisor's data, from the start of its page. */
#define S_EXIT 0x7c0
#define S_DATA 0x800
#define S_T5 0
#define S_VECTOR 8
#define S_NEXT 16
#define S_LOGGED 24
#define S_CODE 32 /* for U and S mode */
#define S_SIZE 48
#define S_STEP 56
#define S_LOG 64
#define S_LIMIT 72
#define S_SAVE 128 /* x0 to x31 */

/* clang-format off */
#define DIFF_PMP_CSRS(X)                                                                                         \
  X(pmpaddr0) X(pmpaddr1) X(pmpaddr2) X(pmpaddr3) X(pmpaddr4) X(pmpaddr5) X(pmpaddr6) X(pmpaddr7) X(pmpaddr8)    \
  X(pmpaddr9) X(pmpaddr10) X(pmpaddr11) X(pmpaddr12) X(pmpaddr13) X(pmpaddr14) X(pmpaddr15) X(pmpcfg0) X(pmpcfg2)
/* Written before a program, in this order. */
#define DIFF_INITIAL_CSRS(X)                                                                                    \
  X(stimecmp) DIFF_PMP_CSRS(X)                                                                                  \
  X(medeleg) X(mideleg) X(mie) X(mip) X(mtvec) X(mcounteren) X(menvcfg) X(mcountinhibit) X(stvec) X(scounteren) \
  X(senvcfg) X(sscratch) X(sepc) X(scause) X(stval) X(satp) X(mscratch) X(mcause) X(mtval) X(mepc) X(mstatus)
/* Read after it. */
#define DIFF_FINAL_CSRS(X)                                                                                        \
  DIFF_PMP_CSRS(X)                                                                                                \
  X(medeleg) X(mideleg) X(mie) X(mip) X(mtvec) X(mcounteren) X(menvcfg) X(mcountinhibit) X(stvec) X(scounteren)   \
  X(senvcfg) X(sscratch) X(sepc) X(scause) X(stval) X(stimecmp) X(satp) X(mepc) X(mcause) X(mtval) X(misa) X(sie) \
  X(sip) X(mtopi) X(stopi)
/* clang-format on */
