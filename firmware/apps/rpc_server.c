/* firmware/apps/rpc_server.c: serves the portmapper and the programs of its list on the board's NIC: one queue pair and
 * one port for each hart, run to completion. */
#include "firmware/boot/boot.h"
#include "firmware/drivers/nic.h"
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/exit_codes.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "firmware/rpc/port.h"

static struct nic nic;
static struct rpc_port* ports[BOOT_MAX_HARTS];

static void serve(unsigned hart) {
  if (board.driver_interrupts) interrupt_setup_hart(hart);
  rpc_serve(ports[hart]);
}

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  serve((unsigned)hart);
}

int application_main(void) {
  print("sluice rpc-server: %u harts, %lu MiB\n", board.harts, (unsigned long)board.memory_size >> 20);
  pcie_setup();
  pcie_print();
  unsigned queues = board.queues < board.harts ? board.queues : board.harts;
  if (queues == 0) queues = 1;
  if (!nic_setup(&nic, queues)) {
    print("no NIC: nothing to serve\n");
    return EXIT_NO_NIC;
  }
  rpc_programs_setup();
  const uint8_t* m = nic.mac;
  print("NIC %02x:%02x:%02x:%02x:%02x:%02x, %u queues, %s; serving on %u.%u.%u.%u\n", m[0], m[1], m[2], m[3], m[4],
        m[5], nic.queues, board.driver_interrupts ? "interrupts" : "polling", board.ipv4 >> 24, board.ipv4 >> 16 & 255,
        board.ipv4 >> 8 & 255, board.ipv4 & 255);
  for (unsigned hart = 0; hart < nic.queues; hart++) {
    ports[hart] = memory_reserve(sizeof *ports[hart], 64);
    rpc_port_setup(ports[hart], &nic, hart, board.ipv4);
  }
  for (unsigned hart = 1; hart < nic.queues; hart++) hart_start(hart, secondary_main);
  serve(0);
  return 0;
}
