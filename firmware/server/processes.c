/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/server/processes.c */
#include "firmware/server/processes.h"

#include "firmware/kernel/console.h"
#include "firmware/kernel/memory.h"
#include "firmware/rpc/program.h"
#include "firmware/user/service.h"

struct making {
  struct server_process* list;
  const struct nic* nic;
  uint32_t count;
  const char* at[RPC_INSTANCES_MOST]; /* by instance: the program at its port; 0: none yet */
};

static bool make(struct making* m, const char* program, const struct process_image* image, uint32_t instance) {
  if (m->at[instance] != 0) {
    print(
        "UDP port %u is one process's, and both %s and %s are to be there: sluice,services (cluster.NAME.services) may "
        "name one program only\n",
        RPC_PORT_SERVICES + instance, m->at[instance], program);
    return false;
  }
  m->at[instance] = program;
  struct server_process* p = &m->list[m->count++];
  *p = (struct server_process){.udp_port = (uint16_t)(RPC_PORT_SERVICES + instance)};
  if (image == 0 || !process_create(&p->process, (uint16_t)m->count, image)) {
    print("there is no process for the program %s\n", program);
    return false;
  }
  p->start = memory_reserve(PAGE_BYTES, PAGE_BYTES);
  *p->start = (struct service_start){.instance = instance, .nic = *m->nic};
  address_space_map(&p->process.space, SERVICE_START, (uintptr_t)p->start, PAGE_READ);
  return true;
}

static bool make_all(struct making* m, const char* program, const struct process_image* image) {
  const uint32_t instances = rpc_instances(program);
  for (uint32_t i = 0; i < instances; i++)
    if (!make(m, program, image, i)) return false;
  return true;
}

uint32_t server_make_processes(struct server_process list[SERVER_PROCESSES_MOST], const struct nic* nic) {
  struct making m = {.list = list, .nic = nic};
#define MAKE(name, number, version) \
  if (!make_all(&m, #name, process_find_image("service-" #name))) return 0;
  RPC_PROGRAMS(MAKE)
  return m.count;
}
