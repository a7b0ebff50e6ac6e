/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/instances.c */
#include "firmware/rpc/instances.h"

#include "firmware/kernel/board.h"
#include "firmware/kernel/fdt.h"
#include "firmware/kernel/panic.h"

static char list[2048]; /* empty: there is none */

void rpc_instances_setup(void) {
  struct fdt_walk node;
  uint32_t length = 0;
  const char* wanted = fdt_find_chosen(&node, board_device_tree) ? fdt_get(&node, "sluice,services", &length) : 0;
  if (wanted == 0) return;
  if (length > sizeof list) panic("/chosen's sluice,services is too long");
  __builtin_memcpy(list, wanted, length);
}

/* The number behind a name; 0: the name goes on there. */
static uint32_t count_at(const char* at) {
  if (*at != '*') return *at == ',' || *at == 0;
  uint32_t count = 0;
  for (at++; *at >= '0' && *at <= '9'; at++) count = 10 * count + (uint32_t)(*at - '0');
  return count < RPC_INSTANCES_MOST ? count : RPC_INSTANCES_MOST;
}

uint32_t rpc_instances(const char* program) {
  if (list[0] == 0) return 1;
  for (const char* at = list; *at != 0;) {
    const char* name = program;
    while (*name != 0 && *at == *name) at++, name++;
    const uint32_t count = *name == 0 ? count_at(at) : 0;
    if (count != 0) return count;
    while (*at != 0 && *at++ != ',') {
    }
  }
  return 0;
}

uint32_t rpc_first_instance(void) { return 0; }
