/* SPDX-License-Identifier: Apache-2.0 */
/* tests/firmware/instruction_budget.c: counts the instructions that a call costs from the descriptor that announces it
 * to the doorbell of its reply, with the real driver and protocols; hart 1 plays the part of the NIC that answers
 * register writes, and hart 0 itself fills the rings between two counted stretches. Runs on QEMU's virt machine with 2
 * harts. */
#include "firmware/drivers/descriptor/nic.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "firmware/rpc/port.h"
#include "models/nic/descriptor/descriptor_regs.h"
#include "protocols/rpc/calc.h"
#include "protocols/rpc/echo.h"

#define BURSTS 64u
/* What is measured, and 2 %. */
#define NULL_CALL_BUDGET 372u
#define NULL_CALL_ALONE_BUDGET 522u
#define ECHO_BUDGET 425u

static volatile uint32_t* registers;

static volatile uint32_t* reg(uint32_t offset) { return registers + offset / 4; }

/* Runs as a timer interrupt while the driver waits for the NIC's registers to change. */
static void play_registers(void* unused) {
  if (*reg(DESC_CONTROL) & DESC_CONTROL_RESET) *reg(DESC_CONTROL) = 0;
  for (uint32_t offset = DESC_RX_CONTROL; offset <= DESC_TX_CONTROL; offset += DESC_TX_CONTROL - DESC_RX_CONTROL) {
    volatile uint32_t* control = reg(DESC_QUEUE(0) + offset);
    if (*control == DESC_RING_ENABLE) *control = DESC_RING_ENABLE | DESC_RING_ACTIVE;
  }
  interrupt_at(read_time() + 10, play_registers, unused);
}

static uint64_t ring(uint32_t low) { return (uint64_t)*reg(DESC_QUEUE(0) + low + 4) << 32 | *reg(DESC_QUEUE(0) + low); }

static struct nic nic = {.queues = 1, .settings = NIC_DEFAULT_SETTINGS};

/* Receives `count` copies of a frame, and completes everything sent. */
static uint32_t rx_head, tx_head;
static void play_traffic(const uint8_t* frame, uint32_t length, uint32_t count) {
  union {
    struct desc_rx_read read;
    struct desc_rx_writeback done;
  }* rx = (void*)ring(DESC_RX_BASE_LOW);
  struct desc_tx* tx = (void*)ring(DESC_TX_BASE_LOW);
  for (uint32_t i = 0; i < count; i++, rx_head = (rx_head + 1) % nic.settings.rx_ring) {
    __builtin_memcpy((void*)rx[rx_head].read.packet_address, frame, length);
    rx[rx_head].done = (struct desc_rx_writeback){.packet_length = (uint16_t)length,
                                                  .status = DESC_RX_DD | DESC_RX_EOF | DESC_RX_CHECKED};
  }
  for (; tx_head != *reg(DESC_QUEUE(0) + DESC_TX_TAIL); tx_head = (tx_head + 1) % nic.settings.tx_ring) {
    if (tx[tx_head].command & DESC_TX_RS) tx[tx_head].command = DESC_TX_TYPE_DONE;
  }
}

static unsigned long measure(struct rpc_port* port, const uint8_t* frame, uint32_t length, uint32_t burst) {
  unsigned long total = 0;
  for (uint32_t i = 0; i < BURSTS * NIC_BURST / burst; i++) {
    play_traffic(frame, length, burst);
    struct rpc_call call;
    unsigned long before = csr_read(instret);
    while (rpc_poll(port, &call)) rpc_execute(port, &call);
    total += csr_read(instret) - before;
  }
  return total / (BURSTS * NIC_BURST);
}

/* A call of `procedure` with `words` words of arguments, the first of which is `first`. */
static uint32_t build(uint8_t* frame, uint32_t program, uint32_t procedure, uint32_t words, uint32_t first) {
  struct ipv4_header* ip = (struct ipv4_header*)(frame + ETHERNET_HEADER_BYTES);
  struct udp_header* udp = (struct udp_header*)(ip + 1);
  uint32_t* message = (uint32_t*)(udp + 1);
  uint32_t bytes = RPC_CALL_HEADER_BYTES + 4 * words;
  *(uint16_t*)(frame + 12) = BE16(ETHERNET_IPV4);
  *ip = (struct ipv4_header){.version_length = IPV4_VERSION_LENGTH,
                             .length = to_be16((uint16_t)(bytes + UDP_HEADER_BYTES + IPV4_HEADER_BYTES)),
                             .protocol = IPV4_UDP,
                             .source = BE32(0x0a000001u),
                             .destination = to_be32(nic.settings.ipv4)};
  *udp = (struct udp_header){.destination = BE16(RPC_PORT_SERVICES), .length = to_be16((uint16_t)(bytes + 8))};
  message[2] = BE32(RPC_VERSION);
  message[3] = to_be32(program);
  message[4] = BE32(1);
  message[5] = to_be32(procedure);
  message[10] = to_be32(first);
  return UDP_FRAME_HEADER_BYTES + bytes;
}

int application_main(void) {
  registers = memory_reserve(DESC_BAR0_SIZE, 4096);
  for (uint32_t i = 0; i < DESC_BAR0_SIZE / 4; i++) registers[i] = 0;
  *reg(DESC_REVISION) = DESC_REVISION_1;
  *reg(DESC_CAPABILITIES) =
      1u | 1u << DESC_CAPABILITIES_VECTORS_SHIFT | DESC_CAPABILITIES_RX_CHECKSUM | DESC_CAPABILITIES_TX_CHECKSUM;
  *reg(DESC_MAX_FRAME) = 1514;
  play_registers(0);
  csr_set(sstatus, SSTATUS_SIE);

  struct pcie_function function = {.bar = {(uintptr_t)registers}};
  if (!nic_descriptor_setup(&nic, &function)) return 1;
  csr_clear(sstatus, SSTATUS_SIE);
  rpc_programs_setup();
  struct rpc_port* port = memory_reserve(sizeof *port, 64);
  rpc_port_setup(port, &nic, 0, nic.settings.ipv4);

  static uint8_t space[256] __attribute__((aligned(64)));
  uint8_t* frame = space + 2;
  uint32_t length = build(frame, RPC_PROGRAM_CALC, CALC_NULL, 0, 0);
  unsigned long null_call = measure(port, frame, length, NIC_BURST), null_alone = measure(port, frame, length, 1);
  length = build(frame, RPC_PROGRAM_ECHO, ECHO_ECHO, 17, 64);
  unsigned long echo = measure(port, frame, length, NIC_BURST);
  length = build(frame, RPC_PROGRAM_CALC, CALC_CHECKSUM, 17, 64);
  unsigned long checksum = measure(port, frame, length, NIC_BURST);
  if (port->counters.calls != 4 * BURSTS * NIC_BURST || port->counters.refused != 0) return 2;
  print("instructions: null call %lu in bursts of 32, %lu alone; echo of 64 B %lu; checksum of 64 B %lu\n", null_call,
        null_alone, echo, checksum);
  if (null_call > NULL_CALL_BUDGET || null_alone > NULL_CALL_ALONE_BUDGET || echo > ECHO_BUDGET) return 3;
  print("all within their budgets\n");
  return 0;
}
