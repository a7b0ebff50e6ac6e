/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/descriptor/residence.c: for images that measure how long frames stay. It wraps the driver of each
 * descriptor NIC and asks for hardware time stamps. For each frame that is answered in its own buffer, it adds up the
 * time from the frame's first bit at the MAC to the answer's first bit. It reads the answers' stamps when no frame has
 * arrived. */
#include "firmware/drivers/descriptor/nic.h"
#include "firmware/drivers/nic.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/statistics.h"

#define ENTRIES 16u /* most answers of a queue whose stamps are awaited */

struct queue {
  struct nic_queue base;
  struct nic_queue* inner;
  const struct nic_stamping* stamping;
  uint32_t first_entry; /* first stamp entry of this queue */
  uint32_t entries;
  uint32_t asked, taken; /* stamps asked for, and stamps read; stamp n is in entry n % entries */
  uint64_t arrived[ENTRIES];
  struct {
    uint64_t frames, ns, last_arrival_ns, last_departure_ns;
  } residence;
};

static struct queue* own(struct nic_queue* base) { return (struct queue*)base; }

/* A frame's stamp is stored at the start of its buffer, where no header is ever written. */
static uint64_t* stamp_of(uint8_t* data) { return (uint64_t*)((uintptr_t)data & ~(uintptr_t)(NIC_BUFFER_BYTES - 1)); }

static void take_stamps(struct queue* q) {
  uint64_t departed;
  while (q->taken != q->asked) {
    uint32_t entry = q->taken % q->entries;
    if (!q->stamping->departed(q->inner, q->first_entry + entry, &departed)) break;
    q->taken++;
    q->residence.frames++;
    q->residence.ns += departed - q->arrived[entry];
    q->residence.last_arrival_ns = q->arrived[entry];
    q->residence.last_departure_ns = departed;
  }
}

static uint32_t receive(struct nic_queue* base, struct nic_frame* frames[NIC_BURST]) {
  uint64_t stamps[NIC_BURST];
  uint32_t count = own(base)->stamping->receive(own(base)->inner, frames, stamps);
  for (uint32_t i = 0; i < count; i++) *stamp_of(frames[i]->data) = stamps[i];
  if (count == 0) take_stamps(own(base));
  return count;
}

static void transmit(struct nic_queue* base, uint8_t* data, uint32_t length, uint32_t kind) {
  struct queue* q = own(base);
  if (q->asked - q->taken == q->entries) return q->inner->driver->transmit(q->inner, data, length, kind);
  uint32_t entry = q->asked % q->entries;
  q->arrived[entry] = *stamp_of(data);
  if (q->stamping->transmit(q->inner, data, length, kind, q->first_entry + entry)) q->asked++;
}

static void release(struct nic_queue* base, uint8_t* data) {
  own(base)->inner->driver->release(own(base)->inner, data);
}

static void flush(struct nic_queue* base) { own(base)->inner->driver->flush(own(base)->inner); }

static void wait(struct nic_queue* base) { own(base)->inner->driver->wait(own(base)->inner); }

static const volatile uint32_t* arm(struct nic_queue* base) { return own(base)->inner->driver->arm(own(base)->inner); }

static const struct nic_driver polling_driver = {receive, transmit, release, flush, wait, 0, 0, 0};
static const struct nic_driver interrupt_driver = {receive, transmit, release, flush, wait, arm, 0, 0};

void nic_wrap(struct nic* nic) {
  if (nic->model == 0 || nic->model->setup != nic_descriptor_setup) return;
  const struct nic_stamping* stamping = nic_descriptor_stamping();
  uint32_t entries = stamping->entries / nic->queues;
  if (entries == 0) return;
  for (unsigned i = 0; i < nic->queues; i++) {
    struct queue* q = memory_reserve(sizeof *q, 64);
    *q = (struct queue){.base = {nic->queue[i]->driver->arm != 0 ? &interrupt_driver : &polling_driver},
                        .inner = nic->queue[i],
                        .stamping = stamping,
                        .first_entry = i * entries,
                        .entries = entries < ENTRIES ? entries : ENTRIES};
    statistics_add("residence_frames residence_ns last_arrival_ns last_departure_ns", &q->residence.frames);
    nic->queue[i] = &q->base;
  }
}
