/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/pio/pio.c */
#include "firmware/drivers/pio/pio.h"

#include "firmware/drivers/pcie.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/fdt.h"

uint64_t pio_registers;

static bool is_called(const struct fdt_walk* node, const char* path) {
  const char* own = fdt_get(node, "sluice,path", 0);
  return own != 0 && text_equal(own, path);
}

static const struct pio* find_coherent(const char* path) {
  struct fdt_walk node;
  if (!fdt_begin(&node, board_device_tree)) return 0;
  while (fdt_next(&node)) {
    uint32_t length = 0;
    const void* reg = fdt_get(&node, "reg", &length);
    if (reg != 0 && length >= 32 && fdt_is_compatible(&node, "sluice,pio-coherent") && is_called(&node, path))
      return pio_open_coherent(fdt_cells(reg, 0), fdt_cells(reg, 4));
  }
  return 0;
}

static const struct pio* find_pcie(const char* path) {
  pcie_setup();
  const struct pcie_function* function;
  for (unsigned n = 0; (function = pcie_function(n)) != 0; n++) {
    struct fdt_walk node;
    if (function->vendor_id == PIO_VENDOR_ID && function->device_id == PIO_DEVICE_ID && pcie_node(function, &node) &&
        is_called(&node, path))
      return pio_open_pcie(function);
  }
  return 0;
}

const struct pio* pio_find(const char* path) {
  const struct pio* nic = find_coherent(path);
  return nic != 0 ? nic : find_pcie(path);
}
