/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/nic.c: the board's NICs: what the device tree says of each, and which driver serves it. */
#include "firmware/drivers/nic.h"

#include "firmware/drivers/pcie.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/fdt.h"
#include "models/pcie/pcie_regs.h"

#define NETWORK_CLASS (PCIE_CLASS_ETHERNET >> 16)

/* link.ld */
extern const struct nic_model nic_models[], nic_models_end[];
extern const struct nic_bus_model nic_bus_models[], nic_bus_models_end[];

static const struct nic_model* model_of(const struct pcie_function* f) {
  for (const struct nic_model* m = nic_models; m != nic_models_end; m++) {
    if (m->vendor_id == f->vendor_id && m->device_id == f->device_id) return m;
  }
  return 0;
}

static const struct nic_bus_model* bus_model_of(const struct fdt_walk* node) {
  for (const struct nic_bus_model* m = nic_bus_models; m != nic_bus_models_end; m++) {
    if (fdt_is_compatible(node, m->compatible)) return m;
  }
  return 0;
}

static void read_settings(struct nic_settings* s, const struct fdt_walk* node) {
  const char* name = fdt_get(node, "sluice,path", 0);
  for (unsigned i = 0; name != 0 && i < NIC_NAME_BYTES - 1; i++) {
    s->name[i] = name[i];
    s->name[i + 1] = 0;
    if (name[i] == 0) break;
  }
  const char* driver = fdt_get(node, "sluice,driver", 0);
  s->interrupts = driver != 0 && text_equal(driver, "interrupt");
  s->queues = fdt_get_u32(node, "sluice,queues", s->queues);
  s->ipv4 = fdt_get_u32(node, "sluice,ipv4", s->ipv4);
  s->rx_ring = fdt_get_u32(node, "sluice,rx-ring", s->rx_ring);
  s->tx_ring = fdt_get_u32(node, "sluice,tx-ring", s->tx_ring);
  s->moderation = fdt_get_u32(node, "sluice,moderation", s->moderation);
  s->buffers = fdt_get_u32(node, "sluice,buffers", s->buffers);
  s->buffer_bytes = fdt_get_u32(node, "sluice,buffer-bytes", s->buffer_bytes);
  s->max_frame = fdt_get_u32(node, "sluice,max-frame", s->max_frame);
  const char* order = fdt_get(node, "sluice,buffer-order", 0);
  s->shuffled = order != 0 && text_equal(order, "shuffled");
}

/* What setup() of a model needs. */
struct candidate {
  const struct pcie_function* function; /* 0: it is on the bus */
  struct nic_bus_place place;
};

static void leave(const struct nic_settings* s, const struct candidate* c, const char* why) {
  if (c->function != 0)
    print("%s (%04x:%04x) is left alone: %s\n", s->name, c->function->vendor_id, c->function->device_id, why);
  else
    print("%s is left alone: %s\n", s->name, why);
}

/* Adds the NICs on the system's bus. */
static unsigned find_on_bus(struct nic nics[NIC_MAX], struct candidate found[NIC_MAX], unsigned count) {
  struct fdt_walk node;
  if (!fdt_begin(&node, board_device_tree)) return count;
  while (fdt_next(&node)) {
    const struct nic_bus_model* model = bus_model_of(&node);
    uint32_t length = 0;
    const void* reg = fdt_get(&node, "reg", &length);
    if (model == 0 || reg == 0 || length < 16) continue;
    struct candidate c = {0, {fdt_cells(reg, 0), length < 32 ? 0 : fdt_cells(reg, 4)}};
    struct nic_settings settings = NIC_DEFAULT_SETTINGS;
    read_settings(&settings, &node);
    if (count == NIC_MAX) {
      leave(&settings, &c, "there are too many NICs");
    } else {
      nics[count] = (struct nic){.bus_model = model, .settings = settings};
      found[count++] = c;
    }
  }
  return count;
}

/* Adds the NICs that are PCIe functions. */
static unsigned find_on_pcie(struct nic nics[NIC_MAX], struct candidate found[NIC_MAX], unsigned count) {
  const struct pcie_function* f;
  for (unsigned i = 0; (f = pcie_function(i)) != 0; i++) {
    const struct nic_model* model = model_of(f);
    if (model == 0 && f->class_code >> 16 != NETWORK_CLASS) continue;
    struct candidate c = {.function = f};
    struct nic_settings settings = NIC_DEFAULT_SETTINGS;
    struct fdt_walk node;
    if (pcie_node(f, &node)) read_settings(&settings, &node);
    if (model == 0) {
      leave(&settings, &c, "no driver knows it");
    } else if (count == NIC_MAX) {
      leave(&settings, &c, "there are too many NICs");
    } else {
      nics[count] = (struct nic){.model = model, .settings = settings};
      found[count++] = c;
    }
  }
  return count;
}

static bool start(struct nic* nic, const struct candidate* c) {
  return nic->model != 0 ? nic->model->setup(nic, c->function) : nic->bus_model->setup(nic, &c->place);
}

/* All settings are read before the first NIC takes memory, because that memory may hold the device tree. */
unsigned nic_setup(struct nic nics[NIC_MAX], nic_adjust* adjust) {
  struct candidate found[NIC_MAX];
  unsigned count = find_on_pcie(nics, found, find_on_bus(nics, found, 0)), started = 0;
  for (unsigned i = 0; i < count; i++) {
    struct nic* nic = &nics[started];
    const struct nic from = nics[i];
    *nic = (struct nic){.model = from.model, .bus_model = from.bus_model, .settings = from.settings};
    if (adjust != 0) adjust(&nic->settings);
    nic->queues = nic->settings.queues < board.harts ? nic->settings.queues : board.harts;
    if (nic->queues == 0) nic->queues = 1;
    if (start(nic, &found[i])) {
      nic_wrap(nic);
      started++;
    } else {
      leave(&nic->settings, &found[i], "it does not start");
    }
  }
  return started;
}

__attribute__((weak)) void nic_wrap(struct nic* nic) { (void)nic; }
