/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/apps/dma_bench.c: measures DMA as the device tree's /chosen node asks: for each size and state of the
 * caches, the latency of reads, writes and write-then-reads one at a time, and the rate of reads and of writes with
 * many under way. The device keeps the results. */
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "models/accel/dma_requester/dma_bench_codes.h"
#include "models/accel/dma_requester/dma_requester_regs.h"
#include "models/pcie/root/iommu_regs.h"

#define LINE 64u
#define MAX_SIZES 1024u

static struct {
  uint32_t sizes[MAX_SIZES];
  uint32_t size_count;
  uint32_t warm, cold, pattern, interface, window, offset, transactions, warmup, outstanding, cache_bytes, page;
} plan;

/* Optional parts of the board; size or address 0 means that there is none. */
static uint64_t more_memory, more_memory_size, iommu;

static uint64_t device; /* its registers */
static uint8_t* window;
static uint8_t* thrash;
static uint32_t thrash_bytes;
static volatile struct dmar_record* record;

static void write_register(uint32_t offset, uint32_t value) { *(volatile uint32_t*)(device + offset) = value; }
static void write_register64(uint32_t offset, uint64_t value) { *(volatile uint64_t*)(device + offset) = value; }
static uint32_t read_register(uint32_t offset) { return *(volatile uint32_t*)(device + offset); }

static void read_chosen(const struct fdt_walk* node) {
  uint32_t length = 0;
  const void* sizes = fdt_get(node, "sluice,dma-sizes", &length);
  for (uint32_t i = 0; sizes != 0 && i < length / 4 && i < MAX_SIZES; i++)
    plan.sizes[plan.size_count++] = fdt_cell(sizes, i);
  plan.warm = fdt_get_u32(node, "sluice,dma-warm", 1);
  plan.cold = fdt_get_u32(node, "sluice,dma-cold", 0);
  plan.pattern = fdt_get_u32(node, "sluice,dma-pattern", DMAR_RANDOM);
  plan.interface = fdt_get_u32(node, "sluice,dma-interface", DMAR_ENGINE);
  plan.window = fdt_get_u32(node, "sluice,dma-window", 65536);
  plan.offset = fdt_get_u32(node, "sluice,dma-offset", 0);
  plan.transactions = fdt_get_u32(node, "sluice,dma-transactions", 1000);
  plan.warmup = fdt_get_u32(node, "sluice,dma-warmup", 100);
  plan.outstanding = fdt_get_u32(node, "sluice,dma-outstanding", 128);
  plan.cache_bytes = fdt_get_u32(node, "sluice,cache-bytes", 32u << 20);
  plan.page = fdt_get_u32(node, "sluice,iommu-page", 4096);
}

/* Notes the first memory that does not hold the image. */
static void read_memory(const void* reg) {
  if (fdt_cells(reg, 0) == board.memory_base || more_memory_size != 0) return;
  more_memory = fdt_cells(reg, 0);
  more_memory_size = fdt_cells(reg, 2);
}

static bool read_plan(void) {
  struct fdt_walk node;
  if (!fdt_begin(&node, board_device_tree)) return false;
  while (fdt_next(&node)) {
    uint32_t length = 0;
    const char* type = fdt_get(&node, "device_type", 0);
    const void* reg = fdt_get(&node, "reg", &length);
    if (node.depth == 1 && text_equal(node.name, "chosen")) read_chosen(&node);
    if (reg == 0 || length < 16) continue;
    if (type != 0 && text_equal(type, "memory")) read_memory(reg);
    if (fdt_is_compatible(&node, "sluice,iommu")) iommu = fdt_cells(reg, 0);
  }
  return plan.size_count != 0;
}

/* -------------------------------------------------------------------------------------------------------------- IOMMU
 */

static uint64_t* new_table(void) {
  uint64_t* table = memory_reserve(IOMMU_TABLE_ENTRIES * sizeof *table, 4096);
  for (unsigned i = 0; i < IOMMU_TABLE_ENTRIES; i++) table[i] = 0;
  return table;
}

/* Maps the page that holds `address` to itself. */
static void map_page(uint64_t* table, uint64_t address) {
  unsigned leaf = 0;
  while (leaf + 1 < IOMMU_LEVELS && 1ull << IOMMU_PAGE_SHIFT(leaf) < plan.page) leaf++;
  uint64_t start = address & ~((1ull << IOMMU_PAGE_SHIFT(leaf)) - 1);
  for (unsigned level = IOMMU_LEVELS - 1;; level--) {
    uint64_t* entry = &table[address >> IOMMU_PAGE_SHIFT(level) & (IOMMU_TABLE_ENTRIES - 1)];
    if (level == leaf) {
      *entry = start >> 12 << IOMMU_PTE_ADDRESS_SHIFT | IOMMU_PTE_VALID | IOMMU_PTE_READ | IOMMU_PTE_WRITE;
      return;
    }
    if ((*entry & IOMMU_PTE_VALID) == 0)
      *entry = (uint64_t)(uintptr_t)new_table() >> 12 << IOMMU_PTE_ADDRESS_SHIFT | IOMMU_PTE_VALID;
    table = (uint64_t*)(uintptr_t)(*entry >> IOMMU_PTE_ADDRESS_SHIFT << 12);
  }
}

static void set_up_iommu(void) {
  uint64_t* root = new_table();
  uint64_t first = (uint64_t)(uintptr_t)window & ~((uint64_t)plan.page - 1);
  uint64_t end = (uint64_t)(uintptr_t)window + plan.window;
  for (uint64_t at = first; at < end; at += plan.page) map_page(root, at);
  map_page(root, (uint64_t)(uintptr_t)record);
  fence_before_doorbell();
  *(volatile uint64_t*)(iommu + IOMMU_ROOT) = (uint64_t)(uintptr_t)root;
  *(volatile uint32_t*)(iommu + IOMMU_COMMAND) = IOMMU_COMMAND_INVALIDATE;
  *(volatile uint32_t*)(iommu + IOMMU_CONTROL) = IOMMU_CONTROL_TRANSLATE;
}

/* --------------------------------------------------------------------------------------------------------- the caches
 */

/* Stores to every line of the window. The last lines stay in this hart's caches, the ones before them in the shared
 * cache. */
static void warm_window(void) {
  for (uint32_t at = 0; at < plan.window; at += LINE) *(volatile uint64_t*)(window + at) = at;
}

/* Loads other memory, a quarter more than all caches hold, to evict the window. */
static void cool_window(void) {
  for (uint32_t at = 0; at < thrash_bytes; at += LINE) (void)*(volatile uint64_t*)(thrash + at);
}

/* ------------------------------------------------------------------------------------------------------- measurements
 */

static int measure(uint32_t operation, uint32_t size, uint32_t label) {
  if ((label & DMAR_LABEL_COLD) != 0)
    cool_window();
  else
    warm_window();
  bool stream = (label & DMAR_LABEL_STREAM) != 0;
  uint32_t outstanding = stream ? plan.outstanding : 1;
  /* A stream is measured only once it is at full rate. */
  uint32_t warmup = stream && plan.warmup < 2 * outstanding ? 2 * outstanding : plan.warmup;
  write_register(DMAR_OPERATION, operation);
  write_register(DMAR_PATTERN, plan.pattern);
  write_register(DMAR_INTERFACE, plan.interface);
  write_register(DMAR_LABEL, label);
  write_register64(DMAR_WINDOW, (uint64_t)(uintptr_t)window);
  write_register64(DMAR_WINDOW_SIZE, plan.window);
  write_register(DMAR_SIZE, size);
  write_register(DMAR_UNIT, (plan.offset + size + LINE - 1) / LINE * LINE);
  write_register(DMAR_OFFSET, plan.offset);
  write_register(DMAR_OUTSTANDING, outstanding);
  write_register(DMAR_WARMUP, warmup);
  write_register(DMAR_COUNT, plan.transactions);
  write_register64(DMAR_RECORD, (uint64_t)(uintptr_t)record);
  record->status = 0;
  fence_before_doorbell();
  write_register(DMAR_CONTROL, DMAR_CONTROL_START);
  if ((read_register(DMAR_STATUS) & DMAR_STATUS_ERROR) != 0) {
    print("dma: command refused, error %u\n", read_register(DMAR_ERROR));
    return DMA_BENCH_REFUSED;
  }
  account(polling);
  while (record->status == 0) cpu_pause();
  account(application);
  fence_reads();
  if (record->failed == 0) return 0;
  print("dma: %u of %u transactions of %u B failed\n", record->failed, plan.transactions, size);
  return DMA_BENCH_FAILED;
}

static int measure_size(uint32_t size, uint32_t label) {
  static const struct {
    uint32_t operation, label;
  } steps[] = {{DMAR_READ, 0},
               {DMAR_WRITE, 0},
               {DMAR_WRITE_READ, 0},
               {DMAR_READ, DMAR_LABEL_STREAM},
               {DMAR_WRITE, DMAR_LABEL_STREAM}};
  for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    int error = measure(steps[i].operation, size, label | steps[i].label);
    if (error != 0) return error;
  }
  return 0;
}

/* Puts the window into a separate memory if the board has one that is large enough. */
static void take_memory(void) {
  record = memory_reserve(sizeof *record, LINE);
  window = more_memory_size >= plan.window ? (uint8_t*)(uintptr_t)more_memory : memory_reserve(plan.window, 4096);
  if (plan.cold == 0) return;
  thrash_bytes = plan.cache_bytes + plan.cache_bytes / 4;
  thrash = memory_reserve(thrash_bytes, 4096);
}

int application_main(void) {
  account(application);
  pcie_setup();
  pcie_print();
  const struct pcie_function* f = pcie_find(DMAR_VENDOR_ID, DMAR_DEVICE_ID);
  if (f == 0 || f->bar[DMAR_BAR_REGISTERS] == 0) {
    print("dma: no DMA requester\n");
    return DMA_BENCH_NO_DEVICE;
  }
  device = f->bar[DMAR_BAR_REGISTERS];
  if (!read_plan()) {
    print("dma: the device tree names no measurements\n");
    return DMA_BENCH_NO_PLAN;
  }
  take_memory();
  if (iommu != 0) set_up_iommu();
  print("dma: %u sizes, window %u KiB at %lx, IOMMU %s\n", plan.size_count, plan.window >> 10,
        (unsigned long)(uintptr_t)window, iommu != 0 ? "on" : "off");
  for (uint32_t i = 0; i < plan.size_count; i++) {
    int error = plan.warm != 0 ? measure_size(plan.sizes[i], 0) : 0;
    if (error == 0 && plan.cold != 0) error = measure_size(plan.sizes[i], DMAR_LABEL_COLD);
    if (error != 0) return error;
  }
  return 0;
}
