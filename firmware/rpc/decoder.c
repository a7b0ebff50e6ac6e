/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/decoder.c */
#include "firmware/rpc/decoder.h"

#include "firmware/kernel/console.h"
#include "firmware/kernel/likely.h"
#include "firmware/rpc/program.h"
#include "models/nic/rpc_decoder/rpc_decoder_regs.h"
#include "rpc_schemas.h"

_Static_assert(RPC_SCHEMA_PARTS == RPCD_PARTS, "a row of rpc_schemas.h has what an entry takes");

/* The rows of all programs whose .x file is known (cmake/SluiceFirmware.cmake). */
static const struct rpc_schema_arguments* schema_of(uint32_t program, uint32_t version, uint32_t procedure) {
  (void)program, (void)version, (void)procedure; /* of an image without such programs */
#define LOOK_IN(rows)                                         \
  for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) \
    if (rows[i].program == program && rows[i].version == version && rows[i].procedure == procedure) return &rows[i];
  RPC_SCHEMAS(LOOK_IN)
  return 0;
}

static void write(const struct nic* nic, uint32_t offset, uint32_t value) {
  *(volatile uint32_t*)(nic->rpc_decoder + offset) = value;
}
static uint32_t read(const struct nic* nic, uint32_t offset) {
  return *(volatile uint32_t*)(nic->rpc_decoder + offset);
}

/* Without a schema, arguments of any kind are taken as they are. */
static void enter(const struct nic* nic, uint32_t entry, const struct rpc_program* program, uint32_t procedure,
                  uint32_t queue) {
  const struct rpc_schema_arguments* schema = schema_of(program->number, program->version, procedure);
  uintptr_t function = (uintptr_t)program->handler[procedure];
  write(nic, RPCD_PROGRAM, program->number);
  write(nic, RPCD_VERSION, program->version);
  write(nic, RPCD_PROCEDURE, procedure);
  write(nic, RPCD_PORT, RPC_PORT_SERVICES);
  write(nic, RPCD_FUNCTION_LOW, (uint32_t)function);
  write(nic, RPCD_FUNCTION_HIGH, (uint32_t)(function >> 32));
  write(nic, RPCD_OWNER, queue);
  for (unsigned i = 0; i < RPCD_PARTS; i++) {
    write(nic, RPCD_PART_CLASSES(i), schema == 0 ? 0 : schema->parts[i].classes);
    write(nic, RPCD_PART_SHAPE(i), schema == 0 ? 0 : schema->parts[i].shape);
  }
  write(nic, RPCD_COMMIT, RPCD_COMMIT_VALID | entry);
}

COLD void rpc_decoder_setup(const struct nic* nic) {
  if (nic->rpc_decoder == 0) return;
  const uint32_t room = read(nic, RPCD_CAPACITY) & RPCD_CAPACITY_SERVICES;
  uint32_t entry = 0, queue = 0;
#define ENTER(name, number, version)                                                                        \
  for (uint32_t p = 0; p < name##_program.procedures; p++)                                                  \
    if (name##_program.handler[p] != 0 && entry++ < room) enter(nic, entry - 1, &name##_program, p, queue); \
  queue = (queue + 1) % nic->queues;
  RPC_PROGRAMS(ENTER)
  if (entry > room) print("%s: its RPC decoder has room for %u of %u procedures\n", nic->settings.name, room, entry);
  uint32_t error = read(nic, RPCD_ERROR);
  if (error != 0) print("%s: its RPC decoder refuses its table, error %x\n", nic->settings.name, error);
}
