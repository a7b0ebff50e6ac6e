/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/main.c: a process that serves an RPC program, whichever way its calls come. */
#include "firmware/rpc/port.h"
#include "firmware/rpc/program.h"
#include "firmware/user/runtime.h"
#include "firmware/user/service.h"
#include "firmware/user/system.h"
#include "firmware/user/ways.h"

int main(uint64_t thread, uint64_t delivery, uint64_t core_frequency);

#define SET_UP(name, number, version) name##_program_setup();

static uint32_t begun, is_set_up;

/* Whom a NIC gives the arguments needs no schemas. */
static void set_up(uint64_t way, uint64_t core_frequency) {
  runtime_setup(core_frequency);
  if (way == SERVICE_BY_LINES) {
    RPC_PROGRAMS(SET_UP)
  } else {
    runtime_start((const struct service_start*)SERVICE_START);
    rpc_programs_setup();
  }
}

/* The first thread does it, and the others wait. */
static void set_up_once(uint64_t way, uint64_t core_frequency) {
  if (__atomic_exchange_n(&begun, 1, __ATOMIC_RELAXED) == 0) {
    set_up(way, core_frequency);
    __atomic_store_n(&is_set_up, 1, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&is_set_up, __ATOMIC_ACQUIRE) == 0) yield();
}

int main(uint64_t thread, uint64_t delivery, uint64_t core_frequency) {
  if (thread >= SERVICE_THREADS) return 1;
  const uint64_t way = delivery & ((1u << SERVICE_DELIVERY_BITS) - 1);
  set_up_once(way, core_frequency);
  if (way == SERVICE_BY_LINES) serve_by_lines(thread, delivery >> SERVICE_DELIVERY_BITS);
  if (way == SERVICE_BY_QUEUE) serve_by_queue();
  serve_by_socket();
}
