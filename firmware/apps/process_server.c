/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/apps/process_server.c: a kernel that serves RPC programs through a descriptor NIC, each instance of a
 * program a process in user mode. Where the NIC is polled, each process polls a queue of its own
 * (firmware/server/bypass.h); where it interrupts, the kernel receives and sends (firmware/server/delivery.h). */
#include "firmware/drivers/nic.h"
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/exit_codes.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/start.h"
#include "firmware/memory/translation.h"
#include "firmware/process/batch.h"
#include "firmware/process/time_slice.h"
#include "firmware/rpc/instances.h"
#include "firmware/rpc/port.h"
#include "firmware/server/bypass.h"
#include "firmware/server/delivery.h"

static struct nic nics[NIC_MAX];
static struct server_process processes[SERVER_PROCESSES_MOST];

/* With interrupts: what the rings and a burst hold, and what no thread has taken. With fewer, the NIC may have none
 * when all harts sleep. */
static uint32_t least_buffers(const struct nic_settings* s) {
  return s->rx_ring + s->tx_ring + NIC_BURST + DELIVERY_BUFFERS;
}

/* The kernel keeps one queue of a NIC that is polled. */
static void adjust(struct nic_settings* s) {
  s->stopped = true;
  if (!s->interrupts)
    s->queues = 1;
  else if (s->buffers == 0)
    s->buffers = least_buffers(s);
}

/* The window of 64-bit BARs is beyond what translation leaves in its place. */
uint64_t pcie_reach(uint64_t physical, uint64_t bytes) {
  return physical + bytes <= TRANSLATION_LEAVES ? physical : translation_map(physical, bytes, MEMORY_AS_IT_IS);
}

static void serve(uint32_t hart) {
  translation_setup();
  if (nics[0].settings.interrupts) delivery_serve(hart);
  bypass_serve(hart);
}

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  serve((uint32_t)hart);
}

static bool set_up(const struct nic* nic, uint32_t count, uint32_t harts) {
  if (!nic->settings.interrupts) return bypass_setup(nic, processes, count, harts);
  if (bypass_is_asked_for()) {
    print("sluice,idle-polls is for processes that poll, and %s interrupts\n", nic->settings.name);
    return false;
  }
  if (nic->settings.buffers < least_buffers(&nic->settings)) {
    print("%s has %u buffers for a queue, and must have %u\n", nic->settings.name, nic->settings.buffers,
          least_buffers(&nic->settings));
    return false;
  }
  delivery_setup(nic, processes, count);
  return nic->start(nic);
}

int application_main(void) {
  rpc_instances_setup();
  batch_find();
  time_slice_find();
  bypass_find();
  print("sluice process-server: %u harts, %lu MiB\n", board.harts, (unsigned long)board.memory_size >> 20);
  translation_setup();
  pcie_setup();
  pcie_print();
  const unsigned found = nic_setup(nics, adjust);
  if (found != 1) {
    print("%u NICs: process-server serves one\n", found);
    return found == 0 ? EXIT_NO_NIC : EXIT_GAVE_UP;
  }
  const struct nic* nic = &nics[0];
  const uint32_t harts = nic->settings.interrupts ? nic->queues : board.harts;
  rpc_programs_setup();
  const uint32_t count = server_make_processes(processes, nic);
  if (count == 0) return EXIT_GAVE_UP;
  batch_setup(harts, (uint16_t)(count + 1), true); /* processes begin at the first */
  if (!set_up(nic, count, harts)) return EXIT_GAVE_UP;
  const uint32_t ip = nic->settings.ipv4;
  print("%s, %u processes, %u harts, %s; serving on %u.%u.%u.%u\n", nic->settings.name, count, harts,
        nic->settings.interrupts ? "sockets of the kernel" : "kernel bypass", ip >> 24, ip >> 16 & 255, ip >> 8 & 255,
        ip & 255);
  for (uint32_t hart = 1; hart < harts; hart++) hart_start(hart, secondary_main);
  serve(0);
  return 0;
}
