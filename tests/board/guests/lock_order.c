/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/lock_order.c: four harts ask for a lock one behind the other, again as soon as each has given it
 * back. It prints the harts in the order in which they had it. */
#include "firmware/kernel/board.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/spinlock.h"
#include "firmware/kernel/start.h"

#define HARTS 4u
#define TURNS 5u
#define APART_NS 10000u

static struct spinlock lock;
static uint8_t had[HARTS * TURNS];
static uint32_t turns, done;

static void take_turns(unsigned hart) {
  hart_spin(hart * APART_NS);
  for (unsigned i = 0; i < TURNS; i++) {
    spinlock_take(&lock);
    had[turns++] = (uint8_t)hart;
    hart_spin(HARTS * APART_NS); /* so that all others ask */
    spinlock_give(&lock);
  }
  __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
}

static void secondary_main(unsigned long hart, void* unused) {
  (void)unused;
  hart_set_id((unsigned)hart);
  take_turns((unsigned)hart);
  hart_park();
}

int application_main(void) {
  for (unsigned hart = 1; hart < HARTS; hart++) hart_start(hart, secondary_main);
  take_turns(0);
  while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != HARTS) {
  }
  print("lock:");
  for (unsigned i = 0; i < HARTS * TURNS; i++) print(" %u", had[i]);
  print("\n");
  return 0;
}
