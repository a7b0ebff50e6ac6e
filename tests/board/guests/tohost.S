/* SPDX-License-Identifier: Apache-2.0 */
/* Guests that end their run by a store to tohost, one way each: see test_tohost.py. */

  .macro store_forever value
  li a1, \value
  la a2, tohost
1:
  sd a1, 0(a2)
  j 1b
  .endm

  .globl _start
  .text
_start:
#if defined(PASS)
  store_forever 1
#elif defined(FAIL)
  store_forever 7
#elif defined(EVEN)
  store_forever 6
#elif defined(DEVICE)
  store_forever 0x0500000000000003
#elif defined(ATOMIC)
  li a1, 9
  la a2, tohost
  amoswap.d a3, a1, (a2)
  j .
#elif defined(HALVES)
  /* As riscv-tests do: a lower half that would be another command without its upper half. */
  li a1, 'x'
  li a3, 0x01010000
  la a2, tohost
  sw a1, 0(a2)
  sw a3, 4(a2)
1:
  lw a4, 4(a2)
  bnez a4, 1b
  li a1, 1
2:
  sw a1, 0(a2)
  sw zero, 4(a2)
  j 2b
#elif defined(LOWER)
  li a1, 5
  la a2, tohost
  sw a1, 0(a2)
  j .
#elif defined(SECOND)
  csrr a3, mhartid
  li a4, 1
  bne a3, a4, 1f
  store_forever 11
1:
  wfi
  j 1b
#elif defined(USER)
  li a3, -1
  csrw pmpaddr0, a3
  li a3, 0x1f
  csrw pmpcfg0, a3
  la a3, 1f
  csrw mepc, a3
  mret
1:
  store_forever 13
#elif defined(PAGED)
  li a3, -1
  csrw pmpaddr0, a3
  li a3, 0x1f
  csrw pmpcfg0, a3
  la a3, table
  srli a3, a3, 12
  li a4, 8 << 60
  or a3, a3, a4
  csrw satp, a3
  li a3, 1 << 11
  csrw mstatus, a3
  la a3, 1f
  csrw mepc, a3
  mret
1:
  la a2, tohost
  li a3, 0x40000000
  sub a2, a2, a3
  li a1, 15
  sd a1, 0(a2)
  j .
#elif defined(CONSOLE)
  la a3, text
  la a2, tohost
1:
  lbu a1, 0(a3)
  beqz a1, 3f
  li a4, 0x0101000000000000
  or a1, a1, a4
  sd zero, 8(a2)
  sd a1, 0(a2)
2:
  ld a5, 8(a2)
  beqz a5, 2b
  ld a6, 0(a2)
  bnez a6, 2b
  bne a5, a4, 4f
  addi a3, a3, 1
  j 1b
3:
  store_forever 1
4:
  store_forever 3
#elif defined(CALL)
  la a1, block
  la a2, tohost
  sd a1, 0(a2)
1:
  ld a5, 8(a2)
  beqz a5, 1b
  ld a6, 0(a1)
  li a7, 6
  bne a6, a7, 2f
  store_forever 1
2:
  store_forever 3
#elif defined(NOTHING)                  /* a write of nothing, from where nothing is */
  la a1, block
  sd zero, 16(a1)
  sd zero, 24(a1)
  la a2, tohost
  sd a1, 0(a2)
1:
  ld a5, 8(a2)
  beqz a5, 1b
  ld a6, 0(a1)
  bnez a6, 2f
  store_forever 1
2:
  store_forever 3
#elif defined(EXIT)
  la a1, block
  li a3, 93
  sd a3, 0(a1)
  li a3, 42
  sd a3, 8(a1)
  la a2, tohost
  sd a1, 0(a2)
  j .
#endif

  .data
  .balign 4096
  .globl tohost
tohost:
  .dword 0
  .globl fromhost
fromhost:
  .dword 0
text:
  .asciz "Hi you\n"
  .balign 64
block:
  .dword 64, 1, text, 6
  .balign 4096
table:
  /* 1 GiB pages: virtual 0x40000000 and 0x80000000 are both physical 0x80000000. */
  .dword 0, 0x20000000 | 0xcf, 0x20000000 | 0xcf
  .balign 4096
