/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/memory/translation.h: page tables (Sv39) for a system that needs memory types (Svpbmt). Without
 * translation_setup() it runs untranslated. */
#pragma once

#include <stdint.h>

/* How pages are accessed: the values of a page-table entry's PBMT field. */
enum memory_type {
  MEMORY_AS_IT_IS = 0,      /* RAM is cached, devices are not */
  MEMORY_NC = 1,            /* not cached; stores are combined, and loads may read more than they need */
  MEMORY_IO = 2,            /* not cached; in order */
  MEMORY_WRITE_THROUGH = 3, /* devices are cached, and software invalidates; only where the board has it */
};

#define TRANSLATION_LEAVES 0x4000000000ul /* bytes: 256 GiB */

/* Turns translation on for this hart. Addresses below 256 GiB stay what they are; others need translation_map(). */
void translation_setup(void);

/* Address at which [physical, physical + bytes) is accessed with this type, also by harts that are set up later. Panics
 * when there is no room: it takes 1 GiB or more of 256 GiB. */
uintptr_t translation_map(uint64_t physical, uint64_t bytes, enum memory_type type);

/* What lies at an address of translation_map(), or at one below 256 GiB. */
uint64_t translation_physical(uintptr_t address);

/* Writes the kernel's entries into the root of another table: what translation_setup() and translation_map() have. */
void translation_kernel(uint64_t* root);
