/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/nic.h: what the network stack asks of a NIC that delivers frames. Each queue pair belongs to one
 * hart. A frame lies in one buffer. nic_receive() gives frame and buffer to the stack; the stack changes the bytes in
 * place and sends the frame by transmit(), or gives the buffer back by release(). Nothing is copied. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/boot/boot.h"
#include "protocols/rpc/onc_rpc.h"

#define NIC_MAX 16u        /* NICs of a board that the firmware drives */
#define NIC_BURST 32u      /* most frames of one receive() */
#define NIC_NAME_BYTES 32u /* longer names are truncated */

/* A buffer is aligned to this and has at least so many bytes. A frame's first byte lies in the first NIC_BUFFER_BYTES,
 * which identifies the buffer. Frames start 2 bytes after a multiple of 64, so that the IPv4 header and all that
 * follows is aligned to 4. */
#define NIC_BUFFER_BYTES 2048u
#define NIC_BUFFER_HEADROOM 130u

/* Flags of a received frame. */
#define NIC_FRAME_CHECKED 1u  /* the NIC has examined the IPv4 and UDP checksums */
#define NIC_FRAME_IP_ERROR 2u /* the IPv4 header checksum is wrong */
#define NIC_FRAME_L4_ERROR 4u /* the UDP checksum is wrong */

/* Kinds of frame to send. */
#define NIC_SEND_PLAIN 0u
#define NIC_SEND_UDP 1u /* Ethernet, IPv4 without options, UDP: the NIC inserts both checksums */

/* What is known of a frame. A driver that takes whole bursts keeps it in a cache line of its own for each buffer, as
 * DPDK does (rte_mbuf). */
struct nic_frame {
  uint8_t* data;
  uint32_t length;
  uint32_t flags; /* NIC_FRAME_* */
};

struct nic_queue;

struct nic_driver {
  /* Takes the frames that have arrived, at most NIC_BURST, or what the header of the driver says; returns how many. */
  uint32_t (*receive)(struct nic_queue* queue, struct nic_frame** frames);

  /* Queues a frame, which must lie in a buffer from receive(), for the next flush(). */
  void (*transmit)(struct nic_queue* queue, uint8_t* data, uint32_t length, uint32_t kind);

  /* Takes back the buffer of a frame that gets no answer. */
  void (*release)(struct nic_queue* queue, uint8_t* data);

  /* Tells the NIC of all frames queued since the last call. */
  void (*flush)(struct nic_queue* queue);

  /* Waits until a frame may have arrived: polls, or sleeps until an interrupt. */
  void (*wait)(struct nic_queue* queue);

  /* Replaces wait() on a hart with several queues, which must not wait for one of them. Lets the NIC interrupt when a
   * frame arrives, or at once if one has arrived since receive() last found none; the interrupt's handler makes the
   * word at the returned address nonzero. A null pointer instead of this function means that the driver polls the
   * queue. */
  const volatile uint32_t* (*arm)(struct nic_queue* queue);

  /* As transmit() of each frame in turn. A null pointer means that nic_transmit_burst() does it so. */
  void (*transmit_burst)(struct nic_queue* queue, struct nic_frame* const* frames, uint32_t count, uint32_t kind);

  /* A free buffer, for a frame that answers none: it begins at the returned address, which is 0 if no buffer is free.
   * transmit() and release() take it back. A null pointer instead of this function means that the driver gives none. */
  uint8_t* (*take)(struct nic_queue* queue);
};

/* Hardware time stamps: the time at which the first bit of a frame was at the MAC, in nanoseconds of the NIC's clock.
 * Stamping adds no cost to the functions of nic_driver. */
struct nic_stamping {
  /* As nic_driver.receive, with the stamp of each frame. */
  uint32_t (*receive)(struct nic_queue* queue, struct nic_frame** frames, uint64_t stamps[NIC_BURST]);

  /* As nic_driver.transmit, and asks the NIC to store the frame's departure time in stamp `entry`, which must be free
   * and below `entries`. False if the frame was dropped. */
  bool (*transmit)(struct nic_queue* queue, uint8_t* data, uint32_t length, uint32_t kind, unsigned entry);

  /* Whether the frame of this entry has left. If so, stores its stamp and frees the entry. Reads the NIC's registers.
   */
  bool (*departed)(struct nic_queue* queue, unsigned entry, uint64_t* stamp);

  unsigned entries; /* of the NIC, all queues together */
};

/* First member of every driver's own queue structure. */
struct nic_queue {
  const struct nic_driver* driver;
};

/* Queues frames of one kind for the next flush(). */
static inline void nic_transmit_burst(struct nic_queue* queue, struct nic_frame* const* frames, uint32_t count,
                                      uint32_t kind) {
  const struct nic_driver* driver = queue->driver;
  if (driver->transmit_burst != 0) return driver->transmit_burst(queue, frames, count, kind);
  for (uint32_t i = 0; i < count; i++) driver->transmit(queue, frames[i]->data, frames[i]->length, kind);
}

/* Settings of a NIC from its device-tree node. */
struct nic_settings {
  char name[NIC_NAME_BYTES]; /* sluice,path: the board's name for it; without one, "NIC" */
  bool interrupts;           /* sluice,driver = "interrupt"; else the driver polls */
  uint32_t queues;           /* sluice,queues; default 1 */
  uint32_t ipv4;             /* sluice,ipv4; default 10.0.0.2 */
  uint32_t rx_ring, tx_ring; /* sluice,rx-ring, sluice,tx-ring; default 512 */
  uint32_t moderation;       /* sluice,moderation; interrupt moderation in units of 2 us; default 0 */
  uint32_t buffers;          /* sluice,buffers, of a queue; default 0: as many as it ever needs */
  uint32_t buffer_bytes;     /* sluice,buffer-bytes: from one buffer to the next; default NIC_BUFFER_BYTES */
  bool shuffled;             /* sluice,buffer-order = "shuffled"; else the buffers are used in sequence at first */
  bool stopped;              /* setup() lets no frames in or out: nic.start() will */
  uint32_t max_frame;        /* sluice,max-frame: bytes without FCS of the longest frame; default 1514 */
};

#define NIC_DEFAULT_SETTINGS                               \
  ((struct nic_settings){.name = "NIC",                    \
                         .queues = 1,                      \
                         .ipv4 = RPC_IPV4_DEFAULT,         \
                         .rx_ring = 512,                   \
                         .tx_ring = 512,                   \
                         .buffer_bytes = NIC_BUFFER_BYTES, \
                         .max_frame = 1514})

struct nic_model;
struct nic_bus_model;
struct pcie_function;

struct nic {
  uint8_t mac[6];
  bool rx_checksum, tx_checksum; /* the NIC checks (rx), inserts (tx) checksums itself */
  uint32_t max_frame;            /* bytes without FCS */
  uint32_t buffer_bytes;         /* of each buffer */
  uint64_t rpc_decoder; /* where its decoder of RPC calls has its registers (rpc_decoder_regs.h); 0: it has none */
  unsigned queues;
  struct nic_queue* queue[BOOT_MAX_HARTS];
  const struct nic_model* model;         /* 0: it is on the system's bus */
  const struct nic_bus_model* bus_model; /* 0: it is a PCIe function */
  struct nic_settings settings;
  bool copies; /* transmit() and receive() copy between the buffer and the NIC, which does not look at the buffer */
  uint64_t registers; /* where the driver reaches them */
  /* From now on the NIC receives what it sends, which turns around in front of its MAC. A null pointer: it cannot. */
  void (*turn_around)(const struct nic* nic);
  /* Lets frames in and out, after `stopped`. False if the NIC has refused something. A null pointer: it ignores that.
   */
  bool (*start)(const struct nic* nic);
};

/* A driver, and the vendor and device id of its NICs. setup() starts a NIC with its `settings` and at most its `queues`
 * queue pairs, and fills in the other members; if it cannot, it says why and returns false. Queue n interrupts hart n.
 */
struct nic_model {
  uint16_t vendor_id, device_id;
  bool (*setup)(struct nic* nic, const struct pcie_function* function);
};

/* Goes at the end of a driver's file: linking that file into an image is enough to register the driver. */
#define NIC_DRIVER(vendor, device, setup_function)                                                           \
  __attribute__((used, section(".nic_models"),                                                               \
                 aligned(8))) static const struct nic_model nic_model_of_##setup_function = {vendor, device, \
                                                                                             setup_function}

/* Where a NIC on the system's bus is: the first two ranges of its `reg`. lines: 0 without a second range. */
struct nic_bus_place {
  uint64_t registers, lines;
};

/* As nic_model, of NICs that are no PCIe functions, which the device tree describes. */
struct nic_bus_model {
  const char* compatible;
  bool (*setup)(struct nic* nic, const struct nic_bus_place* place);
};

/* As NIC_DRIVER(). */
#define NIC_BUS_DRIVER(compatible, setup_function)                                                           \
  __attribute__((used, section(".nic_bus_models"),                                                           \
                 aligned(8))) static const struct nic_bus_model nic_model_of_##setup_function = {compatible, \
                                                                                                 setup_function}

/* Changes what the device tree says of a NIC, before the NIC is set up. */
typedef void nic_adjust(struct nic_settings* settings);

/* Starts every NIC for which there is a driver, with at most as many queues as there are harts; returns how many it
 * started. adjust: 0, or called for each. A NIC without a driver, or one that does not start, gets a line on the
 * console and is not used. */
unsigned nic_setup(struct nic nics[NIC_MAX], nic_adjust* adjust);

/* Called for each NIC that has started. The default does nothing; an image may link its own (residence.c). */
void nic_wrap(struct nic* nic);
