/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/setup.c */
#include "firmware/drivers/descriptor/setup.h"

#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/interrupt.h"
#include "models/nic/descriptor/descriptor_regs.h"

static void reg_write(uint64_t bar, uint32_t offset, uint32_t value) { *(volatile uint32_t*)(bar + offset) = value; }
static uint32_t reg_read(uint64_t bar, uint32_t offset) { return *(volatile uint32_t*)(bar + offset); }

void nic_descriptor_connect(const struct pcie_function* function, unsigned index, uint32_t moderation,
                            void (*on_message)(void*), void (*on_wire)(void*), void* context) {
  uint64_t address = 0, bar = function->bar[DESC_BAR_REGISTERS];
  uint32_t data = 0;
  bool message = board.interrupts == BOARD_INTERRUPTS_AIA;
  interrupt_connect(index, pcie_interrupt_line(function), message ? on_message : on_wire, context, &address, &data);
  if (message) pcie_msix_route(function, index, address, data);
  reg_write(bar, DESC_VECTOR_MODERATION(index), moderation);
  reg_write(bar, DESC_QUEUE(index) + DESC_RX_INTERRUPT, DESC_CAUSE_ENABLE | index);
}

/* The queues take the entries of the redirection table in turn. The hash key is the one that most drivers use
 * (Microsoft's RSS example). */
static void spread(uint64_t bar, unsigned queues) {
  static const uint8_t key[4 * DESC_RSS_KEY_WORDS] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                                      0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                                      0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                                      0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
  for (unsigned word = 0; word < DESC_RSS_KEY_WORDS; word++) {
    const uint8_t* k = key + 4 * word;
    reg_write(bar, DESC_RSS_KEY(word), k[0] | k[1] << 8 | k[2] << 16 | (uint32_t)k[3] << 24);
  }
  for (unsigned word = 0; word < DESC_RSS_TABLE_WORDS; word++) {
    uint32_t entries = 0;
    for (unsigned i = 0; i < 4; i++) entries |= (4 * word + i) % queues << (8 * i);
    reg_write(bar, DESC_RSS_TABLE(word), entries);
  }
  reg_write(bar, DESC_RSS_CONTROL, DESC_RSS_CONTROL_IPV4 | DESC_RSS_CONTROL_UDP);
}

static void read_identity(struct nic* nic, uint64_t bar) {
  uint32_t capabilities = reg_read(bar, DESC_CAPABILITIES);
  uint32_t low = reg_read(bar, DESC_MAC_LOW), high = reg_read(bar, DESC_MAC_HIGH);
  for (unsigned i = 0; i < 4; i++) nic->mac[i] = (uint8_t)(low >> (8 * i));
  for (unsigned i = 0; i < 2; i++) nic->mac[4 + i] = (uint8_t)(high >> (8 * i));
  nic->rx_checksum = (capabilities & DESC_CAPABILITIES_RX_CHECKSUM) != 0;
  nic->tx_checksum = (capabilities & DESC_CAPABILITIES_TX_CHECKSUM) != 0;
  if ((capabilities & DESC_CAPABILITIES_RPC) != 0) nic->rpc_decoder = bar + DESC_RPC_DECODER;
  uint32_t queues = capabilities & DESC_CAPABILITIES_QUEUES;
  if (nic->queues > queues) nic->queues = queues;
}

static void turn_around(const struct nic* nic) {
  reg_write(nic->registers, DESC_CONTROL, reg_read(nic->registers, DESC_CONTROL) | DESC_CONTROL_TURN_AROUND);
}

bool nic_descriptor_open(struct nic* nic, const struct pcie_function* function, uint32_t longest) {
  uint64_t bar = function->bar[DESC_BAR_REGISTERS];
  if (bar == 0 || reg_read(bar, DESC_REVISION) != DESC_REVISION_1) {
    print("descriptor NIC: no registers of a known revision\n");
    return false;
  }
  reg_write(bar, DESC_CONTROL, DESC_CONTROL_RESET);
  while ((reg_read(bar, DESC_CONTROL) & DESC_CONTROL_RESET) != 0) cpu_pause();
  read_identity(nic, bar);
  nic->registers = bar;
  nic->turn_around = turn_around;
  nic->max_frame = nic->settings.max_frame < longest ? nic->settings.max_frame : longest;
  reg_write(bar, DESC_MAX_FRAME, nic->max_frame);
  if (nic->settings.interrupts && board.interrupts == BOARD_INTERRUPTS_AIA) {
    unsigned vectors = pcie_msix_vectors(function);
    if (vectors < nic->queues) nic->queues = vectors;
    if (vectors == 0) {
      print("descriptor NIC: no MSI-X vectors\n");
      return false;
    }
  }
  /* INTx only says that some vector is pending, and one hart claims it, so it can serve one queue only. */
  if (nic->settings.interrupts && board.interrupts != BOARD_INTERRUPTS_AIA) nic->queues = 1;
  return true;
}

static bool start(const struct nic* nic) {
  const uint64_t bar = nic->registers;
  reg_write(bar, DESC_CONTROL, DESC_CONTROL_RX_ENABLE | DESC_CONTROL_TX_ENABLE);
  const uint32_t errors = reg_read(bar, DESC_ERRORS);
  if (errors != 0) print("descriptor NIC: refuses its set-up, errors %x\n", errors);
  return errors == 0;
}

bool nic_descriptor_enable(struct nic* nic, const struct pcie_function* function) {
  if (nic->settings.interrupts && board.interrupts == BOARD_INTERRUPTS_AIA) pcie_msix_enable(function);
  if (nic->queues > 1) spread(nic->registers, nic->queues);
  nic->start = start;
  return nic->settings.stopped || start(nic);
}

uint32_t nic_descriptor_queues(uint64_t bar) { return reg_read(bar, DESC_CAPABILITIES) & DESC_CAPABILITIES_QUEUES; }

void nic_descriptor_steer(uint64_t bar, unsigned rule, uint16_t udp_port, uint32_t queue) {
  reg_write(bar, DESC_UDP_RULE(rule), DESC_UDP_RULE_VALID | queue << DESC_UDP_RULE_QUEUE_SHIFT | udp_port);
}
