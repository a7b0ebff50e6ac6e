/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/drivers/lauberhorn/lauberhorn.h: Lauberhorn, the NIC that hands calls to cores by cache lines. A core waits
 * in the load of a control line; a load of the other one says that it has done with what the first one brought. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/drivers/lauberhorn/lines.h"
#include "models/nic/lauberhorn/lauberhorn_regs.h"

struct lauberhorn {
  uint64_t registers, lines; /* addresses; registers 0: there is none */
  uint32_t line_bytes, cores, processes, workers, services;
  uint32_t ipv4; /* sluice,ipv4 */
};

/* The NIC whose registers and lines are at these addresses; false: it has no core. */
bool lauberhorn_open(struct lauberhorn* nic, uint64_t registers, uint64_t lines, uint32_t ipv4);
/* What the device tree and the NIC say. False: the board has none. To be called before memory_reserve(), which may
 * overwrite the tree. */
bool lauberhorn_find(struct lauberhorn* nic);

static inline uint64_t lauberhorn_get(const struct lauberhorn* nic, uint32_t offset) {
  return *(volatile uint64_t*)(nic->registers + offset);
}
static inline void lauberhorn_set(const struct lauberhorn* nic, uint32_t offset, uint64_t value) {
  *(volatile uint64_t*)(nic->registers + offset) = value;
}

/* Lets so many cores serve a process; 0: what comes for it waits. id: what messages say of it from now on. */
void lauberhorn_set_process(const struct lauberhorn* nic, uint32_t process, uint16_t id, uint32_t harts);

/* The core's kernel end-point, and the end-point of a process's worker. */
struct lauberhorn_lines lauberhorn_kernel(const struct lauberhorn* nic, uint32_t core, uint32_t direction);
struct lauberhorn_lines lauberhorn_user(const struct lauberhorn* nic, uint32_t process, uint32_t worker,
                                        uint32_t direction);

struct nic;
/* The frames that are no calls of services, as a NIC with a queue for each core: receive() gives a frame once after
 * lauberhorn_frames_offer(). waits: receive() itself waits at the core's kernel line, where nothing else is to come,
 * for up to the NIC's block time. */
void lauberhorn_frames_setup(const struct lauberhorn* lauberhorn, struct nic* nic, bool waits);
/* Answers a request that the core has kept: status, and `bytes` of its result. */
void lauberhorn_frames_reply(const struct nic* nic, uint32_t core, uint32_t session, uint32_t status,
                             const uint64_t* result, uint32_t bytes);
/* Tells that the handler of such a request has ended, and waits for the result of a call. request: in memory, for the
 * ledger. */
void lauberhorn_frames_keep(const struct nic* nic, uint32_t core, uint32_t session, const void* request);
void lauberhorn_frames_offer(const struct nic* nic, uint32_t core, const struct lauberhorn_lines* l, uint32_t bytes);
