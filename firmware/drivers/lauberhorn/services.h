/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/services.h: instances of the image's RPC programs as processes and services of
 * Lauberhorn. Those of program NAME are processes of the image service-NAME (firmware/user/service.h). */
#pragma once

#include "firmware/drivers/lauberhorn/lauberhorn.h"

struct process_image;

#define LAUBERHORN_PROCESSES_MOST 64u
#define LAUBERHORN_SERVICES_MOST 64u /* that handlers can call */

/* Enters each instance as a process, numbered from 1 in the order of RPC_PROGRAMS, which so many harts may serve, and
 * each of its procedures as a service, as far as the tables have room. images: by process. Returns the number of
 * processes. */
uint32_t lauberhorn_services_setup(const struct lauberhorn* nic, uint32_t harts,
                                   const struct process_image* images[LAUBERHORN_PROCESSES_MOST + 1]);

/* Number of a service that handlers can call, of the first instance; -1: there is none. */
int32_t lauberhorn_find_service(uint32_t program, uint32_t procedure);
