/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/bad_end.c: ends as bootargs say: with the return value that they name in decimal; with a trap that
 * nothing handles ("trap"); or with a stack pointer that points to no stack: "nowhere", where neither memory nor a
 * device is; "interrupted", likewise, when an interrupt comes; "window", in the PCIe window below memory, which takes
 * all stores and answers loads with ones. */
#include "firmware/kernel/board.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/interrupt.h"
#include "firmware/kernel/start.h"

static const char* bootargs(void) {
  struct fdt_walk node;
  uint32_t length = 0;
  if (!fdt_begin(&node, board_device_tree)) return "";
  while (fdt_next(&node)) {
    const char* text = fdt_get(&node, "bootargs", &length);
    if (text != 0) return text;
  }
  return "";
}

static int number(const char* text) {
  int sign = *text == '-' ? -1 : 1;
  unsigned value = 0;
  for (text += *text == '-'; *text != 0; text++) value = value * 10 + (unsigned)(*text - '0');
  return sign * (int)value;
}

static void store_to_stack(unsigned long stack) {
  __asm__ volatile("mv sp, %0; bad_end_store: sd zero, 0(sp)" : : "r"(stack) : "memory");
}

static void never(void* unused) { (void)unused; }

static void be_interrupted(void) {
  interrupt_at(read_time(), never, 0);
  __asm__ volatile("li sp, 0x10; csrsi sstatus, 2; bad_end_interrupted: j bad_end_interrupted" : : : "memory");
}

static __attribute__((noinline)) void trap_here(void) { __asm__ volatile("ebreak" : : : "memory"); }

/* This function never returns: its stack lies in the window, which keeps nothing. */
static void trap_in_window(void) { __asm__ volatile("li sp, 0x7ff00000; bad_end_trap: ebreak" : : : "memory"); }

int application_main(void) {
  const char* way = bootargs();
  if (text_equal(way, "nowhere"))
    store_to_stack(0x10);
  else if (text_equal(way, "interrupted"))
    be_interrupted();
  else if (text_equal(way, "window"))
    trap_in_window();
  else if (text_equal(way, "trap"))
    trap_here();
  else
    return number(way);
  return 0;
}
