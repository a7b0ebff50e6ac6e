/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/instances.h: which programs of the image the board wants served, and how often. Instance i of a program
 * is at UDP port RPC_PORT_SERVICES + i, and has a state of its own. */
#pragma once

#include <stdint.h>

#define RPC_INSTANCES_MOST 64u

/* Reads what the device tree's /chosen has as sluice,services: a list such as "calc,echo*32". To be called before
 * memory_reserve(), which may overwrite the tree. */
void rpc_instances_setup(void);

/* Instances of the program of this name. Without a list every program has one; with it, those that it does not name
 * have none. */
uint32_t rpc_instances(const char* program);

/* The instance of its program that is the first one here: 0, but in a process, which is one instance. */
uint32_t rpc_first_instance(void);
