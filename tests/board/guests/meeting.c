/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/meeting.c: harts that meet through memory, timers, messages and DMA, and say at which cycle each
 * saw the other. All harts of the board have one clock, so their cycle counters can be compared.
 *
 * It prints a line for each way to meet: how often, and the least and the most cycles from the event to its being seen,
 * over all meetings. */
#include "firmware/drivers/pcie.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/start.h"
#include "models/accel/dma_requester/dma_requester_regs.h"

#define ROUNDS 24u
#define MAX_HARTS 4u
#define LINE 64u

typedef struct {
  volatile int64_t value;
  uint8_t rest[LINE - sizeof(int64_t)];
} __attribute__((aligned(LINE))) line;

static line flag, mutex, ticket, serving, arrived, phase, counter, message;
static line stamp[MAX_HARTS]; /* when each hart saw what it waited for */

/* ----------------------------------------------------------------------------------------------------- what is seen */

struct seen {
  const char* name;
  int64_t meetings, least, most;
};

static void see(struct seen* s, int64_t cycles) {
  if (s->meetings == 0 || cycles < s->least) s->least = cycles;
  if (s->meetings == 0 || cycles > s->most) s->most = cycles;
  s->meetings++;
}

/* print() knows no signed numbers. */
static void print_seen(const struct seen* s) {
  print("%s: %lu meetings, least %s%lu, most %s%lu\n", s->name, (unsigned long)s->meetings, s->least < 0 ? "-" : "",
        (unsigned long)(s->least < 0 ? -s->least : s->least), s->most < 0 ? "-" : "",
        (unsigned long)(s->most < 0 ? -s->most : s->most));
}

/* ---------------------------------------------------------------------------------------------- single instructions */

static int64_t cycles(void) {
  int64_t now;
  __asm__ volatile("rdcycle %0" : "=r"(now) : : "memory");
  return now;
}

/* Stores; returns the cycle counter, read by the instruction before the store. */
static int64_t stamped_store(volatile int64_t* at, int64_t value) {
  int64_t now;
  __asm__ volatile(".balign 64\n rdcycle %0\n sd %2, %1" : "=&r"(now), "=m"(*at) : "r"(value) : "memory");
  return now;
}

/* Loads until the value's upper 16 bits are `turn` and returns the value. *seen: the cycle counter just before the last
 * load. One round of the loop takes 47 slots. */
static int64_t poll_for_turn(volatile int64_t* at, int64_t turn, int64_t* seen, int64_t* loads) {
  int64_t value, upper;
  *loads = 0;
  __asm__ volatile(
      ".balign 64\n"
      "1: rdcycle %0\n"
      "ld %1, %4\n"
      "addi %2, %2, 1\n"
      "srai %3, %1, 48\n"
      "bne %3, %5, 1b"
      : "=&r"(*seen), "=&r"(value), "+r"(*loads), "=&r"(upper)
      : "m"(*at), "r"(turn)
      : "memory");
  return value;
}

/* Waits by wrs.nto while *at is `old`; returns the cycle counter, read by the instruction after the last wrs.nto. */
static int64_t wait_for_store(volatile int64_t* at, int64_t old) {
  int64_t now = 0, value;
  for (;;) {
    __asm__ volatile(
        ".balign 64\n"
        "lr.d %0, %2\n"
        "bne %0, %3, 1f\n"
        ".word 0x00d00073\n" /* wrs.nto */
        "rdcycle %1\n"
        "1:"
        : "=&r"(value), "+r"(now)
        : "A"(*at), "r"(old)
        : "memory");
    if (value != old) return now;
  }
}

/* Takes a lock by LR and SC; returns the cycle counter just before the LR that found it free. */
static int64_t lock_by_lr_sc(volatile int64_t* lock) {
  int64_t now, failed, value;
  do {
    __asm__ volatile(
        ".balign 64\n"
        "1: rdcycle %0\n"
        "lr.d.aq %2, %3\n"
        "bnez %2, 1b\n"
        "sc.d %1, %4, %3"
        : "=&r"(now), "=&r"(failed), "=&r"(value), "+A"(*lock)
        : "r"(1l)
        : "memory");
  } while (failed != 0);
  return now;
}

/* --------------------------------------------------------------------------------------------------- going together */

/* All harts leave it when the last one has come. */
static void gather(void) {
  int64_t now = phase.value;
  if (__atomic_add_fetch(&arrived.value, 1, __ATOMIC_ACQ_REL) == (int64_t)board.harts) {
    arrived.value = 0;
    __atomic_store_n(&phase.value, now + 1, __ATOMIC_RELEASE);
  } else {
    while (__atomic_load_n(&phase.value, __ATOMIC_ACQUIRE) == now) cpu_pause();
  }
}

/* Another delay each time, and for each hart. */
static void dally(unsigned hart, unsigned round) {
  for (unsigned n = (round * 37 + hart * 101) % 211; n > 0; n--) __asm__ volatile("" : : : "memory");
}

static struct seen waking = {"wrs", 0, 0, 0}, lr_sc = {"lr/sc", 0, 0, 0}, amo = {"amo", 0, 0, 0},
                   asleep_timer = {"stimecmp asleep", 0, 0, 0}, awake_timer = {"stimecmp awake", 0, 0, 0},
                   asleep_message = {"ipi asleep", 0, 0, 0}, awake_message = {"ipi awake", 0, 0, 0},
                   dma = {"dma", 0, 0, 0};

/* -------------------------------------------------------------------------------------------------------- by memory */

/* One hart stores to the line that all others wait on. */
static void meet_by_wrs(unsigned hart) {
  for (unsigned round = 0; round < ROUNDS; round++) {
    unsigned waker = round % board.harts;
    gather();
    if (hart == waker) {
      for (unsigned n = 0; n < 40; n++) dally(hart, round + n); /* the others are asleep by then */
      message.value = stamped_store(&flag.value, (int64_t)round + 1);
    } else {
      stamp[hart].value = wait_for_store(&flag.value, (int64_t)round);
    }
    gather();
    if (hart == 0)
      for (unsigned h = 0; h < board.harts; h++)
        if (h != waker) see(&waking, stamp[h].value - message.value);
  }
}

/* message.value is a cycle just before the lock becomes free. */
static void meet_by_lr_sc(unsigned hart) {
  gather();
  for (unsigned round = 0; round < ROUNDS; round++) {
    dally(hart, round);
    int64_t entered = lock_by_lr_sc(&mutex.value);
    if (message.value != 0) see(&lr_sc, entered - message.value);
    counter.value = counter.value + 1;
    dally(hart, round);
    message.value = cycles();
    stamped_store(&mutex.value, 0);
  }
  gather();
}

/* Tickets by amoadd, served by plain stores and loads. */
static void meet_by_amo(unsigned hart) {
  gather();
  for (unsigned round = 0; round < ROUNDS; round++) {
    dally(hart, round);
    int64_t mine = __atomic_fetch_add(&ticket.value, 1, __ATOMIC_ACQ_REL), now, loads;
    int64_t value = poll_for_turn(&serving.value, mine, &now, &loads);
    /* The lower 48 bits of the value are the cycle of the store that served this ticket. */
    if (loads > 1) see(&amo, now - (value & 0xffffffffffffl));
    counter.value = counter.value + 1;
    int64_t next = (mine + 1) << 48;
    __asm__ volatile(".balign 64\n rdcycle t0\n add t0, t0, %1\n sd t0, %0"
                     : "=m"(serving.value)
                     : "r"(next)
                     : "t0", "memory");
  }
  gather();
}

/* ---------------------------------------------------------------------------------------------------- by interrupts */

static int64_t cycles_per_tick; /* of the time counter */
static line handled[MAX_HARTS];

static void on_interrupt(void* context) { ((line*)context)->value = cycles(); }

/* Enables interrupts and waits without sleeping. */
static void spin_until_handled(unsigned hart) {
  csr_set(sstatus, SSTATUS_SIE);
  while (handled[hart].value == 0) __asm__ volatile("" : : : "memory");
  csr_clear(sstatus, SSTATUS_SIE);
}

static void sleep_until_handled(unsigned hart) {
  const volatile uint32_t never = 0;
  while (handled[hart].value == 0) interrupt_idle(&never);
}

static void meet_by_timer(unsigned hart, struct seen* seen, void (*wait)(unsigned)) {
  for (unsigned round = 0; round < ROUNDS; round++) {
    gather();
    dally(hart, round);
    handled[hart].value = 0;
    uint64_t due = read_time() + 3 + round % 3;
    interrupt_at(due, on_interrupt, &handled[hart]);
    wait(hart);
    stamp[hart].value = handled[hart].value - (int64_t)due * cycles_per_tick;
    gather();
    if (hart == 0)
      for (unsigned h = 0; h < board.harts; h++) see(seen, stamp[h].value);
  }
}

static uint64_t message_address[MAX_HARTS];
static uint32_t message_data[MAX_HARTS];

static int64_t stamped_message(unsigned to) {
  int64_t now;
  __asm__ volatile(".balign 64\n rdcycle %0\n sw %2, %1"
                   : "=&r"(now), "=m"(*(volatile uint32_t*)(uintptr_t)message_address[to])
                   : "r"(message_data[to])
                   : "memory");
  return now;
}

static void meet_by_message(unsigned hart, struct seen* seen, void (*wait)(unsigned)) {
  for (unsigned round = 0; round < ROUNDS; round++) {
    unsigned sender = round % board.harts, receiver = (round + 1 + round / board.harts) % board.harts;
    if (sender == receiver) continue;
    gather();
    handled[hart].value = 0;
    gather();
    if (hart == sender) {
      for (unsigned n = 0; n < 40; n++) dally(hart, round + n);
      message.value = stamped_message(receiver);
    } else if (hart == receiver) {
      wait(hart);
    }
    gather();
    if (hart == 0) see(seen, handled[receiver].value - message.value);
  }
}

/* ----------------------------------------------------------------------------------------------------------- by DMA */

static uint64_t device;
static volatile struct dmar_record* record;

static void write_register(uint32_t offset, uint32_t value) { *(volatile uint32_t*)(device + offset) = value; }
static void write_register64(uint32_t offset, uint64_t value) { *(volatile uint64_t*)(device + offset) = value; }

static void command_one_write(void) {
  write_register(DMAR_OPERATION, DMAR_WRITE);
  write_register64(DMAR_WINDOW, (uint64_t)(uintptr_t)&flag);
  write_register64(DMAR_WINDOW_SIZE, LINE);
  write_register(DMAR_SIZE, LINE);
  write_register(DMAR_UNIT, LINE);
  write_register(DMAR_OUTSTANDING, 1);
  write_register(DMAR_COUNT, 1);
  write_register64(DMAR_RECORD, (uint64_t)(uintptr_t)record);
  record->status = 0;
  fence_before_doorbell();
  write_register(DMAR_CONTROL, DMAR_CONTROL_START);
}

/* The device writes to the line that harts wait on; the cycles are how far apart the harts wake. */
static void meet_by_dma(unsigned hart) {
  for (unsigned round = 0; round < ROUNDS; round++) {
    gather();
    if (hart == 0) {
      for (unsigned n = 0; n < 40; n++) dally(hart, round + n);
      command_one_write();
      while (record->status == 0) cpu_pause();
    } else {
      int64_t now;
      __asm__ volatile(
          ".balign 64\n"
          "lr.d t0, %1\n"
          ".word 0x00d00073\n" /* wrs.nto */
          "rdcycle %0"
          : "=&r"(now)
          : "A"(flag.value)
          : "t0", "memory");
      stamp[hart].value = now;
    }
    gather();
    if (hart == 0)
      for (unsigned h = 2; h < board.harts; h++) see(&dma, stamp[h].value - stamp[1].value);
  }
}

/* -------------------------------------------------------------------------------------------------------- all of it */

static void meet(unsigned hart) {
  interrupt_setup_hart(hart);
  account(application);
  meet_by_wrs(hart);
  if (hart == 0) message.value = 0;
  meet_by_lr_sc(hart);
  meet_by_amo(hart);
  meet_by_timer(hart, &asleep_timer, sleep_until_handled);
  meet_by_timer(hart, &awake_timer, spin_until_handled);
  meet_by_message(hart, &asleep_message, sleep_until_handled);
  meet_by_message(hart, &awake_message, spin_until_handled);
  if (device != 0) meet_by_dma(hart);
}

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  meet((unsigned)hart);
  hart_park();
}

int application_main(void) {
  pcie_setup();
  const struct pcie_function* f = pcie_find(DMAR_VENDOR_ID, DMAR_DEVICE_ID);
  if (f != 0) device = f->bar[DMAR_BAR_REGISTERS];
  record = memory_reserve(sizeof *record, LINE);
  cycles_per_tick = 310; /* the board's 3.1 GHz over 10 MHz */
  for (unsigned hart = 0; hart < board.harts; hart++)
    interrupt_connect(hart, 0, on_interrupt, &handled[hart], &message_address[hart], &message_data[hart]);
  for (unsigned hart = 1; hart < board.harts; hart++) hart_start(hart, secondary_main);
  meet(0);
  print("counted: %lu of %u\n", (unsigned long)counter.value, 2 * ROUNDS * board.harts);
  const struct seen* const all[] = {&waking,      &lr_sc,          &amo,           &asleep_timer,
                                    &awake_timer, &asleep_message, &awake_message, &dma};
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) print_seen(all[i]);
  return counter.value == (int64_t)(2 * ROUNDS * board.harts) ? 0 : 1;
}
