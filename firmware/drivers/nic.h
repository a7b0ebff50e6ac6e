/* firmware/drivers/nic.h: what the network stack asks of a NIC that delivers frames. Each queue pair belongs to one
 * hart. A frame lies in one buffer that changes hands with it: nic_receive() gives it to the stack, which either sends
 * it again by transmit(), its bytes changed in place, or gives it back by release(). Nothing is copied. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NIC_BURST 32u /* most frames of one receive() */

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

struct nic {
  uint8_t mac[6];
  bool rx_checksum, tx_checksum; /* what the NIC does by itself */
  uint32_t max_frame;            /* bytes without FCS */
  unsigned queues;
  struct nic_queue* queue[64];
};

/* Finds and starts the board's NIC with at most `queues` queue pairs; false if there is none that a driver knows. The
 * queues' interrupts are connected to the harts of the same number. */
bool nic_setup(struct nic* nic, unsigned queues);
