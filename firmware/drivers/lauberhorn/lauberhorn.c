/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/lauberhorn.c */
#include "firmware/drivers/lauberhorn/lauberhorn.h"

#include "firmware/kernel/board.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/spinlock.h"
#include "protocols/rpc/onc_rpc.h"

bool lauberhorn_open(struct lauberhorn* nic, uint64_t registers, uint64_t lines, uint32_t ipv4) {
  *nic = (struct lauberhorn){.registers = registers, .lines = lines, .ipv4 = ipv4};
  nic->line_bytes = (uint32_t)lauberhorn_get(nic, LAUB_LINE_BYTES);
  nic->cores = (uint32_t)lauberhorn_get(nic, LAUB_CORES);
  nic->processes = (uint32_t)lauberhorn_get(nic, LAUB_PROCESSES);
  nic->workers = (uint32_t)lauberhorn_get(nic, LAUB_WORKERS);
  nic->services = (uint32_t)lauberhorn_get(nic, LAUB_SERVICES);
  return nic->cores != 0;
}

bool lauberhorn_find(struct lauberhorn* nic) {
  struct fdt_walk node;
  nic->registers = 0;
  if (!fdt_begin(&node, board_device_tree)) return false;
  while (fdt_next(&node)) {
    uint32_t length = 0;
    const void* reg = fdt_get(&node, "reg", &length);
    if (reg == 0 || length < 32 || !fdt_is_compatible(&node, "sluice,lauberhorn")) continue;
    return lauberhorn_open(nic, fdt_cells(reg, 0), fdt_cells(reg, 4),
                           fdt_get_u32(&node, "sluice,ipv4", RPC_IPV4_DEFAULT));
  }
  return false;
}

void lauberhorn_set_process(const struct lauberhorn* nic, uint32_t process, uint16_t id, uint32_t harts) {
  static struct spinlock lock; /* of the fields */
  spinlock_take(&lock);
  lauberhorn_set(nic, LAUB_PROCESS_ID, id);
  lauberhorn_set(nic, LAUB_PROCESS_THREADS, harts);
  lauberhorn_set(nic, LAUB_PROCESS_COMMIT, LAUB_COMMIT_VALID | process);
  spinlock_give(&lock);
}

static struct lauberhorn_lines lines_at(const struct lauberhorn* nic, uint64_t offset) {
  return (struct lauberhorn_lines){.base = nic->lines + offset, .line_bytes = nic->line_bytes};
}

struct lauberhorn_lines lauberhorn_kernel(const struct lauberhorn* nic, uint32_t core, uint32_t direction) {
  return lines_at(nic, LAUB_KERNEL(core) + direction);
}

struct lauberhorn_lines lauberhorn_user(const struct lauberhorn* nic, uint32_t process, uint32_t worker,
                                        uint32_t direction) {
  return lines_at(nic, LAUB_USER(nic->cores, nic->workers, process, worker) + direction);
}
