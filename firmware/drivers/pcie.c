/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/pcie.c */
#include "firmware/drivers/pcie.h"

#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "models/pcie/pcie_regs.h"

#define PAYLOAD_SIZE_4096 5u

static struct pcie_function functions[PCIE_MAX_FUNCTIONS];
static unsigned function_count;
static unsigned last_bus;
static unsigned smallest_payload = PAYLOAD_SIZE_4096; /* 128 << n bytes that every function on a link can receive */

/* Next free address of each window, as seen on PCIe. */
static uint64_t next32, next64;

static uint64_t ecam(const struct pcie_function* f, uint32_t reg) {
  return board.ecam + PCIE_ECAM_OFFSET(f->bus, f->device, f->function, reg);
}
static uint32_t read32(const struct pcie_function* f, uint32_t reg) { return *(volatile uint32_t*)ecam(f, reg); }
static uint16_t read16(const struct pcie_function* f, uint32_t reg) { return *(volatile uint16_t*)ecam(f, reg); }
static uint8_t read8(const struct pcie_function* f, uint32_t reg) { return *(volatile uint8_t*)ecam(f, reg); }
static void write32(const struct pcie_function* f, uint32_t reg, uint32_t v) { *(volatile uint32_t*)ecam(f, reg) = v; }
static void write16(const struct pcie_function* f, uint32_t reg, uint16_t v) { *(volatile uint16_t*)ecam(f, reg) = v; }
static void write8(const struct pcie_function* f, uint32_t reg, uint8_t v) { *(volatile uint8_t*)ecam(f, reg) = v; }

static uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

/* Takes `size` bytes, naturally aligned, out of a window; 0 when it is full. */
static uint64_t allocate(const struct board_window* window, uint64_t* next, uint64_t size) {
  uint64_t at = align_up(*next, size);
  if (window->size == 0 || at + size > window->pci + window->size) return 0;
  *next = at + size;
  return at;
}

static bool assign_bar(struct pcie_function* f, unsigned n, bool* is_64) {
  uint32_t low = read32(f, PCIE_BAR(n));
  *is_64 = (low & PCIE_BAR_IO) == 0 && (low & PCIE_BAR_TYPE_MASK) == PCIE_BAR_TYPE_64;
  write32(f, PCIE_BAR(n), 0xffffffffu);
  uint64_t mask = read32(f, PCIE_BAR(n)) & PCIE_BAR_MEMORY_MASK;
  if ((low & PCIE_BAR_IO) != 0 || (mask == 0 && !*is_64)) {
    write32(f, PCIE_BAR(n), low);
    return true;
  }
  if (*is_64) {
    write32(f, PCIE_BAR(n + 1), 0xffffffffu);
    mask |= (uint64_t)read32(f, PCIE_BAR(n + 1)) << 32;
  } else {
    mask |= 0xffffffff00000000ull;
  }
  if (mask == 0) return true;

  /* A bridge forwards 64-bit addresses through its prefetchable window only. */
  bool high = *is_64 && (low & PCIE_BAR_PREFETCHABLE) != 0 && board.mmio64.size != 0;
  const struct board_window* window = high ? &board.mmio64 : &board.mmio32;
  uint64_t size = -mask;
  uint64_t at = allocate(window, high ? &next64 : &next32, size);
  write32(f, PCIE_BAR(n), (uint32_t)at);
  if (*is_64) write32(f, PCIE_BAR(n + 1), (uint32_t)(at >> 32));
  if (at == 0) return false;
  f->bar[n] = pcie_reach(at - window->pci + window->cpu, size);
  f->bar_size[n] = size;
  return true;
}

static void assign_bars(struct pcie_function* f) {
  unsigned bars = f->header_type == PCIE_HEADER_TYPE_BRIDGE ? PCIE_BARS_BRIDGE : PCIE_BARS_ENDPOINT;
  bool fits = true;
  write16(f, PCIE_COMMAND, PCIE_COMMAND_INTX_DISABLE);
  for (unsigned n = 0; n < bars; n++) {
    bool is_64 = false;
    if (!assign_bar(f, n, &is_64)) fits = false;
    if (is_64) n++;
  }
  if (fits) {
    write16(f, PCIE_COMMAND, PCIE_COMMAND_MEMORY | PCIE_COMMAND_BUS_MASTER);
  } else {
    print("pcie: %02x:%02x.%u does not fit the memory windows\n", f->bus, f->device, f->function);
  }
}

static void find_capabilities(struct pcie_function* f) {
  if ((read16(f, PCIE_STATUS) & PCIE_STATUS_CAPABILITIES) == 0) return;
  uint8_t at = read8(f, PCIE_CAPABILITIES_POINTER) & 0xfcu;
  for (unsigned hops = 0; at >= 0x40u && hops < 48; hops++) {
    uint16_t head = read16(f, at);
    if ((head & 0xffu) == PCIE_CAPABILITY_ID_EXPRESS) f->express = at;
    if ((head & 0xffu) == PCIE_CAPABILITY_ID_MSIX) f->msix = at;
    at = (uint8_t)(head >> 8) & 0xfcu;
  }
}

static void scan_bus(unsigned bus, const struct pcie_function* above);

static void set_window(const struct pcie_function* bridge, uint64_t start32, uint64_t start64) {
  next32 = align_up(next32, PCIE_BRIDGE_WINDOW_GRANULE);
  next64 = align_up(next64, PCIE_BRIDGE_WINDOW_GRANULE);
  /* An empty window has its limit below its base. */
  uint64_t limit32 = next32 - 1, limit64 = next64 - 1;
  write16(bridge, PCIE_MEMORY_BASE, (uint16_t)(start32 >> 16 & 0xfff0u));
  write16(bridge, PCIE_MEMORY_LIMIT, (uint16_t)(limit32 >> 16 & 0xfff0u));
  write16(bridge, PCIE_PREFETCHABLE_BASE, (uint16_t)(start64 >> 16 & 0xfff0u));
  write16(bridge, PCIE_PREFETCHABLE_LIMIT, (uint16_t)(limit64 >> 16 & 0xfff0u));
  write32(bridge, PCIE_PREFETCHABLE_BASE_UPPER, (uint32_t)(start64 >> 32));
  write32(bridge, PCIE_PREFETCHABLE_LIMIT_UPPER, (uint32_t)(limit64 >> 32));
}

static void set_up_bridge(struct pcie_function* f) {
  unsigned secondary = ++last_bus;
  write8(f, PCIE_PRIMARY_BUS, f->bus);
  write8(f, PCIE_SECONDARY_BUS, (uint8_t)secondary);
  write8(f, PCIE_SUBORDINATE_BUS, 0xff); /* until all buses below are numbered */
  next32 = align_up(next32, PCIE_BRIDGE_WINDOW_GRANULE);
  next64 = align_up(next64, PCIE_BRIDGE_WINDOW_GRANULE);
  uint64_t start32 = next32, start64 = next64;
  scan_bus(secondary, f);
  write8(f, PCIE_SUBORDINATE_BUS, (uint8_t)last_bus);
  set_window(f, start32, start64);
}

/* Swizzles the interrupt pin at each bridge up to the root bus, by the device number below the bridge (PCI-to-PCI
 * Bridge specification, 9.1). */
static void trace_interrupt(struct pcie_function* f) {
  unsigned pin = read8(f, PCIE_INTERRUPT_PIN);
  f->interrupt_device = f->device;
  f->interrupt_pin = 0;
  if (pin == 0 || pin > 4) return;
  for (const struct pcie_function* bridge = f->above; bridge != 0; bridge = bridge->above) {
    pin = (pin - 1u + f->interrupt_device) % 4u + 1u;
    f->interrupt_device = bridge->device;
  }
  f->interrupt_pin = (uint8_t)pin;
}

static unsigned express_type(const struct pcie_function* f) {
  return read16(f, f->express + PCIE_EXPRESS_CAPABILITIES) >> PCIE_EXPRESS_TYPE_SHIFT & 0xfu;
}

/* Whether the function is a port with a link below it. */
static bool is_port(const struct pcie_function* f) {
  if (f->express == 0) return false;
  unsigned type = express_type(f);
  return type == PCIE_EXPRESS_TYPE_ROOT_PORT || type == PCIE_EXPRESS_TYPE_DOWNSTREAM;
}

static unsigned payload_supported(const struct pcie_function* f) {
  return read32(f, f->express + PCIE_EXPRESS_DEVICE_CAPABILITIES) & PCIE_EXPRESS_DEVICE_CONTROL_SIZE_MASK;
}

static bool scan_function(unsigned bus, unsigned device, unsigned number, const struct pcie_function* above,
                          bool* multifunction) {
  struct pcie_function probe = {.bus = (uint8_t)bus, .device = (uint8_t)device, .function = (uint8_t)number};
  uint32_t ids = read32(&probe, PCIE_VENDOR_ID);
  if ((ids & 0xffffu) == PCIE_VENDOR_NONE || ids == 0) return false;
  uint8_t type = read8(&probe, PCIE_HEADER_TYPE);
  *multifunction = (type & PCIE_HEADER_TYPE_MULTIFUNCTION) != 0;
  if (function_count == PCIE_MAX_FUNCTIONS) {
    print("pcie: more than %u functions; %02x:%02x.%u and later ones are left alone\n", PCIE_MAX_FUNCTIONS, bus, device,
          number);
    return true;
  }
  struct pcie_function* f = &functions[function_count++];
  *f = probe;
  f->above = above;
  f->vendor_id = (uint16_t)ids;
  f->device_id = (uint16_t)(ids >> 16);
  f->header_type = type & PCIE_HEADER_TYPE_MASK;
  f->class_code = read32(f, PCIE_REVISION_ID) >> 8;
  find_capabilities(f);
  trace_interrupt(f);
  assign_bars(f);
  unsigned before = function_count;
  if (f->header_type == PCIE_HEADER_TYPE_BRIDGE) set_up_bridge(f);
  bool empty_port = is_port(f) && function_count == before;
  if (f->express != 0 && express_type(f) != PCIE_EXPRESS_TYPE_INTEGRATED && !empty_port) { /* the others have no link */
    unsigned payload = payload_supported(f);
    if (payload < smallest_payload) smallest_payload = payload;
  }
  return true;
}

/* Number of devices to look for on a bus. A link has one device at its other end; only the root bus and a switch's
 * internal bus have more. */
static unsigned devices_on(const struct pcie_function* above) {
  return above != 0 && is_port(above) ? 1 : PCIE_DEVICES_PER_BUS;
}

static void scan_bus(unsigned bus, const struct pcie_function* above) {
  if ((uint64_t)(bus + 1) << 20 > board.ecam_size) return;
  unsigned devices = devices_on(above);
  for (unsigned device = 0; device < devices; device++) {
    bool multifunction = false, ignored = false;
    if (!scan_function(bus, device, 0, above, &multifunction)) continue;
    for (unsigned n = 1; multifunction && n < PCIE_FUNCTIONS_PER_DEVICE; n++) {
      scan_function(bus, device, n, above, &ignored);
    }
  }
}

/* Sets the largest payload that every function can receive. The read request size stays the device's own choice. */
static void set_sizes(const struct pcie_function* f) {
  if (f->express == 0) return;
  uint32_t control = read16(f, f->express + PCIE_EXPRESS_DEVICE_CONTROL);
  unsigned supported = payload_supported(f);
  control &= ~(PCIE_EXPRESS_DEVICE_CONTROL_SIZE_MASK << PCIE_EXPRESS_DEVICE_CONTROL_MPS_SHIFT);
  control |= (supported < smallest_payload ? supported : smallest_payload) << PCIE_EXPRESS_DEVICE_CONTROL_MPS_SHIFT;
  if ((read32(f, f->express + PCIE_EXPRESS_DEVICE_CAPABILITIES) & PCIE_EXPRESS_DEVICE_CAPABILITIES_EXTENDED_TAG) != 0) {
    control |= PCIE_EXPRESS_DEVICE_CONTROL_EXTENDED_TAG;
  }
  write16(f, f->express + PCIE_EXPRESS_DEVICE_CONTROL, (uint16_t)control);
}

unsigned pcie_setup(void) {
  if (board.ecam_size == 0) return 0;
  next32 = board.mmio32.pci;
  next64 = board.mmio64.pci;
  scan_bus(0, 0);
  for (unsigned i = 0; i < function_count; i++) set_sizes(&functions[i]);
  return function_count;
}

const struct pcie_function* pcie_function(unsigned index) { return index < function_count ? &functions[index] : 0; }

const struct pcie_function* pcie_find(uint16_t vendor_id, uint16_t device_id) {
  for (unsigned i = 0; i < function_count; i++) {
    if (functions[i].vendor_id == vendor_id && functions[i].device_id == device_id) return &functions[i];
  }
  return 0;
}

/* Finds the node of this device and function among the children of the current node. */
static bool descend(struct fdt_walk* node, const struct pcie_function* f) {
  int depth = node->depth;
  while (fdt_next(node) && node->depth > depth) {
    uint32_t length = 0;
    const void* reg = fdt_get(node, "reg", &length);
    if (node->depth != depth + 1 || reg == 0 || length < 4) continue;
    if ((fdt_cell(reg, 0) >> 8 & 0xffu) == ((uint32_t)f->device << 3 | f->function)) return true;
  }
  return false;
}

bool pcie_node(const struct pcie_function* function, struct fdt_walk* node) {
  const struct pcie_function* way[PCIE_MAX_FUNCTIONS]; /* from the function up to the root bus */
  unsigned levels = 0;
  for (const struct pcie_function* f = function; f != 0; f = f->above) way[levels++] = f;
  if (!fdt_begin(node, board_device_tree)) return false;
  do {
    if (!fdt_next(node)) return false;
  } while (!fdt_is_compatible(node, "pci-host-ecam-generic"));
  while (levels > 0 && descend(node, way[levels - 1])) levels--;
  return levels == 0;
}

void pcie_print(void) {
  for (unsigned i = 0; i < function_count; i++) {
    const struct pcie_function* f = &functions[i];
    print("pcie %02x:%02x.%u %04x:%04x class %06x", f->bus, f->device, f->function, f->vendor_id, f->device_id,
          f->class_code);
    for (unsigned n = 0; n < PCIE_BARS_ENDPOINT; n++) {
      if (f->bar_size[n] != 0) print(" bar%u %lx", n, (unsigned long)f->bar[n]);
    }
    print("\n");
  }
}

unsigned pcie_msix_vectors(const struct pcie_function* f) {
  return f->msix == 0 ? 0 : (read16(f, f->msix + PCIE_MSIX_CONTROL) & PCIE_MSIX_CONTROL_SIZE) + 1u;
}

void pcie_msix_route(const struct pcie_function* f, unsigned vector, uint64_t address, uint32_t data) {
  uint32_t table = read32(f, f->msix + PCIE_MSIX_TABLE);
  uint64_t base = f->bar[table & PCIE_MSIX_BIR_MASK] + (table & ~PCIE_MSIX_BIR_MASK);
  volatile struct pcie_msix_entry* entry = (volatile struct pcie_msix_entry*)base + vector;
  entry->address_low = (uint32_t)address;
  entry->address_high = (uint32_t)(address >> 32);
  entry->data = data;
  entry->control = 0;
}

void pcie_msix_enable(const struct pcie_function* f) {
  uint32_t control = read16(f, f->msix + PCIE_MSIX_CONTROL);
  write16(f, f->msix + PCIE_MSIX_CONTROL,
          (uint16_t)((control | PCIE_MSIX_CONTROL_ENABLE) & ~PCIE_MSIX_CONTROL_FUNCTION_MASK));
}

uint32_t pcie_interrupt_line(const struct pcie_function* f) {
  for (unsigned i = 0; i < board.interrupt_map_entries; i++) {
    if (board.interrupt_map[i].pin == f->interrupt_pin && board.interrupt_map[i].device == (f->interrupt_device & 3u)) {
      return board.interrupt_map[i].line;
    }
  }
  return 0;
}

__attribute__((weak)) uint64_t pcie_reach(uint64_t physical, uint64_t bytes) {
  (void)bytes;
  return physical;
}
