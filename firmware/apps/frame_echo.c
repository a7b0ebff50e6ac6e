/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/apps/frame_echo.c: sends frames back, in the manner of DPDK's forwarding examples: MAC addresses, and of
 * IPv4/UDP addresses and ports, change places unless the device tree's /chosen node says that they are kept, and the
 * first byte of the payload, if there is one, grows by one. Hart h serves queue h of each NIC with more than h queues.
 * ARP and ping are answered by the network stack. */
#include "firmware/boot/boot.h"
#include "firmware/drivers/descriptor/mbuf.h"
#include "firmware/drivers/nic.h"
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/exit_codes.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/likely.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "firmware/kernel/statistics.h"
#include "firmware/net/checksum.h"
#include "firmware/net/stack.h"

#define NOT_SENT_BACK 0xffffffffu /* instead of a NIC_SEND_*: the stack has dealt with the frame */

struct port {
  struct nic_queue* queue;
  uint32_t udp_kind; /* how a UDP frame is sent */
  uint64_t echoed;
  struct net_interface interface;
  struct nic_frame* frames[NIC_MBUF_BURST];
};

static struct nic nics[NIC_MAX];
static bool interrupts;      /* some NIC raises them */
static bool keeps_addresses; /* frames go back with the addresses that they came with */
static struct {
  struct port* port[NIC_MAX];
  unsigned ports;
} served[BOOT_MAX_HARTS];

COLD static uint32_t give_to_stack(struct port* port, const struct nic_frame* frame) {
  struct net_datagram datagram;
  if (net_receive(&port->interface, frame, &datagram)) net_drop(&port->interface, &datagram);
  return NOT_SENT_BACK;
}

/* Frames begin 2 bytes behind a multiple of 64, so each access here is aligned. */
static inline void swap_stations(uint8_t* frame, uint64_t source_type) {
  uint64_t destination = *(const uint16_t*)frame | (uint64_t) * (const uint32_t*)(frame + 2) << 16;
  *(uint16_t*)frame = (uint16_t)source_type;
  *(uint32_t*)(frame + 2) = (uint32_t)(source_type >> 16);
  *(uint64_t*)(frame + 6) = destination | source_type >> 48 << 48;
}

/* The payload begins at an even offset: its first byte is a word's upper half. */
COLD static void update_checksum(struct udp_header* udp, uint8_t before, uint8_t after) {
  udp->checksum = checksum_update(udp->checksum, (uint16_t)(before << 8), (uint16_t)(after << 8));
}

/* Adds one to the payload's first byte. */
static inline void grow_payload(struct udp_header* udp, uint32_t kind) {
  uint8_t* payload = (uint8_t*)(udp + 1);
  uint8_t before = *payload;
  *payload = (uint8_t)(before + 1);
  if (unlikely(kind == NIC_SEND_PLAIN)) update_checksum(udp, before, *payload);
}

/* What is no whole UDP datagram, or has IPv4 options, is the stack's: it answers, or counts why it does not. */
static inline uint32_t turn_ipv4(struct port* port, const struct nic_frame* frame, uint64_t source_type, bool swaps) {
  uint8_t* data = frame->data;
  struct ipv4_header* ip = (struct ipv4_header*)(data + ETHERNET_HEADER_BYTES);
  if (unlikely(ip->protocol != IPV4_UDP || data[ETHERNET_HEADER_BYTES] != IPV4_VERSION_LENGTH ||
               (ip->fragment & BE16(IPV4_MORE_OR_OFFSET)) != 0)) {
    return give_to_stack(port, frame);
  }
  struct udp_header* udp = (struct udp_header*)(ip + 1);
  uint32_t ip_length = from_be16(ip->length), udp_length = from_be16(udp->length), kind = port->udp_kind;
  if (unlikely(ip_length + ETHERNET_HEADER_BYTES > frame->length || udp_length < UDP_HEADER_BYTES)) {
    return give_to_stack(port, frame);
  }
  if (unlikely(udp_length + IPV4_HEADER_BYTES != ip_length)) {
    if (udp_length + IPV4_HEADER_BYTES > ip_length) return give_to_stack(port, frame);
    kind = NIC_SEND_PLAIN; /* a NIC's checksum would cover what lies behind the datagram */
  }
  if (swaps) {
    swap_stations(data, source_type);
    uint32_t source = ip->source, ports = *(const uint32_t*)udp;
    ip->source = ip->destination;
    ip->destination = source;
    *(uint32_t*)udp = ports << 16 | ports >> 16;
  }
  if (likely(udp_length != UDP_HEADER_BYTES)) grow_payload(udp, kind);
  return kind;
}

/* Turns a frame around where it lies; returns how it is to be sent. */
static inline uint32_t turn(struct port* port, const struct nic_frame* frame, bool swaps) {
  uint8_t* data = frame->data;
  stage(handler, data);
  uint64_t source_type = *(const uint64_t*)(data + 6);
  uint16_t type = (uint16_t)(source_type >> 48);
  if (type == BE16(ETHERNET_IPV4)) return turn_ipv4(port, frame, source_type, swaps);
  if (unlikely(type == BE16(ETHERNET_ARP))) return give_to_stack(port, frame);
  if (swaps) swap_stations(data, source_type);
  data[ETHERNET_HEADER_BYTES]++;
  return NIC_SEND_PLAIN;
}

/* Frames of one kind that follow each other are sent together. */
static inline __attribute__((always_inline)) bool take_turn(struct port* port, bool swaps) {
  struct nic_queue* queue = port->queue;
  uint32_t count = queue->driver->receive(queue, port->frames);
  if (count == 0) return false;
  account(application);
  uint32_t first = 0, kind = NIC_SEND_PLAIN;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t own = turn(port, port->frames[i], swaps);
    if (likely(own == kind)) continue;
    if (kind != NOT_SENT_BACK) {
      nic_transmit_burst(queue, port->frames + first, i - first, kind);
      port->echoed += i - first;
    }
    first = i;
    kind = own;
  }
  account(networking);
  if (likely(kind != NOT_SENT_BACK)) {
    nic_transmit_burst(queue, port->frames + first, count - first, kind);
    port->echoed += count - first;
  }
  queue->driver->flush(queue);
  return true;
}

/* Each has loops of its own, which do not ask for each frame. */
static bool take_turn_swapping(struct port* port) { return take_turn(port, true); }
static bool take_turn_keeping(struct port* port) { return take_turn(port, false); }

__attribute__((noreturn)) static void serve(unsigned hart) {
  struct port* const* ports = served[hart].port;
  const unsigned count = served[hart].ports;
  if (interrupts) interrupt_setup_hart(hart);
  for (;;) {
    bool busy = false;
    for (unsigned i = 0; i < count; i++)
      busy |= keeps_addresses ? take_turn_keeping(ports[i]) : take_turn_swapping(ports[i]);
    if (busy) continue;
    account(polling);
    if (count == 1) {
      ports[0]->queue->driver->wait(ports[0]->queue);
    } else {
      cpu_pause();
    }
    account(networking);
  }
}

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  serve((unsigned)hart);
}

static void add_ports(const struct nic* nic) {
  for (unsigned hart = 0; hart < nic->queues; hart++) {
    struct port* port = memory_reserve(sizeof *port, 64);
    *port = (struct port){.queue = nic->queue[hart], .udp_kind = nic->tx_checksum ? NIC_SEND_UDP : NIC_SEND_PLAIN};
    net_setup(&port->interface, nic, hart, nic->settings.ipv4);
    statistics_add("echoed", &port->echoed);
    served[hart].port[served[hart].ports++] = port;
  }
}

static void read_chosen(void) {
  struct fdt_walk node;
  if (fdt_find_chosen(&node, board_device_tree))
    keeps_addresses = fdt_get_u32(&node, "sluice,echo-keeps-addresses", 0) != 0;
}

int application_main(void) {
  print("sluice frame-echo: %u harts\n", board.harts);
  read_chosen();
  pcie_setup();
  unsigned count = nic_setup(nics, 0);
  if (count == 0) {
    print("no NIC: nothing to send back\n");
    return EXIT_NO_NIC;
  }
  for (unsigned i = 0; i < count; i++) {
    if (nics[i].settings.interrupts) interrupts = true;
    print("%s: %u queues, %s\n", nics[i].settings.name, nics[i].queues,
          nics[i].settings.interrupts ? "interrupts" : "polling");
    add_ports(&nics[i]);
  }
  for (unsigned hart = 1; hart < BOOT_MAX_HARTS; hart++) {
    if (served[hart].ports != 0) hart_start(hart, secondary_main);
  }
  serve(0);
}
