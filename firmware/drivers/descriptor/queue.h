/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/queue.h: a queue pair of the descriptor NIC as nic.c drives it: bursts of 32 frames, 32
 * receive descriptors rearmed at a time, status reported by one transmit descriptor in 32, one doorbell per burst. A
 * process that has a queue of its own drives it likewise. */
#pragma once

#include "firmware/drivers/descriptor/nic.h"
#include "firmware/drivers/descriptor/rings.h"
#include "firmware/drivers/nic.h"

struct frame_line {
  _Alignas(CACHE_LINE) struct nic_frame frame;
};

/* Members are ordered so that a burst touches few cache lines: receive, transmit, then what is rarely needed. */
struct queue {
  struct nic_queue base;
  union rx_descriptor* rx_ring;
  uint8_t** rx_buffers; /* buffer in each receive descriptor */
  volatile uint32_t* rx_tail;
  uint32_t rx_next;  /* descriptor that the next frame will fill */
  uint32_t rx_rearm; /* first descriptor without a buffer */
  uint32_t rx_empty; /* descriptors without a buffer, beyond the CHUNK that always stay so */
  uint32_t rx_length;
  struct frame_line* lines; /* one for each buffer */
  uint8_t* memory;          /* the buffers */

  struct desc_tx* tx_ring;
  uint8_t** tx_buffers; /* buffer in each transmit descriptor */
  volatile uint32_t* tx_tail;
  uint32_t tx_next;  /* descriptor that the next frame gets */
  uint32_t tx_clean; /* oldest descriptor not known to be done; a multiple of CHUNK */
  uint32_t tx_free;  /* descriptors that may be used */
  uint32_t tx_rung;  /* value of the NIC's tail register */
  uint32_t tx_length;

  uint8_t** free; /* stack of free buffers */
  uint32_t free_count;

  volatile uint32_t scheduled; /* set by the interrupt handler: look at the ring */
  volatile uint32_t* vector;   /* this queue's DESC_VECTOR_CONTROL */
  uint64_t tx_full;            /* frames dropped because the transmit ring was full */
};

static inline struct queue* own(struct nic_queue* base) { return (struct queue*)base; }

/* Reserves rings and buffers: as many as both rings and a burst can hold, so that the free list never runs dry, unless
 * the settings say a number. */
struct queue* nic_descriptor_create_queue(const struct nic_settings* settings);

/* The most bytes that this takes from memory_reserve_dma(). */
uint64_t nic_descriptor_device_memory(const struct nic_settings* settings);

/* Bytes of the longest frame that a buffer has room for, as the NIC takes it. */
static inline uint32_t nic_descriptor_room(const struct nic_settings* settings) {
  return (settings->buffer_bytes - NIC_BUFFER_HEADROOM) & ~(DESC_RX_BUFFER_MULTIPLE - 1);
}

/* Starts the rings by the queue's page of registers, and gives the NIC receive descriptors. room: bytes of the longest
 * frame that a buffer has room for. */
void nic_descriptor_start_queue(struct queue* q, uint64_t page, uint32_t room);

/* Functions of struct nic_driver. */
uint32_t nic_descriptor_receive(struct nic_queue* base, struct nic_frame* frames[NIC_BURST]);
void nic_descriptor_transmit(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind);
void nic_descriptor_release(struct nic_queue* base, uint8_t* data);
void nic_descriptor_flush(struct nic_queue* base);
void nic_descriptor_transmit_burst(struct nic_queue* base, struct nic_frame* const* frames, uint32_t count,
                                   uint32_t kind);

/* Of a queue whose driver polls. */
extern const struct nic_driver nic_descriptor_polling;
