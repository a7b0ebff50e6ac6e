/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/pio/pio.c */
#include "firmware/drivers/pio/pio.h"

uint64_t pio_registers;

const struct pio* pio_find(const char* path) {
  const struct pio* nic = pio_find_coherent(path);
  return nic != 0 ? nic : pio_find_pcie(path);
}
