/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/kernel/board.c */
#include "firmware/kernel/board.h"

#include "firmware/boot/boot.h"
#include "firmware/kernel/fdt.h"

struct board board = {.uart = 0x10000000, .finisher = 0x100000};

const void* board_device_tree;

#define SUPERVISOR_EXTERNAL 9u
#define PCI_SPACE(high) (((high) >> 24) & 3u)
#define PCI_SPACE_MEMORY_32 2u
#define PCI_SPACE_MEMORY_64 3u

static uint64_t register_base(const struct fdt_walk* node) {
  uint32_t length = 0;
  const void* reg = fdt_get(node, "reg", &length);
  return reg != 0 && length >= 16 ? fdt_cells(reg, 0) : 0;
}

static uint64_t register_size(const struct fdt_walk* node) {
  uint32_t length = 0;
  const void* reg = fdt_get(node, "reg", &length);
  return reg != 0 && length >= 16 ? fdt_cells(reg, 2) : 0;
}

/* Entries of a PLIC's map: three address cells, pin, controller, source. With AIA, functions use MSI-X. */
static void read_interrupt_map(const struct fdt_walk* node) {
  uint32_t length = 0;
  const void* map = fdt_get(node, "interrupt-map", &length);
  if (map == 0 || board.interrupts == BOARD_INTERRUPTS_AIA) return;
  for (uint32_t cell = 0; (cell + 6) * 4 <= length && board.interrupt_map_entries < BOARD_MAX_INTERRUPT_MAP;
       cell += 6) {
    unsigned n = board.interrupt_map_entries++;
    board.interrupt_map[n].device = (fdt_cell(map, cell) >> 11) & 3u;
    board.interrupt_map[n].pin = fdt_cell(map, cell + 3);
    board.interrupt_map[n].line = fdt_cell(map, cell + 5);
  }
}

static void read_host_bridge(const struct fdt_walk* node) {
  board.ecam = register_base(node);
  board.ecam_size = register_size(node);
  uint32_t length = 0;
  const void* ranges = fdt_get(node, "ranges", &length);
  for (uint32_t cell = 0; ranges != 0 && (cell + 7) * 4 <= length; cell += 7) {
    struct board_window window = {fdt_cells(ranges, cell + 1), fdt_cells(ranges, cell + 3),
                                  fdt_cells(ranges, cell + 5)};
    if (PCI_SPACE(fdt_cell(ranges, cell)) == PCI_SPACE_MEMORY_32) board.mmio32 = window;
    if (PCI_SPACE(fdt_cell(ranges, cell)) == PCI_SPACE_MEMORY_64) board.mmio64 = window;
  }
  read_interrupt_map(node);
}

/* Machine and supervisor level have an IMSIC node each; the interrupt that the node raises tells them apart. */
static void read_imsic(const struct fdt_walk* node) {
  uint32_t length = 0;
  const void* to = fdt_get(node, "interrupts-extended", &length);
  if (to == 0 || length < 8 || fdt_cell(to, 1) != SUPERVISOR_EXTERNAL) return;
  board.interrupts = BOARD_INTERRUPTS_AIA;
  board.imsic = register_base(node);
  board.imsic_stride = 0x1000ull << fdt_get_u32(node, "riscv,guest-index-bits", 0);
  board.imsic_identities = fdt_get_u32(node, "riscv,num-ids", 63);
}

/* The first memory is the one that the image is in. */
static void read_memory(const struct fdt_walk* node) {
  uint64_t base = register_base(node);
  uint64_t size = register_size(node);
  if (board.memory_size == 0) {
    board.memory_base = base;
    board.memory_size = size;
  } else if (board.high_memory_size == 0 && base >> 32 != 0) {
    board.high_memory_base = base;
    board.high_memory_size = size;
  }
}

static void read_node(const struct fdt_walk* node) {
  uint32_t length = 0;
  const char* type = fdt_get(node, "device_type", &length);
  if (type != 0 && text_equal(type, "memory")) {
    read_memory(node);
  } else if (type != 0 && text_equal(type, "cpu")) {
    if (board.harts < BOOT_MAX_HARTS) board.harts++;
    const void* frequency = fdt_get(node, "clock-frequency", &length);
    if (frequency != 0) board.core_frequency = length < 8 ? fdt_cell(frequency, 0) : fdt_cells(frequency, 0);
  } else if (node->depth == 1 && text_equal(node->name, "cpus")) {
    board.timebase_frequency = fdt_get_u32(node, "timebase-frequency", 0);
  } else if (fdt_is_compatible(node, "ns16550a")) {
    board.uart = register_base(node);
  } else if (fdt_is_compatible(node, "sifive,test0") || fdt_is_compatible(node, "sifive,test1")) {
    board.finisher = register_base(node);
  } else if (fdt_is_compatible(node, "riscv,clint0") || fdt_is_compatible(node, "riscv,aclint-mswi")) {
    board.clint = register_base(node);
  } else if (fdt_is_compatible(node, "riscv,plic0")) {
    board.plic = register_base(node);
    if (board.interrupts == BOARD_INTERRUPTS_NONE) board.interrupts = BOARD_INTERRUPTS_PLIC;
  } else if (fdt_is_compatible(node, "riscv,imsics")) {
    read_imsic(node);
  } else if (fdt_is_compatible(node, "riscv,aplic")) {
    /* The root domain has the supervisor domain as its child; the supervisor domain has none. */
    if (fdt_get(node, "riscv,children", 0) == 0) board.aplic = register_base(node);
  } else if (fdt_is_compatible(node, "pci-host-ecam-generic")) {
    read_host_bridge(node);
  }
}

void board_setup(const void* device_tree) {
  struct fdt_walk walk;
  if (!fdt_begin(&walk, device_tree)) return;
  board_device_tree = device_tree;
  board.first_hart = fdt_boot_hart(device_tree);
  while (fdt_next(&walk)) read_node(&walk);
}
