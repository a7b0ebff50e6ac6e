/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/apps/rpc_server.c: serves the portmapper and the image's programs on the board's NICs. Hart h has a port at
 * queue h of each NIC with more than h queues, and runs to completion. */
#include "firmware/boot/boot.h"
#include "firmware/drivers/nic.h"
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/exit_codes.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "firmware/rpc/decoder.h"
#include "firmware/rpc/instances.h"
#include "firmware/rpc/port.h"

static struct nic nics[NIC_MAX];
static bool interrupts; /* some NIC raises them */
static struct {
  struct rpc_port* port[NIC_MAX];
  unsigned ports;
} served[BOOT_MAX_HARTS];

/* There is one program, and each queue has its hart, which does nothing else. */
static void tell_steps(unsigned hart) {
  for (unsigned i = 0; i < served[hart].ports; i++) rpc_tell_steps(served[hart].port[i]);
  tells(identify_process);
  tells(find_core);
  tells(schedule);
  tells(context_switch);
}

static void serve(unsigned hart) {
  tell_steps(hart);
  if (interrupts) interrupt_setup_hart(hart);
  if (served[hart].ports == 1) rpc_serve(served[hart].port[0]);
  rpc_serve_all(served[hart].port, served[hart].ports);
}

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  serve((unsigned)hart);
}

static void introduce(const struct nic* nic) {
  const uint8_t* m = nic->mac;
  const struct nic_settings* s = &nic->settings;
  print("%s %02x:%02x:%02x:%02x:%02x:%02x, %u queues, %s; serving on %u.%u.%u.%u\n", s->name, m[0], m[1], m[2], m[3],
        m[4], m[5], nic->queues, s->interrupts ? "interrupts" : "polling", s->ipv4 >> 24, s->ipv4 >> 16 & 255,
        s->ipv4 >> 8 & 255, s->ipv4 & 255);
}

static void add_ports(const struct nic* nic) {
  for (unsigned hart = 0; hart < nic->queues; hart++) {
    struct rpc_port* port = memory_reserve(sizeof *port, 64);
    rpc_port_setup(port, nic, hart, nic->settings.ipv4);
    served[hart].port[served[hart].ports++] = port;
  }
}

int application_main(void) {
  rpc_instances_setup();
  print("sluice rpc-server: %u harts, %lu MiB\n", board.harts, (unsigned long)board.memory_size >> 20);
  pcie_setup();
  pcie_print();
  unsigned count = nic_setup(nics, 0);
  if (count == 0) {
    print("no NIC: nothing to serve\n");
    return EXIT_NO_NIC;
  }
  rpc_programs_setup();
  for (unsigned i = 0; i < count; i++) {
    introduce(&nics[i]);
    if (nics[i].settings.interrupts) interrupts = true;
    add_ports(&nics[i]);
    rpc_decoder_setup(&nics[i]);
  }
  for (unsigned hart = 1; hart < BOOT_MAX_HARTS; hart++) {
    if (served[hart].ports != 0) hart_start(hart, secondary_main);
  }
  serve(0);
  return 0;
}
