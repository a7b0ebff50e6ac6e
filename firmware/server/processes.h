/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/server/processes.h: the processes that serve the image's RPC programs on NICs that deliver frames. Each
 * instance of a program is a process, at the UDP port of the instance. */
#pragma once

#include <stdint.h>

#include "firmware/drivers/nic.h"
#include "firmware/process/process.h"
#include "firmware/rpc/instances.h"

#define SERVER_PROCESSES_MOST RPC_INSTANCES_MOST

struct server_process {
  struct process process;
  uint16_t udp_port; /* host order */
  struct service_start* start;
};

/* Makes the processes that the device tree wants (rpc_instances_setup()), numbered from 1 on, each with its page of
 * what it is told (struct service_start). Returns how many there are, 0 where one cannot be made, which a line on the
 * console explains. */
uint32_t server_make_processes(struct server_process list[SERVER_PROCESSES_MOST], const struct nic* nic);
