/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/csr.h: control and status registers, and the few instructions that C has no name for. */
#pragma once

#define CSR_MENVCFG 0x30a
#define CSR_STIMECMP 0x14d
#define CSR_SISELECT 0x150
#define CSR_SIREG 0x151
#define CSR_STOPEI 0x15c

#define CSR_STRING_(x) #x
#define CSR_STRING(x) CSR_STRING_(x)

#define csr_read(name)                                                              \
  ({                                                                                \
    unsigned long csr_value_;                                                       \
    __asm__ volatile("csrr %0, " CSR_STRING(name) : "=r"(csr_value_) : : "memory"); \
    csr_value_;                                                                     \
  })
#define csr_write(name, value) __asm__ volatile("csrw " CSR_STRING(name) ", %0" : : "rK"(value) : "memory")
#define csr_set(name, bits) __asm__ volatile("csrs " CSR_STRING(name) ", %0" : : "rK"(bits) : "memory")
#define csr_clear(name, bits) __asm__ volatile("csrc " CSR_STRING(name) ", %0" : : "rK"(bits) : "memory")
#define csr_exchange(name, value)                                                                       \
  ({                                                                                                    \
    unsigned long csr_value_;                                                                           \
    __asm__ volatile("csrrw %0, " CSR_STRING(name) ", %1" : "=r"(csr_value_) : "rK"(value) : "memory"); \
    csr_value_;                                                                                         \
  })

#define SSTATUS_SIE 0x2ul
#define SIE_TIMER 0x20ul
#define SIE_EXTERNAL 0x200ul
#define CAUSE_LOAD_ACCESS 5ul
#define CAUSE_STORE_ACCESS 7ul
#define CAUSE_INTERRUPT (1ul << 63)
#define CAUSE_SUPERVISOR_TIMER 5ul
#define CAUSE_SUPERVISOR_EXTERNAL 9ul

static inline void wait_for_interrupt(void) { __asm__ volatile("wfi" : : : "memory"); }
/* Starts to bring a line to the caches. The compiler does not know Zicbop yet. */
static inline void prefetch_read(const void* p) {
  __asm__ volatile(".option push\n.option arch, +zicbop\nprefetch.r 0(%0)\n.option pop" : : "r"(p));
}

/* Cache-block operations (Zicbom, Zicboz) on the block that has this address; nor does it know these. */
#define CACHE_BLOCK(name, kind)                                                \
  static inline void name(const volatile void* p) {                            \
    __asm__ volatile(".insn i 0x0f, 2, x0, %0, " #kind : : "r"(p) : "memory"); \
  }
CACHE_BLOCK(cache_invalidate, 0)
CACHE_BLOCK(cache_clean, 1)
CACHE_BLOCK(cache_flush, 2)
CACHE_BLOCK(cache_zero, 4)

static inline void cpu_pause(void) { __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010" : : : "memory"); }
static inline void fence_all(void) { __asm__ volatile("fence" : : : "memory"); }
/* Orders earlier loads before later loads. */
static inline void fence_reads(void) { __asm__ volatile("fence r, r" : : : "memory"); }
/* Makes earlier stores, of descriptors and data, visible before a later store to a device. */
static inline void fence_before_doorbell(void) { __asm__ volatile("fence w, o" : : : "memory"); }

static inline unsigned long read_time(void) {
  unsigned long t;
  __asm__ volatile("rdtime %0" : "=r"(t) : : "memory");
  return t;
}
