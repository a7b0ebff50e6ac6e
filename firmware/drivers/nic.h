/* firmware/drivers/nic.h: what the network stack asks of a NIC that delivers frames. Each queue pair belongs to one
 * hart. A frame lies in one buffer that changes hands with it: nic_receive() gives it to the stack, which either sends
 * it again by transmit(), its bytes changed in place, or gives it back by release(). Nothing is copied. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/boot/boot.h"
#include "protocols/rpc/onc_rpc.h"

#define NIC_MAX 16u        /* NICs of a board that the firmware drives */
#define NIC_BURST 32u      /* most frames of one receive() */
#define NIC_NAME_BYTES 32u /* longer names are cut */

/* A buffer is aligned to its size, so any address inside names it. Frames start 2 bytes behind a multiple of 64: then
 * the IPv4 header and all that follows is aligned to 4. */
#define NIC_BUFFER_BYTES 2048u
#define NIC_BUFFER_HEADROOM 130u

/* Of a received frame. */
#define NIC_FRAME_CHECKED 1u  /* the NIC has examined the IPv4 and UDP checksums */
#define NIC_FRAME_IP_ERROR 2u /* and found the IPv4 header's wrong */
#define NIC_FRAME_L4_ERROR 4u /* and found UDP's wrong */

/* Of a frame to send. */
#define NIC_SEND_PLAIN 0u
#define NIC_SEND_UDP 1u /* Ethernet, IPv4 without options, UDP: the NIC inserts both checksums */

struct nic_frame {
  uint8_t* data;
  uint32_t length;
  uint32_t flags; /* NIC_FRAME_* */
};

struct nic_queue;

struct nic_driver {
  /* Takes the frames that have arrived, at most NIC_BURST; returns how many. */
  uint32_t (*receive)(struct nic_queue* queue, struct nic_frame frames[NIC_BURST]);

  /* Queues a frame, which must lie in a buffer from receive(), for the next flush(). */
  void (*transmit)(struct nic_queue* queue, uint8_t* data, uint32_t length, uint32_t kind);

  /* Takes back the buffer of a frame that is not answered. */
  void (*release)(struct nic_queue* queue, uint8_t* data);

  /* Tells the NIC of all frames queued since the last call. */
  void (*flush)(struct nic_queue* queue);

  /* Returns when a frame may have arrived: by polling, or asleep until an interrupt. */
  void (*wait)(struct nic_queue* queue);

  /* For a hart that has several queues and may not wait in one. Has an interrupt raised when a frame arrives, or has
   * arrived since receive() last found none; its handler makes the result nonzero. 0 in the place of this function: the
   * queue is polled. */
  const volatile uint32_t* (*arm)(struct nic_queue* queue);
};

/* Hardware time stamps: when the first bit of a frame was at the MAC, in nanoseconds of the NIC's clock. For those who
 * want them: the calls above cost nothing more for it. */
struct nic_stamping {
  /* As nic_driver.receive, with the stamp of each frame. */
  uint32_t (*receive)(struct nic_queue* queue, struct nic_frame frames[NIC_BURST], uint64_t stamps[NIC_BURST]);

  /* As nic_driver.transmit; asks that the frame's departure be noted under `entry`, which must be one that no frame is
   * noted under, and below `entries`. False if the frame was dropped. */
  bool (*transmit)(struct nic_queue* queue, uint8_t* data, uint32_t length, uint32_t kind, unsigned entry);

  /* Whether that frame has left; if so, its stamp, and the entry is free again. Reads the NIC's registers. */
  bool (*departed)(struct nic_queue* queue, unsigned entry, uint64_t* stamp);

  unsigned entries; /* of the NIC, all queues together */
};

/* First member of every driver's own queue structure. */
struct nic_queue {
  const struct nic_driver* driver;
};

/* What the device tree says of a NIC, in its node. */
struct nic_settings {
  char name[NIC_NAME_BYTES]; /* sluice,path: the board's name for it; without one, "NIC" */
  bool interrupts;           /* sluice,driver = "interrupt"; else the driver polls */
  uint32_t queues;           /* sluice,queues; default 1 */
  uint32_t ipv4;             /* sluice,ipv4; default 10.0.0.2 */
  uint32_t rx_ring, tx_ring; /* sluice,rx-ring, sluice,tx-ring; default 512 */
  uint32_t moderation;       /* sluice,moderation; interrupt moderation in units of 2 us; default 0 */
};

#define NIC_DEFAULT_SETTINGS \
  ((struct nic_settings){.name = "NIC", .queues = 1, .ipv4 = RPC_IPV4_DEFAULT, .rx_ring = 512, .tx_ring = 512})

struct nic_model;
struct pcie_function;

struct nic {
  uint8_t mac[6];
  bool rx_checksum, tx_checksum; /* what the NIC does by itself */
  uint32_t max_frame;            /* bytes without FCS */
  unsigned queues;
  struct nic_queue* queue[BOOT_MAX_HARTS];
  const struct nic_model* model;
  struct nic_settings settings;
};

/* Which NICs a driver is for. setup() starts one with its `settings` and at most its `queues` queue pairs, and fills in
 * the rest; false if it cannot, of which it says why. The queues' interrupts go to the harts of the same number. */
struct nic_model {
  uint16_t vendor_id, device_id;
  bool (*setup)(struct nic* nic, const struct pcie_function* function);
};

/* A line at the end of a driver's file: linking the file into an image is all that makes its NICs known. */
#define NIC_DRIVER(vendor, device, setup_function)                                                           \
  __attribute__((used, section(".nic_models"),                                                               \
                 aligned(8))) static const struct nic_model nic_model_of_##setup_function = {vendor, device, \
                                                                                             setup_function}

/* Starts every NIC that a driver knows, with no more queues than there are harts; returns how many there are. Those
 * that no driver knows, or that do not start, get a line on the console and are left alone. */
unsigned nic_setup(struct nic nics[NIC_MAX]);

/* Called for each NIC that has started. It does nothing, unless the image has another one (nic_residence.c). */
void nic_wrap(struct nic* nic);
