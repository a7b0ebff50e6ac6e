/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/frames.c: the frames that Lauberhorn gives to the kernel, as those of a NIC that delivers
 * frames. Each core has a queue: what its kernel line brings is copied into the one buffer that there is, and the
 * answer into the transmit lines of its kernel end-point. */
#include "firmware/drivers/lauberhorn/lauberhorn.h"
#include "firmware/drivers/nic_one_buffer.h"

struct queue {
  struct nic_one_buffer one;
  struct lauberhorn_lines rx, tx;
  volatile uint64_t* kernel_line; /* register */
  bool is_there, holds_line;
};

static struct queue* own(struct nic_queue* base) { return (struct queue*)base; }

static uint32_t receive(struct nic_queue* base, struct nic_frame** frames) {
  struct queue* q = own(base);
  if (!q->is_there) return 0;
  q->is_there = false;
  frames[0] = &q->one.frame;
  return 1;
}

/* Sends what the head says and these bytes. */
static void send(struct queue* q, uint32_t type, const uint64_t* from, uint32_t bytes, const void* request) {
  lauberhorn_write(&q->tx, from, bytes);
  (void)lauberhorn_commit(&q->tx, type, bytes, request);
}

/* Waits for a buffer, for the first message. */
static void get_buffer(struct queue* q) {
  if (!q->holds_line) (void)lauberhorn_wait(&q->tx);
  q->holds_line = true;
}

static void transmit(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind) {
  struct queue* q = own(base);
  (void)kind;
  stage(copy, q->one.data);
  get_buffer(q);
  send(q, LAUB_FRAME, (const uint64_t*)data, length, q->one.data);
}

void lauberhorn_frames_reply(const struct nic* nic, uint32_t core, uint32_t session, uint32_t status,
                             const uint64_t* result, uint32_t bytes) {
  struct queue* q = own(nic->queue[core]);
  get_buffer(q);
  *(volatile uint32_t*)lauberhorn_at(&q->tx, LAUB_HEAD_XID) = status;
  *(volatile uint32_t*)lauberhorn_at(&q->tx, LAUB_HEAD_SESSION) = session << 16;
  send(q, LAUB_REPLY, result, bytes, result);
}

void lauberhorn_frames_keep(const struct nic* nic, uint32_t core, uint32_t session, const void* request) {
  struct queue* q = own(nic->queue[core]);
  get_buffer(q);
  *(volatile uint32_t*)lauberhorn_at(&q->tx, LAUB_HEAD_SESSION) = session << 16;
  send(q, LAUB_KEPT, 0, 0, request);
}

/* The bytes behind a head in the lines are the queue's frame. */
static void take_frame(struct queue* q, const struct lauberhorn_lines* l, uint32_t bytes) {
  nic_one_buffer_begin(&q->one, (const void*)lauberhorn_at(l, 0), bytes);
  lauberhorn_read(l, (uint64_t*)q->one.data, bytes);
}

/* Waits at the kernel line itself. After TRYAGAIN, too, the other line is next. */
static uint32_t receive_waiting(struct nic_queue* base, struct nic_frame** frames) {
  struct queue* q = own(base);
  account(polling);
  const uint32_t word = lauberhorn_wait(&q->rx), bytes = lauberhorn_length(word);
  account(networking);
  const bool is_frame =
      (word & LAUB_WORD_VALID) != 0 && lauberhorn_type(word) == LAUB_FRAME && bytes <= NIC_ONE_BUFFER_FRAME;
  if (is_frame) take_frame(q, &q->rx, bytes);
  lauberhorn_next(&q->rx);
  frames[0] = &q->one.frame;
  return is_frame;
}

/* The line is taken back now, and not only when the next one is loaded. */
static void release_line(struct nic_queue* base, uint8_t* data) {
  (void)data;
  *own(base)->kernel_line = LAUB_KERNEL_DONE;
}

static const struct nic_driver driver = {.receive = receive,
                                         .transmit = transmit,
                                         .release = nic_one_buffer_release,
                                         .flush = nic_one_buffer_flush,
                                         .wait = nic_one_buffer_wait};
static const struct nic_driver waiting_driver = {.receive = receive_waiting,
                                                 .transmit = transmit,
                                                 .release = release_line,
                                                 .flush = nic_one_buffer_flush,
                                                 .wait = nic_one_buffer_wait,
                                                 .take = nic_one_buffer_take};

static void turn_around(const struct nic* nic) {
  *(volatile uint64_t*)(nic->registers + LAUB_CONTROL) = LAUB_CONTROL_TURN_AROUND;
}

void lauberhorn_frames_setup(const struct lauberhorn* lauberhorn, struct nic* nic, bool waits) {
  const uint64_t mac = lauberhorn_get(lauberhorn, LAUB_MAC);
  for (unsigned i = 0; i < 6; i++) nic->mac[i] = (uint8_t)(mac >> (40 - 8 * i));
  nic->max_frame = NIC_ONE_BUFFER_FRAME;
  nic->buffer_bytes = NIC_ONE_BUFFER_BYTES;
  nic->queues = lauberhorn->cores;
  nic->copies = true;
  nic->registers = lauberhorn->registers;
  nic->turn_around = turn_around;
  for (uint32_t core = 0; core < nic->queues; core++) {
    struct queue* q = memory_reserve(sizeof *q, 64);
    *q = (struct queue){.rx = lauberhorn_kernel(lauberhorn, core, LAUB_RX),
                        .tx = lauberhorn_kernel(lauberhorn, core, LAUB_TX),
                        .kernel_line = (volatile uint64_t*)(lauberhorn->registers + LAUB_KERNEL_LINE(core))};
    nic_one_buffer_setup(&q->one, waits ? &waiting_driver : &driver);
    nic->queue[core] = &q->one.base;
  }
}

void lauberhorn_frames_offer(const struct nic* nic, uint32_t core, const struct lauberhorn_lines* l, uint32_t bytes) {
  struct queue* q = own(nic->queue[core]);
  if (bytes > NIC_ONE_BUFFER_FRAME) return;
  take_frame(q, l, bytes);
  q->is_there = true;
}
