/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/memory/translation.c: one table of pages of 1 GiB. */
#include "firmware/memory/translation.h"

#include "firmware/kernel/csr.h"
#include "firmware/kernel/panic.h"

#define PAGE_SHIFT 30
#define ENTRIES 512u
#define LOW_ENTRIES 256u /* below 256 GiB; the others are at the top of the address space */
#define PTE_FLAGS 0xcful /* V, R, W, X, A, D */
#define PTE_PBMT_SHIFT 61
#define SATP_SV39 (8ul << 60)

static uint64_t table[ENTRIES] __attribute__((aligned(4096)));
static unsigned next_entry = LOW_ENTRIES;

static uint64_t entry(uint64_t page, enum memory_type type) {
  return page << (PAGE_SHIFT - 2) | PTE_FLAGS | (uint64_t)type << PTE_PBMT_SHIFT;
}

void translation_kernel(uint64_t* root) {
  for (unsigned n = 0; n < LOW_ENTRIES; n++) root[n] = entry(n, MEMORY_AS_IT_IS);
  for (unsigned n = LOW_ENTRIES; n < next_entry; n++) root[n] = table[n];
}

void translation_setup(void) {
  translation_kernel(table);
  csr_write(satp, SATP_SV39 | (uintptr_t)table >> 12);
  __asm__ volatile("sfence.vma" ::: "memory");
}

uintptr_t translation_map(uint64_t physical, uint64_t bytes, enum memory_type type) {
  uint64_t first = physical >> PAGE_SHIFT, last = (physical + bytes - 1) >> PAGE_SHIFT;
  if (last - first >= ENTRIES - next_entry) panic("no address space is left for devices");
  /* The upper half is sign-extended. */
  uint64_t address = (uint64_t)next_entry << PAGE_SHIFT | ~0ul << 39 | (physical & ((1ul << PAGE_SHIFT) - 1));
  for (uint64_t page = first; page <= last; page++) table[next_entry++] = entry(page, type);
  __asm__ volatile("sfence.vma" ::: "memory");
  return address;
}

uint64_t translation_physical(uintptr_t address) {
  const uint64_t page = table[address >> PAGE_SHIFT & (ENTRIES - 1)] << 10 >> 20; /* without PBMT and flags */
  return page << 12 | (address & ((1ul << PAGE_SHIFT) - 1));
}
