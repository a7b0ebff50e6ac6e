/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/memory_stress.c: harts that share lines of a device, cached memory, and memory of types NC and IO,
 * and draw what they do. Each checks what it may know of what it reads; the bootargs say how many turns it takes.
 * Where the board has a DMA requester, that writes all the while to the first halves of lines whose second halves the
 * harts use. On a board whose PIO NIC is behind PCIe, they share its packet buffer, of type NC, and its counter.
 *
 * Fails with 1: no PIO NIC; 2: a counter; 3: an own word, byte or word across two lines; 4: a message that came before
 * its data, or went back; 5: two harts were in one critical
 * section; 6: the requester read other bytes than it had written; 7: the NIC's counter was less than another hart had
 * seen. */
#include <stdbool.h>
#include <stdint.h>

#include "firmware/drivers/pcie.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "firmware/memory/translation.h"
#include "models/accel/dma_requester/dma_requester_regs.h"
#include "models/nic/pio/pio_regs.h"

#define LINE 128u
#define LINES 16u
#define HARTS 4u
enum kind { DEVICE, CACHED, NC, IO, KINDS };

/* Offsets in a line. What lies across its end takes the first 4 B of the next one. */
#define OWN(hart) (8 + 8 * (hart))
#define ADDED 40
#define RESERVED 48
#define DATA 56
#define FLAG 64
#define BYTES 72
#define WANTS(hart) (80 + 8 * ((hart) % 2)) /* Peterson's lock of two harts */
#define TURN 96
#define GUARDED 104
#define ACROSS 124

static uint64_t lines[KINDS];
static uint64_t shared_with_dma, requester; /* addresses; 0: there is no requester */
static uint64_t registers;                  /* of a NIC behind PCIe, whose buffer takes no atomics; 0: there is none */
static volatile uint64_t latest;            /* what any hart has seen of its counter */
static uint32_t turns;

struct hart_state {
  uint64_t random, added, reserved, guarded;
  uint64_t own[KINDS][LINES], across[KINDS][LINES], sent[LINES], seen[LINES];
  uint64_t beside_dma[LINES];
  uint8_t byte[KINDS][LINES];
  int result;
  uint32_t done;
};
static struct hart_state states[HARTS];

static uint64_t address(unsigned kind, unsigned line, unsigned offset) { return lines[kind] + line * LINE + offset; }
static volatile uint64_t* word(unsigned kind, unsigned line, unsigned offset) {
  return (volatile uint64_t*)address(kind, line, offset);
}
static void fence_writes(void) { __asm__ volatile("fence w, w" ::: "memory"); }

static uint64_t draw(struct hart_state* s) {
  s->random ^= s->random << 13;
  s->random ^= s->random >> 7;
  s->random ^= s->random << 17;
  return s->random;
}

static void add(volatile uint64_t* to) {
  uint64_t old;
  __asm__ volatile("amoadd.d %0, %2, (%1)" : "=&r"(old) : "r"(to), "r"(1) : "memory");
}

static void add_reserved(volatile uint64_t* to) {
  uint64_t value, failed;
  do
    __asm__ volatile("lr.d %0, (%2)\n addi %0, %0, 1\n sc.d %1, %0, (%2)"
                     : "=&r"(value), "=&r"(failed)
                     : "r"(to)
                     : "memory");
  while (failed != 0);
}

/* Each hart has a word, a byte, and in some lines bytes across their end for itself. */
static int use_own(struct hart_state* s, unsigned hart, unsigned kind, unsigned line, uint64_t value) {
  volatile uint64_t* own = word(kind, line, OWN(hart));
  if (*own != s->own[kind][line]) return 3;
  *own = s->own[kind][line] = value;
  volatile uint8_t* byte = (volatile uint8_t*)address(kind, line, BYTES + hart);
  if (*byte != s->byte[kind][line]) return 3;
  *byte = s->byte[kind][line] = (uint8_t)value;
  if (line % board.harts != hart || line + 1 == LINES || (kind == DEVICE && registers != 0)) return 0;
  uint64_t read, at = address(kind, line, ACROSS);
  __asm__ volatile("ld %0, (%1)" : "=r"(read) : "r"(at) : "memory");
  if (read != s->across[kind][line]) return 3;
  s->across[kind][line] = value;
  __asm__ volatile("sd %0, (%1)" : : "r"(value), "r"(at) : "memory");
  return 0;
}

/* Message passing, with data and flag in any two kinds of memory: one hart writes, the others read. */
static int pass_message(struct hart_state* s, unsigned hart, unsigned line) {
  volatile uint64_t *data = word(line % KINDS, line, DATA), *flag = word(line / KINDS, line, FLAG);
  if (line % board.harts == hart) {
    *data = ++s->sent[line];
    fence_writes();
    *flag = s->sent[line];
    return 0;
  }
  uint64_t sent = *flag;
  fence_reads();
  if (*data < sent || sent < s->seen[line]) return 4;
  s->seen[line] = sent;
  return 0;
}

/* Two harts exclude each other by loads and stores alone. */
static int guard(struct hart_state* s, unsigned hart, unsigned kind, unsigned line) {
  unsigned pair = hart / 2, other = kind == KINDS - 1 ? 0 : kind + 1;
  line = line / 2 * 2 + pair; /* each pair has its own lines */
  if (pair * 2 + 1 >= board.harts || board.harts == 1) return 0;
  *word(kind, line, WANTS(hart)) = 1;
  *word(kind, line, TURN) = hart % 2;
  fence_all();
  while (*word(kind, line, WANTS(hart + 1)) != 0 && *word(kind, line, TURN) == hart % 2) fence_all();
  fence_all();
  uint64_t count = *word(other, line, GUARDED);
  *word(other, line, GUARDED) = count + 1;
  s->guarded++;
  fence_all();
  *word(kind, line, WANTS(hart)) = 0;
  fence_all(); /* nothing else writes what is combined */
  return 0;
}

/* The second half of a line of 128 B, whose first half the requester writes and reads. */
static int use_beside_dma(struct hart_state* s, unsigned hart, unsigned line, uint64_t value) {
  volatile uint64_t* half = (volatile uint64_t*)(shared_with_dma + line * LINE);
  (void)half[hart];
  if (half[8 + hart] != s->beside_dma[line]) return 3;
  half[8 + hart] = s->beside_dma[line] = value;
  return 0;
}

/* What one hart has seen, another reads later. */
static int use_register(void) {
  uint64_t before = latest;
  fence_reads();
  uint64_t now = *(volatile uint64_t*)(registers + PIO_COUNTER);
  __asm__ volatile("amomaxu.d x0, %1, (%0)" : : "r"(&latest), "r"(now) : "memory");
  return now < before ? 7 : 0;
}

static void start_requester(void) {
  if (registers != 0) return;
  const struct pcie_function* function = pcie_setup() != 0 ? pcie_find(DMAR_VENDOR_ID, DMAR_DEVICE_ID) : 0;
  if (function == 0) return;
  shared_with_dma = (uintptr_t)memory_reserve(LINE * LINES, 4096);
  for (unsigned i = 0; i < LINE * LINES / 8; i++) ((uint64_t*)shared_with_dma)[i] = 0;
  requester = translation_map(function->bar[DMAR_BAR_REGISTERS], DMAR_BAR0_SIZE, MEMORY_AS_IT_IS);
  const uint32_t values[][2] = {{DMAR_OPERATION, DMAR_WRITE_READ},
                                {DMAR_PATTERN, DMAR_RANDOM},
                                {DMAR_INTERFACE, DMAR_ENGINE},
                                {DMAR_SIZE, LINE / 2},
                                {DMAR_UNIT, LINE},
                                {DMAR_OUTSTANDING, 1},
                                {DMAR_COUNT, 0x7fffffff},
                                {DMAR_WINDOW, (uint32_t)shared_with_dma},
                                {DMAR_WINDOW_SIZE, LINE * LINES}};
  for (unsigned n = 0; n < sizeof values / sizeof *values; n++)
    *(volatile uint32_t*)(requester + values[n][0]) = values[n][1];
  *(volatile uint32_t*)(requester + DMAR_CONTROL) = DMAR_CONTROL_START;
}

static bool requester_failed(void) {
  if (requester == 0) return false;
  *(volatile uint32_t*)(requester + DMAR_CONTROL) = DMAR_CONTROL_STOP;
  while (*(volatile uint32_t*)(requester + DMAR_STATUS) & DMAR_STATUS_BUSY) continue;
  return *(volatile uint32_t*)(requester + DMAR_STATUS) & (DMAR_STATUS_ERROR | DMAR_STATUS_FAILED) ||
         *(volatile uint32_t*)(requester + DMAR_COMPLETED) == 0;
}

static int turn(struct hart_state* s, unsigned hart) {
  uint64_t r = draw(s);
  unsigned kind = r >> 8 & 3, line = r >> 16 & (LINES - 1);
  if (registers != 0 && kind == DEVICE && r % 8 < 2) return use_register();
  switch (r % 8) {
    case 0:
      s->added++;
      add(word(kind, line, ADDED));
      return 0;
    case 1:
      s->reserved++;
      add_reserved(word(kind, line, RESERVED));
      return 0;
    case 2:
      return guard(s, hart, kind, line);
    case 3:
      if (shared_with_dma != 0) return use_beside_dma(s, hart, line, r);
      return use_own(s, hart, kind, line, r);
    case 4:
      return use_own(s, hart, kind, line, r);
    default:
      return pass_message(s, hart, line);
  }
}

static void work(unsigned hart) {
  struct hart_state* s = &states[hart];
  s->random = 0x9e3779b97f4a7c15ull * (hart + 1);
  translation_setup();
  for (uint32_t n = 0; n < turns && s->result == 0; n++) s->result = turn(s, hart);
  fence_all();
  __atomic_store_n(&s->done, 1, __ATOMIC_RELEASE);
}

static void secondary(unsigned long hart, void* unused) {
  (void)unused;
  work((unsigned)hart);
  hart_park();
}

static int find(void) {
  struct fdt_walk node;
  if (!fdt_begin(&node, board_device_tree)) return 1;
  while (fdt_next(&node)) {
    uint32_t length = 0;
    const void* reg = fdt_get(&node, "reg", &length);
    if (reg != 0 && length >= 32 && fdt_is_compatible(&node, "sluice,pio-coherent"))
      lines[DEVICE] = fdt_cells(reg, 4) + PIO_TX_LINES + PIO_OVERFLOW;
    const char* arguments = fdt_get(&node, "bootargs", 0);
    for (; arguments != 0 && *arguments >= '0' && *arguments <= '9'; arguments++)
      turns = turns * 10 + (uint32_t)(*arguments - '0');
  }
  const struct pcie_function* nic =
      lines[DEVICE] == 0 && pcie_setup() != 0 ? pcie_find(PIO_VENDOR_ID, PIO_DEVICE_ID) : 0;
  if (nic != 0) {
    registers = translation_map(nic->bar[PIO_BAR], PIO_REGISTERS_SIZE, MEMORY_AS_IT_IS);
    lines[DEVICE] = translation_map(nic->bar[PIO_BAR] + PIO_PACKET_BUFFER, LINE * LINES, MEMORY_NC);
  }
  return lines[DEVICE] == 0 || turns == 0;
}

/* What all have counted is there. A counter that was guarded in one kind lies in the next. */
static int check(void) {
  uint64_t added = 0, reserved = 0, guarded = 0;
  for (unsigned k = 0; k < KINDS; k++)
    for (unsigned n = 0; n < LINES; n++) {
      added += *word(k, n, ADDED);
      reserved += *word(k, n, RESERVED);
      guarded += *word(k, n, GUARDED);
    }
  for (unsigned hart = 0; hart < board.harts; hart++) {
    if (states[hart].result != 0) return states[hart].result;
    added -= states[hart].added;
    reserved -= states[hart].reserved;
    guarded -= states[hart].guarded;
  }
  if (guarded != 0) return 5;
  return added != 0 || reserved != 0 ? 2 : 0;
}

int application_main(void) {
  if (find() || board.harts > HARTS) return 1;
  for (unsigned k = CACHED; k < KINDS; k++) {
    uint64_t* memory = memory_reserve(LINE * LINES, 4096);
    for (unsigned i = 0; i < LINE * LINES / 8; i++) memory[i] = 0;
    lines[k] = k == CACHED ? (uintptr_t)memory
                           : translation_map((uintptr_t)memory, LINE * LINES, k == NC ? MEMORY_NC : MEMORY_IO);
  }
  translation_setup();
  start_requester();
  for (unsigned hart = 1; hart < board.harts; hart++) hart_start(hart, secondary);
  work(0);
  for (unsigned hart = 1; hart < board.harts; hart++)
    while (!__atomic_load_n(&states[hart].done, __ATOMIC_ACQUIRE)) cpu_pause();
  if (requester_failed()) return 6;
  return check();
}
