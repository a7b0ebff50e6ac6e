/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/address_space.c */
#include "firmware/process/address_space.h"

#include "firmware/kernel/csr.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/panic.h"
#include "firmware/kernel/spinlock.h"
#include "firmware/memory/translation.h"

#define ENTRIES 512u
#define LEVELS 3u
#define PTE_VALID 1ul
#define PTE_USER 0x10ul
#define PTE_ACCESS 0xeul   /* R, W, X */
#define PTE_DEVICE 0x100ul /* this and the next are left to software */
#define PTE_OWN 0x200ul
#define PTE_ACCESSED_DIRTY 0xc0ul
#define PTE_PHYSICAL_SHIFT 10
#define SATP_SV39 (8ul << 60)
#define SATP_ASID_SHIFT 44

/* Pages that were given back: each begins with the address of the next. */
static uint64_t* free_pages;
static struct spinlock free_pages_lock;

uint64_t* page_take(void) {
  spinlock_take(&free_pages_lock);
  uint64_t* page = free_pages;
  if (page != 0) free_pages = (uint64_t*)page[0];
  spinlock_give(&free_pages_lock);
  if (page == 0) page = memory_reserve(PAGE_BYTES, PAGE_BYTES);
  for (unsigned i = 0; i < PAGE_BYTES / sizeof *page; i++) page[i] = 0;
  return page;
}

static void page_give(uint64_t* page) {
  spinlock_take(&free_pages_lock);
  page[0] = (uintptr_t)free_pages;
  free_pages = page;
  spinlock_give(&free_pages_lock);
}

static uint64_t pte(uint64_t physical, uint64_t flags) { return physical >> 12 << PTE_PHYSICAL_SHIFT | flags; }
static uint64_t* table_of(uint64_t entry) { return (uint64_t*)(entry >> PTE_PHYSICAL_SHIFT << 12); }

void address_space_setup(struct address_space* space, uint16_t asid) {
  space->root = page_take();
  translation_kernel(space->root);
  space->root[ADDRESS_SPACE_USER >> 30] = 0;
  space->satp = SATP_SV39 | (uint64_t)asid << SATP_ASID_SHIFT | (uintptr_t)space->root >> 12;
}

static bool is_leaf(uint64_t entry) { return (entry & PTE_ACCESS) != 0; }

/* The entry for an address at *level, 0 for pages of PAGE_BYTES, or the one of a larger page there, whose level is in
 * *level then; 0: a table on the way is missing, and create is false. Inline, because system calls look up each page of
 * what they copy. */
static inline __attribute__((always_inline)) uint64_t* walk(const struct address_space* space, uint64_t address,
                                                            unsigned* level, bool create) {
  uint64_t* table = space->root;
  for (unsigned at = LEVELS - 1;; at--) {
    uint64_t* entry = &table[address >> (12 + 9 * at) & (ENTRIES - 1)];
    if (at == *level || is_leaf(*entry)) {
      *level = at;
      return entry;
    }
    if ((*entry & PTE_VALID) == 0) {
      if (!create) return 0;
      *entry = pte((uintptr_t)page_take(), PTE_VALID);
    }
    table = table_of(*entry);
  }
}

static void map(struct address_space* space, uint64_t address, uint64_t physical, unsigned level, unsigned access) {
  if (address - ADDRESS_SPACE_USER >= ADDRESS_SPACE_END - ADDRESS_SPACE_USER) panic("a page outside of user memory");
  uint64_t* entry = walk(space, address, &level, true);
  if (*entry & PTE_VALID) panic("a page is mapped twice");
  *entry = pte(physical, PTE_VALID | PTE_USER | PTE_ACCESSED_DIRTY | ((uint64_t)access << 1 & PTE_ACCESS) |
                             (access & PAGE_DEVICE ? PTE_DEVICE : 0) | (access & PAGE_OWN ? PTE_OWN : 0));
  __atomic_fetch_add(&space->changes, 1, __ATOMIC_RELEASE);
}

void address_space_map(struct address_space* space, uint64_t address, uint64_t physical, unsigned access) {
  map(space, address, physical, 0, access);
}

void address_space_map_range(struct address_space* space, uint64_t address, uint64_t physical, uint64_t bytes,
                             unsigned access) {
  for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) address_space_map(space, address + at, physical + at, access);
}

void address_space_map_large(struct address_space* space, uint64_t address, uint64_t physical, unsigned access) {
  map(space, address, physical, 1, access);
}

/* Gives back what a table leads to, and the table itself. */
static void release(uint64_t* table) {
  for (unsigned i = 0; i < ENTRIES; i++) {
    if ((table[i] & PTE_VALID) == 0) continue;
    if (!is_leaf(table[i]))
      release(table_of(table[i]));
    else if (table[i] & PTE_OWN)
      page_give(table_of(table[i]));
  }
  page_give(table);
}

void address_space_clear(struct address_space* space) {
  uint64_t* user = &space->root[ADDRESS_SPACE_USER >> 30];
  const uint64_t entry = *user;
  *user = 0;
  if (entry & PTE_VALID) release(table_of(entry));
  __atomic_fetch_add(&space->changes, 1, __ATOMIC_RELEASE);
}

void* address_space_find(const struct address_space* space, uint64_t address, uint64_t bytes, unsigned access) {
  if (address - ADDRESS_SPACE_USER >= ADDRESS_SPACE_END - ADDRESS_SPACE_USER) return 0;
  if (bytes > PAGE_BYTES - address % PAGE_BYTES) return 0;
  unsigned level = 0;
  const uint64_t* entry = walk(space, address, &level, false);
  const uint64_t needed = PTE_VALID | PTE_USER | (uint64_t)access << 1;
  if (entry == 0 || (*entry & needed) != needed || (*entry & PTE_DEVICE) != 0) return 0;
  return (uint8_t*)table_of(*entry) + address % (level == 0 ? PAGE_BYTES : LARGE_PAGE_BYTES);
}

/* Where something has changed, the TLB may still have translations of an earlier process with this ASID, and pages that
 * were missing then. */
void address_space_activate(struct address_space* space) {
  const uint32_t changes = __atomic_load_n(&space->changes, __ATOMIC_ACQUIRE);
  uint32_t* seen = &space->seen[hart_id()];
  csr_write(satp, space->satp);
  if (*seen == changes) return;
  *seen = changes;
  __asm__ volatile("sfence.vma x0, %0" ::"r"(space->satp >> SATP_ASID_SHIFT & 0xffff) : "memory");
}
