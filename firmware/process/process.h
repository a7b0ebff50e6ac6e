/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/process.h: processes in user mode, each an ELF file of its own in the image, with an address space
 * of its own, and their threads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/kernel/spinlock.h"
#include "firmware/process/address_space.h"
#include "firmware/process/context.h"
#include "firmware/process/record.h"

/* An ELF file in the image (embed.S). */
struct process_image {
  const char* name;
  const uint8_t *start, *end;
};
/* link.ld */
extern const struct process_image process_images[], process_images_end[];
/* The one of this name; 0: there is none. */
const struct process_image* process_find_image(const char* name);

#define THREAD_STACK_BYTES 65536u
#define THREADS_MOST 64u /* of a process */

struct process {
  struct process_record record;
  uint16_t number; /* and its ASID */
  bool is_alive;
  uint64_t exit_code;
  uint64_t entry; /* address */
  struct address_space space;
  struct spinlock lock; /* of the space */
};

struct thread {
  struct process* process;
  struct user_context context;
  uint64_t system_calls, preemptions;
};

/* Makes a process of an image. False: the file is no program for it. process: zeros, or one that has ended with this
 * number, whose threads are in the kernel: its memory is used again. */
bool process_create(struct process* process, uint16_t number, const struct process_image* image);

/* Adds thread `number` (0 to THREADS_MOST - 1), which begins at the process's entry with its number and these
 * arguments. */
void thread_create(struct thread* thread, struct process* process, unsigned number, uint64_t first, uint64_t second);

/* Ends the process: none of its threads is entered any more. Those that run on other harts go on until the caller
 * fetches them. */
void process_end(struct process* process, uint64_t code);
static inline bool process_lives(const struct process* process) {
  return __atomic_load_n(&process->is_alive, __ATOMIC_SEQ_CST);
}

/* Why thread_run() returned. */
enum thread_event {
  THREAD_YIELDED,   /* by a system call */
  THREAD_CALLS,     /* by one that is not of this layer: thread_call() */
  THREAD_ENDED,     /* its process has ended: by a system call, by what the thread may not do, or on another hart */
  THREAD_PREEMPTED, /* by an interrupt, which has been served */
};

/* Runs a thread on this hart until something happens. Serves its system calls, and ends its process where it faults: a
 * line on the console says how. */
enum thread_event thread_run(struct thread* thread);

/* After THREAD_CALLS: the call's number and arguments; its answer must be given before the thread runs again. */
uint64_t thread_call(const struct thread* thread);
uint64_t thread_argument(const struct thread* thread, unsigned n);
void thread_answer(struct thread* thread, uint64_t value);
