/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/process_again.c: a kernel that gives a number to a process, and when that has ended to another
 * one. That one gets no page for its stack: the kernel lets it go on where it has faulted, again and again. */
#include "firmware/kernel/panic.h"
#include "firmware/kernel/start.h"
#include "firmware/process/process.h"

static struct process process;
static struct thread thread;

static void create(const char* name, uint64_t argument) {
  if (!process_create(&process, 3, process_find_image(name))) panic("the image is no program");
  thread_create(&thread, &process, 0, argument, 0);
}

int application_main(void) {
  create("process-greets", 1);
  while (thread_run(&thread) != THREAD_ENDED) {
  }
  create("process-trespasses", 0);
  address_space_activate(&process.space);
  for (;;) user_run(&thread.context);
}
