/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/fdt.c */
#include "firmware/kernel/fdt.h"

#define FDT_MAGIC 0xd00dfeedu
#define FDT_BEGIN_NODE 1u
#define FDT_END_NODE 2u
#define FDT_PROP 3u
#define FDT_NOP 4u

enum {
  HEADER_MAGIC,
  HEADER_TOTAL,
  HEADER_STRUCTS,
  HEADER_STRINGS,
  HEADER_COMPATIBLE = 6,
  HEADER_BOOT_HART = 7,
  HEADER_STRUCTS_SIZE = 9
};

bool text_equal(const char* a, const char* b) {
  while (*a != 0 && *a == *b) a++, b++;
  return *a == *b;
}

uint32_t fdt_cell(const void* value, uint32_t index) { return __builtin_bswap32(((const uint32_t*)value)[index]); }

uint64_t fdt_cells(const void* value, uint32_t index) {
  return ((uint64_t)fdt_cell(value, index) << 32) | fdt_cell(value, index + 1);
}

static const uint32_t* aligned(const char* p) { return (const uint32_t*)(((uintptr_t)p + 3) & ~(uintptr_t)3); }

static uint32_t token(const struct fdt_walk* walk, const uint32_t* at) {
  return (const uint8_t*)at < walk->end ? fdt_cell(at, 0) : 0;
}

bool fdt_begin(struct fdt_walk* walk, const void* tree) {
  if (tree == 0 || ((uintptr_t)tree & 3) != 0 || fdt_cell(tree, HEADER_MAGIC) != FDT_MAGIC) return false;
  if (fdt_cell(tree, HEADER_COMPATIBLE) > 17) return false;
  const uint8_t* base = tree;
  walk->at = (const uint32_t*)(base + fdt_cell(tree, HEADER_STRUCTS));
  walk->end = (const uint8_t*)walk->at + fdt_cell(tree, HEADER_STRUCTS_SIZE);
  walk->strings = (const char*)base + fdt_cell(tree, HEADER_STRINGS);
  walk->properties = 0;
  walk->name = "";
  walk->depth = -1;
  return true;
}

uint32_t fdt_boot_hart(const void* tree) { return fdt_cell(tree, HEADER_BOOT_HART); }

static const uint32_t* after_property(const uint32_t* at) { return aligned((const char*)(at + 3) + fdt_cell(at, 1)); }

bool fdt_next(struct fdt_walk* walk) {
  for (;;) {
    switch (token(walk, walk->at)) {
      case FDT_BEGIN_NODE: {
        walk->name = (const char*)(walk->at + 1);
        const char* p = walk->name;
        while (*p != 0) p++;
        walk->at = aligned(p + 1);
        walk->properties = walk->at;
        walk->depth++;
        return true;
      }
      case FDT_PROP:
        walk->at = after_property(walk->at);
        break;
      case FDT_END_NODE:
        walk->depth--;
        __attribute__((fallthrough));
      case FDT_NOP:
        walk->at++;
        break;
      default:
        return false;
    }
  }
}

bool fdt_find_chosen(struct fdt_walk* walk, const void* tree) {
  if (!fdt_begin(walk, tree)) return false;
  while (fdt_next(walk))
    if (walk->depth == 1 && text_equal(walk->name, "chosen")) return true;
  return false;
}

const void* fdt_get(const struct fdt_walk* walk, const char* name, uint32_t* length) {
  const uint32_t* at = walk->properties;
  for (;;) {
    uint32_t t = token(walk, at);
    if (t == FDT_NOP) {
      at++;
    } else if (t == FDT_PROP) {
      if (text_equal(walk->strings + fdt_cell(at, 2), name)) {
        if (length != 0) *length = fdt_cell(at, 1);
        return at + 3;
      }
      at = after_property(at);
    } else {
      return 0;
    }
  }
}

bool fdt_is_compatible(const struct fdt_walk* walk, const char* what) {
  uint32_t length = 0;
  const char* p = fdt_get(walk, "compatible", &length);
  for (uint32_t i = 0; p != 0 && i < length;) {
    if (text_equal(p + i, what)) return true;
    while (i < length && p[i] != 0) i++;
    i++;
  }
  return false;
}

uint32_t fdt_get_u32(const struct fdt_walk* walk, const char* name, uint32_t otherwise) {
  uint32_t length = 0;
  const void* value = fdt_get(walk, name, &length);
  return value != 0 && length >= 4 ? fdt_cell(value, 0) : otherwise;
}
