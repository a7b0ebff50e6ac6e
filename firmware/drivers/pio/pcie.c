/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/pio/pcie.c: the PIO NIC whose frames lie in a packet buffer behind a BAR. The buffer is mapped as
 * memory of type NC, so that the host combines its stores. */
#include "firmware/drivers/pcie.h"

#include "firmware/drivers/pio/pio.h"
#include "firmware/kernel/csr.h"
#include "firmware/memory/translation.h"

static uint64_t packets;          /* address of the packet buffer */
static uint64_t rx_word, tx_word; /* of the frame that was received, and of the buffer for the next one */

static volatile uint64_t* at(uint64_t word) { return (volatile uint64_t*)(packets + (word >> PIO_WORD_OFFSET_SHIFT)); }
static uint64_t offset_of(uint64_t word) { return word >> PIO_WORD_OFFSET_SHIFT << PIO_WORD_OFFSET_SHIFT; }

static void get_buffer(void) {
  do tx_word = pio_register(PIO_HOST_TX);
  while (!(tx_word & PIO_WORD_VALID));
}

static void write(const uint64_t* frame, uint32_t bytes) { pio_copy(at(tx_word), frame, bytes); }

/* The commit's store goes on behalf of what the hart works on. */
static void bind(const void* request, uint32_t bytes) {
  (void)request;
  (void)bytes;
}

static void commit(uint32_t bytes) {
  fence_before_doorbell();
  pio_set_register(PIO_HOST_TX_ACK, offset_of(tx_word) | pio_word(bytes));
}

/* A read that gets no answer in time is all ones. */
static uint32_t receive(void) {
  rx_word = pio_register(PIO_HOST_RX_NEXT);
  return rx_word == ~0ul ? 0 : pio_length(rx_word);
}

/* The load that brought the frame's place brought its request. */
static const void* received(void) { return (const void*)(pio_registers + PIO_HOST_RX_NEXT); }

static void read(uint64_t* frame, uint32_t bytes) { pio_copy(frame, at(rx_word), bytes); }

static void release(void) { pio_set_register(PIO_HOST_RX_NEXT_ACK, offset_of(rx_word)); }

static const struct pio form = {get_buffer, write, bind, commit, receive, received, read, release};

const struct pio* pio_open_pcie(const struct pcie_function* function) {
  translation_setup();
  uint64_t bar = function->bar[PIO_BAR], bytes = function->bar_size[PIO_BAR] - PIO_PACKET_BUFFER;
  pio_registers = translation_map(bar, PIO_REGISTERS_SIZE, MEMORY_AS_IT_IS);
  packets = translation_map(bar + PIO_PACKET_BUFFER, bytes, MEMORY_NC);
  return &form;
}
