/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/fdt.h: reads a flattened device tree (Devicetree Specification 0.4) in place, node by node. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fdt_walk {
  const uint8_t* end; /* of the structure block */
  const char* strings;
  const uint32_t* at;         /* next token */
  const uint32_t* properties; /* of the current node */
  const char* name;           /* of the current node, unit address included */
  int depth;                  /* of the current node; the root has 0 */
};

/* False where no device tree of a known version lies at `tree`. */
bool fdt_begin(struct fdt_walk* walk, const void* tree);

/* Hart id of the boot hart, for a tree that fdt_begin() has accepted. */
uint32_t fdt_boot_hart(const void* tree);

/* Goes to the next node, parents before their children; false after the last one. */
bool fdt_next(struct fdt_walk* walk);

/* Goes to the node /chosen of `tree`; false where there is no such tree, or the node is not in it. */
bool fdt_find_chosen(struct fdt_walk* walk, const void* tree);

/* Value and length in bytes of a property of the current node; 0 if it has none. */
const void* fdt_get(const struct fdt_walk* walk, const char* name, uint32_t* length);

/* Whether the current node's `compatible` lists `what`. */
bool fdt_is_compatible(const struct fdt_walk* walk, const char* what);

/* 32-bit cell number `index` of a property's value, and two cells as one number. */
uint32_t fdt_cell(const void* value, uint32_t index);
uint64_t fdt_cells(const void* value, uint32_t index);

/* A property of one cell, or `otherwise` if it is missing or too short. */
uint32_t fdt_get_u32(const struct fdt_walk* walk, const char* name, uint32_t otherwise);

bool text_equal(const char* a, const char* b);
