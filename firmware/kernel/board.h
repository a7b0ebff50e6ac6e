/* firmware/kernel/board.h: what the device tree says about the machine, so that one image runs on every board.
 * Memory-mapped devices are expected where addresses and sizes take two cells each (root and soc), as on QEMU's virt.
 */
#pragma once

#include <stdint.h>

enum board_interrupts { BOARD_INTERRUPTS_NONE, BOARD_INTERRUPTS_PLIC, BOARD_INTERRUPTS_AIA };

struct board_window {
  uint64_t pci, cpu, size; /* size 0: the board has no such window */
};

#define BOARD_MAX_INTERRUPT_MAP 16u

struct board {
  uint64_t memory_base, memory_size;
  unsigned harts;              /* 1 to BOOT_MAX_HARTS, numbered from 0 */
  unsigned first_hart;         /* hart id of hart 0: shared devices number the harts of all clusters */
  uint64_t timebase_frequency; /* ticks of `time` a second */

  uint64_t uart, finisher, clint; /* 0: none */

  enum board_interrupts interrupts;
  uint64_t plic;
  uint64_t imsic;            /* supervisor interrupt file of the image's hart 0 */
  uint64_t imsic_stride;     /* from one hart's to the next one's */
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

/* For an application's own part of the device tree; it may be overwritten by what memory_reserve() gives. */
extern const void* board_device_tree;

/* Fills `board`; what the tree does not name keeps QEMU virt's address, so that a console exists without a tree too. */
void board_setup(const void* device_tree);
