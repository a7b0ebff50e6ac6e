/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/board.h: what the device tree says about the machine, so that one image runs on every board. Nodes of
 * memory-mapped devices must use two cells each for addresses and sizes (root and soc), as on QEMU's virt. */
#pragma once

#include <stdint.h>

enum board_interrupts { BOARD_INTERRUPTS_NONE, BOARD_INTERRUPTS_PLIC, BOARD_INTERRUPTS_AIA };

struct board_window {
  uint64_t pci, cpu, size; /* size 0: the board has no such window */
};

#define BOARD_MAX_INTERRUPT_MAP 16u

struct board {
  uint64_t memory_base, memory_size;
  uint64_t high_memory_base, high_memory_size; /* the first other memory at or above 4 GiB; size 0: none */
  unsigned harts;                              /* 1 to BOOT_MAX_HARTS, numbered from 0 */
  unsigned first_hart;                         /* hart id of hart 0; devices that clusters share count by hart id */
  uint64_t timebase_frequency;                 /* ticks of `time` a second */
  uint64_t core_frequency;                     /* ticks of `cycle` a second; 0: the tree does not say */

  uint64_t uart, finisher, clint; /* 0: none */

  enum board_interrupts interrupts;
  uint64_t plic;
  uint64_t imsic;            /* supervisor interrupt file of the image's hart 0 */
  uint64_t imsic_stride;     /* bytes between the files of neighbouring harts */
  uint32_t imsic_identities; /* highest identity */
  uint64_t aplic;            /* supervisor domain */

  uint64_t ecam, ecam_size; /* size 0: no PCIe */
  struct board_window mmio32, mmio64;
  struct {
    uint32_t device, pin, line;
  } interrupt_map[BOARD_MAX_INTERRUPT_MAP]; /* root bus device number modulo 4, pin 1 to 4, PLIC source */
  unsigned interrupt_map_entries;
};

extern struct board board;

/* The device tree, for applications that read it themselves. memory_reserve() may hand out its memory. */
extern const void* board_device_tree;

/* Fills `board`. If the tree does not name a UART or finisher, its address is that of QEMU's virt, so that a console
 * exists without a tree. */
void board_setup(const void* device_tree);
