/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/process/process.c */
#include "firmware/process/process.h"

#include "firmware/boot/boot.h"
#include "firmware/kernel/account.h"
#include "firmware/kernel/console.h"
#include "firmware/kernel/csr.h"
#include "firmware/kernel/hart.h"
#include "firmware/kernel/memory.h"
#include "firmware/kernel/statistics.h"
#include "firmware/process/elf.h"
#include "firmware/process/system_call.h"

#define CAUSE_USER_CALL 8ul
#define CAUSE_LOAD_PAGE 13ul
#define CAUSE_STORE_PAGE 15ul
#define SP 2 /* number of a register */
#define A0 10
#define A1 11
#define A2 12
#define A7 17

void supervisor_interrupt(unsigned long cause); /* kernel/interrupt.c */

static uint64_t* reg(struct thread* t, unsigned n) { return &t->context.x[n - 1]; }

static void copy_name(char* to, const char* from) {
  unsigned i = 0;
  for (; i < PROCESS_NAME_BYTES - 1 && from[i] != 0; i++) to[i] = from[i];
  to[i] = 0;
}

const struct process_image* process_find_image(const char* name) {
  for (const struct process_image* i = process_images; i != process_images_end; i++) {
    const char *a = i->name, *b = name;
    while (*a != 0 && *a == *b) a++, b++;
    if (*a == *b) return i;
  }
  return 0;
}

static uint32_t processes_loaded;

__attribute__((used, externally_visible)) uint64_t sluice_processes;
static struct spinlock records_lock;

static void add_record(struct process_record* r) {
  spinlock_take(&records_lock);
  r->next = sluice_processes;
  sluice_processes = (uintptr_t)r;
  spinlock_give(&records_lock);
}

/* No thread of the process may run: what is said of it changes. */
static void write_record(struct process* p, const struct process_image* image) {
  p->record.satp = p->space.satp;
  p->record.elf = (uintptr_t)image->start;
  p->record.elf_bytes = (uint64_t)(image->end - image->start);
  copy_name(p->record.name, image->name);
}

bool process_create(struct process* p, uint16_t number, const struct process_image* image) {
  const bool is_new = p->space.root == 0;
  *p = (struct process){.record = p->record, .number = number, .space = p->space};
  if (is_new)
    address_space_setup(&p->space, number);
  else
    address_space_clear(&p->space);
  write_record(p, image);
  if (is_new) add_record(&p->record);
  p->is_alive = elf_load(&p->space, image->start, image->end, &p->entry);
  __atomic_fetch_add(&processes_loaded, 1, __ATOMIC_RELEASE);
  return p->is_alive;
}

/* Stacks lie at the end of user memory, with a page between them that is never there. */
#define STACK_STEP (THREAD_STACK_BYTES + PAGE_BYTES)

static bool is_stack(uint64_t address) {
  const uint64_t from_end = ADDRESS_SPACE_END - 1 - address; /* wraps behind user memory */
  return from_end / STACK_STEP < THREADS_MOST && from_end % STACK_STEP < THREAD_STACK_BYTES;
}

static bool is_heap(uint64_t address) { return address >= PROCESS_HEAP && address < PROCESS_HEAP_END; }

void thread_create(struct thread* t, struct process* p, unsigned number, uint64_t first, uint64_t second) {
  *t = (struct thread){.process = p};
  t->context.pc = p->entry;
  *reg(t, SP) = ADDRESS_SPACE_END - (uint64_t)number * STACK_STEP;
  *reg(t, A0) = number;
  *reg(t, A1) = first;
  *reg(t, A2) = second;
}

void process_end(struct process* p, uint64_t code) {
  p->exit_code = code;
  __atomic_store_n(&p->is_alive, false, __ATOMIC_SEQ_CST);
}

uint64_t thread_call(const struct thread* t) { return t->context.x[A7 - 1]; }
uint64_t thread_argument(const struct thread* t, unsigned n) { return t->context.x[A0 - 1 + n]; }
void thread_answer(struct thread* t, uint64_t value) { *reg(t, A0) = value; }

/* What a process prints must lie in one page. */
static uint64_t print_for(const struct process* p, uint64_t address, uint64_t bytes) {
  if (bytes > SYSTEM_CALL_PRINT_MOST) bytes = SYSTEM_CALL_PRINT_MOST;
  const char* text = address_space_find(&p->space, address, bytes, PAGE_READ);
  if (text == 0) return SYSTEM_CALL_ERROR;
  for (uint64_t i = 0; i < bytes; i++) print("%c", text[i]);
  return bytes;
}

/* Reads a text of the process. Returns its bytes with the zero byte; 0: it is not the process's, or has no end where
 * names have. */
static uint32_t read_names(const struct process* p, uint64_t address, char names[STATISTICS_NAMES_MAX]) {
  for (uint32_t i = 0; i < STATISTICS_NAMES_MAX; i++) {
    const char* at = address_space_find(&p->space, address + i, 1, PAGE_READ);
    if (at == 0) return 0;
    names[i] = *at;
    if (names[i] == 0) return i + 1;
  }
  return 0;
}

static uint64_t count_for(const struct process* p, uint64_t address, uint64_t counters) {
  char names[STATISTICS_NAMES_MAX];
  const uint32_t bytes = read_names(p, address, names);
  uint32_t count = 1;
  for (uint32_t i = 0; i < bytes; i++) count += names[i] == ' ';
  const uint64_t* at = address_space_find(&p->space, counters, count * sizeof *at, PAGE_READ | PAGE_WRITE);
  if (bytes == 0 || at == 0 || counters % sizeof *at != 0) return SYSTEM_CALL_ERROR;
  static struct spinlock lock;
  spinlock_take(&lock);
  const bool has_room = statistics_table.count < STATISTICS_BLOCKS;
  if (has_room) {
    char* kept = memory_reserve(bytes, 8);
    __builtin_memcpy(kept, names, bytes);
    statistics_add(kept, at);
  }
  spinlock_give(&lock);
  if (!has_room) print("process %u: the counters have no room for \"%s\"\n", p->number, names);
  return has_room ? 0 : SYSTEM_CALL_ERROR;
}

/* True: the thread goes on. */
static bool serve(struct thread* t, enum thread_event* event) {
  t->system_calls++;
  t->context.pc += 4; /* behind the ecall */
  switch (thread_call(t)) {
    case SYSTEM_CALL_EXIT:
      process_end(t->process, thread_argument(t, 0));
      *event = THREAD_ENDED;
      return false;
    case SYSTEM_CALL_PRINT:
      thread_answer(t, print_for(t->process, thread_argument(t, 0), thread_argument(t, 1)));
      return true;
    case SYSTEM_CALL_COUNT:
      thread_answer(t, count_for(t->process, thread_argument(t, 0), thread_argument(t, 1)));
      return true;
    case SYSTEM_CALL_YIELD:
      thread_answer(t, 0);
      *event = THREAD_YIELDED;
      return false;
    default:
      *event = THREAD_CALLS;
      return false;
  }
}

static void end_for_fault(struct thread* t, unsigned long cause) {
  print("process %u (%s): cause %lu at pc %lx, value %lx: ended\n", t->process->number, t->process->record.name, cause,
        (unsigned long)t->context.pc, csr_read(stval));
  process_end(t->process, SYSTEM_CALL_ERROR);
}

/* Gives the process a page of its heap or of a stack, if that is what it misses. Two harts may miss the same one. */
static bool add_page(struct process* p, unsigned long cause) {
  const uint64_t address = csr_read(stval) & ~(uint64_t)(PAGE_BYTES - 1);
  if ((cause != CAUSE_LOAD_PAGE && cause != CAUSE_STORE_PAGE) || !(is_heap(address) || is_stack(address))) return false;
  spinlock_take(&p->lock);
  if (address_space_find(&p->space, address, 1, PAGE_READ) == 0) {
    address_space_map(&p->space, address, (uintptr_t)page_take(), PAGE_READ | PAGE_WRITE | PAGE_OWN);
  }
  spinlock_give(&p->lock);
  __asm__ volatile("sfence.vma %0, x0" ::"r"(address) : "memory");
  return true;
}

static enum thread_event run(struct thread* t) {
  enum thread_event event = THREAD_PREEMPTED;
  for (;;) {
    const unsigned long cause = user_run(&t->context);
    if (cause & CAUSE_INTERRUPT) {
      t->preemptions++;
      account(interrupt);
      supervisor_interrupt(cause);
      account(kernel);
      return process_lives(t->process) ? THREAD_PREEMPTED : THREAD_ENDED;
    }
    if (cause != CAUSE_USER_CALL) {
      if (add_page(t->process, cause)) continue;
      end_for_fault(t, cause);
      return THREAD_ENDED;
    }
    if (!serve(t, &event)) return event;
  }
}

/* Pages of code are used again, and the hart that has loaded a process has told itself only. */
static void see_new_code(void) {
  static uint32_t seen[BOOT_MAX_HARTS];
  const uint32_t loaded = __atomic_load_n(&processes_loaded, __ATOMIC_ACQUIRE);
  if (seen[hart_id()] == loaded) return;
  seen[hart_id()] = loaded;
  __asm__ volatile("fence.i" ::: "memory");
}

enum thread_event thread_run(struct thread* t) {
  if (!process_lives(t->process)) return THREAD_ENDED;
  address_space_activate(&t->process->space);
  see_new_code();
  user_load_float(&t->context);
  const enum thread_event event = run(t);
  user_save_float(&t->context);
  return event;
}
