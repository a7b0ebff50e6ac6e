/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/address_space.c */
#include "firmware/process/address_space.h"

#include "firmware/kernel/csr.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/panic.h"
#include "firmware/memory/translation.h"

#define ENTRIES 512u
#define LEVELS 3u
#define PTE_VALID 1ul
#define PTE_USER 0x10ul
#define PTE_ACCESS 0xeul   /* R, W, X */
#define PTE_DEVICE 0x100ul /* left to software */
#define PTE_ACCESSED_DIRTY 0xc0ul
#define PTE_PHYSICAL_SHIFT 10
#define SATP_SV39 (8ul << 60)
#define SATP_ASID_SHIFT 44

uint64_t* page_reserve(void) {
  uint64_t* page = memory_reserve(PAGE_BYTES, PAGE_BYTES);
  for (unsigned i = 0; i < PAGE_BYTES / sizeof *page; i++) page[i] = 0;
  return page;
}

static uint64_t pte(uint64_t physical, uint64_t flags) { return physical >> 12 << PTE_PHYSICAL_SHIFT | flags; }
static uint64_t* table_of(uint64_t entry) { return (uint64_t*)(entry >> PTE_PHYSICAL_SHIFT << 12); }

void address_space_setup(struct address_space* space, uint16_t asid) {
  space->root = page_reserve();
  translation_kernel(space->root);
  space->root[ADDRESS_SPACE_USER >> 30] = 0;
  space->satp = SATP_SV39 | (uint64_t)asid << SATP_ASID_SHIFT | (uintptr_t)space->root >> 12;
}

/* The entry of the last level for an address; 0: a table on the way is missing, and create is false. */
static uint64_t* walk(const struct address_space* space, uint64_t address, bool create) {
  uint64_t* table = space->root;
  for (unsigned level = LEVELS - 1; level > 0; level--) {
    uint64_t* entry = &table[address >> (12 + 9 * level) & (ENTRIES - 1)];
    if ((*entry & PTE_VALID) == 0) {
      if (!create) return 0;
      *entry = pte((uintptr_t)page_reserve(), PTE_VALID);
    }
    table = table_of(*entry);
  }
  return &table[address >> 12 & (ENTRIES - 1)];
}

void address_space_map(struct address_space* space, uint64_t address, uint64_t physical, unsigned access) {
  if (address - ADDRESS_SPACE_USER >= ADDRESS_SPACE_END - ADDRESS_SPACE_USER) panic("a page outside of user memory");
  uint64_t* entry = walk(space, address, true);
  if (*entry & PTE_VALID) panic("a page is mapped twice");
  *entry = pte(physical, PTE_VALID | PTE_USER | PTE_ACCESSED_DIRTY | ((uint64_t)access << 1 & PTE_ACCESS) |
                             (access & PAGE_DEVICE ? PTE_DEVICE : 0));
}

void* address_space_find(const struct address_space* space, uint64_t address, uint64_t bytes, unsigned access) {
  if (address - ADDRESS_SPACE_USER >= ADDRESS_SPACE_END - ADDRESS_SPACE_USER) return 0;
  const uint64_t offset = address % PAGE_BYTES;
  if (bytes > PAGE_BYTES - offset) return 0;
  const uint64_t* entry = walk(space, address, false);
  const uint64_t needed = PTE_VALID | PTE_USER | (uint64_t)access << 1;
  if (entry == 0 || (*entry & needed) != needed || (*entry & PTE_DEVICE) != 0) return 0;
  return (uint8_t*)table_of(*entry) + offset;
}

/* Pages are only ever added, so what the hart has kept of this ASID is at most that a page is missing. */
void address_space_activate(const struct address_space* space) {
  csr_write(satp, space->satp);
  __asm__ volatile("sfence.vma x0, %0" ::"r"(space->satp >> SATP_ASID_SHIFT & 0xffff) : "memory");
}
