/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/address_space.h: the page tables (Sv39) of processes. The kernel is in all of them, where it is
 * without translation: below ADDRESS_SPACE_USER, for supervisor mode only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/boot/boot.h"

#define PAGE_BYTES 4096u
#define LARGE_PAGE_BYTES 0x200000u
/* The 255th GiB is a process's own. */
#define ADDRESS_SPACE_USER 0x3fc0000000ul
#define ADDRESS_SPACE_END 0x4000000000ul

/* PAGE_DEVICE: its accesses have effects, so that the kernel makes none for the process. PAGE_OWN: a page of
 * page_take(), which is given back with the space. */
enum page_access { PAGE_READ = 1, PAGE_WRITE = 2, PAGE_EXECUTE = 4, PAGE_DEVICE = 8, PAGE_OWN = 16 };

struct address_space {
  uint64_t* root;
  uint64_t satp;
  uint32_t changes;              /* of what is mapped */
  uint32_t seen[BOOT_MAX_HARTS]; /* changes at the hart's last look: its TLB has none before */
};

/* A page of zeros. */
uint64_t* page_take(void);

/* An empty one. asid: 1 to 65535, no other's. */
void address_space_setup(struct address_space* space, uint16_t asid);

/* Makes it empty again. No thread may run in it, but harts may still have it active: they find the kernel there. */
void address_space_clear(struct address_space* space);

/* Maps a page that is not mapped yet. Harts that have the space active must do so again to be sure to find it. Both
 * addresses are multiples of PAGE_BYTES; access: page_access. */
void address_space_map(struct address_space* space, uint64_t address, uint64_t physical, unsigned access);
/* As many pages as `bytes`, a multiple of PAGE_BYTES, has. */
void address_space_map_range(struct address_space* space, uint64_t address, uint64_t physical, uint64_t bytes,
                             unsigned access);
/* A page of LARGE_PAGE_BYTES. Not PAGE_OWN. */
void address_space_map_large(struct address_space* space, uint64_t address, uint64_t physical, unsigned access);

/* Where these bytes of a process's memory lie; 0: not all are mapped with this access, they cross a page, or a device
 * has them. */
void* address_space_find(const struct address_space* space, uint64_t address, uint64_t bytes, unsigned access);

/* This hart translates by it from now on. */
void address_space_activate(struct address_space* space);
