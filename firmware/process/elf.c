/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/elf.c */
#include "firmware/process/elf.h"

#define PT_LOAD 1u
#define ET_EXEC 2u
#define EM_RISCV 243u
#define PF_X 1u
#define PF_W 2u
#define PF_R 4u

struct header {
  uint8_t ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, program_headers, section_headers;
  uint32_t flags;
  uint16_t size, program_header_size, program_header_count, section_header_size, section_header_count, names;
};
struct program_header {
  uint32_t type, flags;
  uint64_t offset, address, physical, file_bytes, memory_bytes, alignment;
};
_Static_assert(sizeof(struct header) == 64 && sizeof(struct program_header) == 56, "as in the file");

static bool is_right(const struct header* h, uint64_t bytes) {
  const uint8_t wanted[] = {0x7f, 'E', 'L', 'F', 2, 1, 1}; /* 64 bits, little endian, version 1 */
  if (bytes < sizeof *h) return false;
  for (unsigned i = 0; i < sizeof wanted; i++)
    if (h->ident[i] != wanted[i]) return false;
  return h->type == ET_EXEC && h->machine == EM_RISCV && h->program_header_size == sizeof(struct program_header) &&
         h->program_headers <= bytes &&
         (uint64_t)h->program_header_count * sizeof(struct program_header) <= bytes - h->program_headers;
}

static bool is_inside(const struct program_header* p, uint64_t file) {
  const uint64_t room = ADDRESS_SPACE_END - ADDRESS_SPACE_USER;
  return p->offset <= file && p->file_bytes <= file - p->offset && p->file_bytes <= p->memory_bytes &&
         p->address - ADDRESS_SPACE_USER < room && p->memory_bytes <= room - (p->address - ADDRESS_SPACE_USER);
}

static unsigned access_of(uint32_t flags) {
  return (flags & PF_R ? PAGE_READ : 0) | (flags & PF_W ? PAGE_READ | PAGE_WRITE : 0) |
         (flags & PF_X ? PAGE_EXECUTE : 0);
}

/* Byte n of a segment, as the program finds it. */
static uint8_t byte_of(const struct program_header* p, const uint8_t* file, uint64_t n) {
  return n < p->file_bytes ? file[p->offset + n] : 0;
}

static bool load_segment(struct address_space* space, const struct program_header* p, const uint8_t* file) {
  const uint64_t end = p->address + p->memory_bytes;
  for (uint64_t page = p->address & ~(uint64_t)(PAGE_BYTES - 1); page < end; page += PAGE_BYTES) {
    if (address_space_find(space, page, 1, 0) != 0) return false; /* two segments have it */
    uint8_t* bytes = (uint8_t*)page_take();
    for (uint64_t i = 0; i < PAGE_BYTES; i++) {
      const uint64_t at = page + i - p->address; /* wraps below the segment */
      bytes[i] = at < p->memory_bytes ? byte_of(p, file, at) : 0;
    }
    address_space_map(space, page, (uintptr_t)bytes, access_of(p->flags) | PAGE_OWN);
  }
  return true;
}

bool elf_load(struct address_space* space, const uint8_t* start, const uint8_t* end, uint64_t* entry) {
  const struct header* h = (const struct header*)start;
  const uint64_t bytes = (uint64_t)(end - start);
  if (!is_right(h, bytes)) return false;
  for (uint16_t i = 0; i < h->program_header_count; i++) {
    const struct program_header* p = (const struct program_header*)(start + h->program_headers) + i;
    if (p->type == PT_LOAD && p->memory_bytes != 0 && (!is_inside(p, bytes) || !load_segment(space, p, start)))
      return false;
  }
  __asm__ volatile("fence.i" ::: "memory");
  *entry = h->entry;
  return true;
}

const void* elf_find(const uint8_t* start, const uint8_t* end, uint64_t address, uint64_t bytes) {
  const struct header* h = (const struct header*)start;
  if (!is_right(h, (uint64_t)(end - start))) return 0;
  for (uint16_t i = 0; i < h->program_header_count; i++) {
    const struct program_header* p = (const struct program_header*)(start + h->program_headers) + i;
    const uint64_t at = address - p->address;
    if (p->type != PT_LOAD || !is_inside(p, (uint64_t)(end - start))) continue;
    if (at < p->file_bytes && bytes <= p->file_bytes - at) return start + p->offset + at;
  }
  return 0;
}
