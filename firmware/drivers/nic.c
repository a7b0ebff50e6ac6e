/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/nic.c: the board's NICs: what the device tree says of each, and which driver serves it. */
#include "firmware/drivers/nic.h"

#include "firmware/drivers/pcie.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/fdt.h"
#include "models/pcie/pcie_regs.h"

#define NETWORK_CLASS (PCIE_CLASS_ETHERNET >> 16)

extern const struct nic_model nic_models[], nic_models_end[]; /* link.ld */

static const struct nic_model* model_of(const struct pcie_function* f) {
  for (const struct nic_model* m = nic_models; m != nic_models_end; m++) {
    if (m->vendor_id == f->vendor_id && m->device_id == f->device_id) return m;
  }
  return 0;
}

static void read_settings(struct nic_settings* s, const struct pcie_function* f) {
  struct fdt_walk node;
  *s = NIC_DEFAULT_SETTINGS;
  if (!pcie_node(f, &node)) return;
  const char* name = fdt_get(&node, "sluice,path", 0);
  for (unsigned i = 0; name != 0 && i < NIC_NAME_BYTES - 1; i++) {
    s->name[i] = name[i];
    s->name[i + 1] = 0;
    if (name[i] == 0) break;
  }
  const char* driver = fdt_get(&node, "sluice,driver", 0);
  s->interrupts = driver != 0 && text_equal(driver, "interrupt");
  s->queues = fdt_get_u32(&node, "sluice,queues", s->queues);
  s->ipv4 = fdt_get_u32(&node, "sluice,ipv4", s->ipv4);
  s->rx_ring = fdt_get_u32(&node, "sluice,rx-ring", s->rx_ring);
  s->tx_ring = fdt_get_u32(&node, "sluice,tx-ring", s->tx_ring);
  s->moderation = fdt_get_u32(&node, "sluice,moderation", s->moderation);
  s->buffers = fdt_get_u32(&node, "sluice,buffers", s->buffers);
  s->buffer_bytes = fdt_get_u32(&node, "sluice,buffer-bytes", s->buffer_bytes);
  const char* order = fdt_get(&node, "sluice,buffer-order", 0);
  s->shuffled = order != 0 && text_equal(order, "shuffled");
}

struct candidate {
  const struct pcie_function* function;
  const struct nic_model* model;
};

static void leave(const struct nic_settings* s, const struct pcie_function* f, const char* why) {
  print("%s (%04x:%04x) is left alone: %s\n", s->name, f->vendor_id, f->device_id, why);
}

/* All settings are read before the first NIC takes memory, because that memory may hold the device tree. */
static unsigned find(struct nic nics[NIC_MAX], struct candidate found[NIC_MAX]) {
  unsigned count = 0;
  const struct pcie_function* f;
  for (unsigned i = 0; (f = pcie_function(i)) != 0; i++) {
    const struct nic_model* model = model_of(f);
    if (model == 0 && f->class_code >> 16 != NETWORK_CLASS) continue;
    struct nic_settings settings;
    read_settings(&settings, f);
    if (model == 0) {
      leave(&settings, f, "no driver knows it");
    } else if (count == NIC_MAX) {
      leave(&settings, f, "there are too many NICs");
    } else {
      nics[count].settings = settings;
      found[count++] = (struct candidate){f, model};
    }
  }
  return count;
}

unsigned nic_setup(struct nic nics[NIC_MAX]) {
  struct candidate found[NIC_MAX];
  unsigned count = find(nics, found), started = 0;
  for (unsigned i = 0; i < count; i++) {
    struct nic* nic = &nics[started];
    if (i != started) *nic = (struct nic){.settings = nics[i].settings};
    nic->queues = nic->settings.queues < board.harts ? nic->settings.queues : board.harts;
    if (nic->queues == 0) nic->queues = 1;
    nic->model = found[i].model;
    if (nic->model->setup(nic, found[i].function)) {
      nic_wrap(nic);
      started++;
    } else {
      leave(&nic->settings, found[i].function, "it does not start");
    }
  }
  return started;
}

__attribute__((weak)) void nic_wrap(struct nic* nic) { (void)nic; }
