/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/decoder.c */
#include "firmware/rpc/decoder.h"

#include "firmware/kernel/console.h"
#include "firmware/kernel/likely.h"
#include "firmware/rpc/instances.h"
#include "firmware/rpc/program.h"
#include "firmware/rpc/schema.h"
#include "models/nic/rpc_decoder/rpc_decoder_regs.h"
#include "rpc_schemas.h"

static void write(uint64_t registers, uint32_t offset, uint32_t value) {
  *(volatile uint32_t*)(registers + offset) = value;
}
static uint32_t read(uint64_t registers, uint32_t offset) { return *(volatile uint32_t*)(registers + offset); }

/* Without a schema, arguments of any kind are taken as they are. */
COLD void rpc_decoder_enter(uint64_t registers, uint32_t entry, const struct rpc_program* program, uint32_t procedure,
                            uint32_t instance, uint32_t owner, uintptr_t function) {
  const struct rpc_schema_arguments* schema = rpc_find_schema(program, procedure)->arguments;
  write(registers, RPCD_PROGRAM, program->number);
  write(registers, RPCD_VERSION, program->version);
  write(registers, RPCD_PROCEDURE, procedure);
  write(registers, RPCD_PORT, RPC_PORT_SERVICES + instance);
  write(registers, RPCD_FUNCTION_LOW, (uint32_t)function);
  write(registers, RPCD_FUNCTION_HIGH, (uint32_t)(function >> 32));
  write(registers, RPCD_OWNER, owner);
  for (unsigned i = 0; i < RPCD_PARTS; i++) {
    write(registers, RPCD_PART_CLASSES(i), schema == 0 ? 0 : schema->parts[i].classes);
    write(registers, RPCD_PART_SHAPE(i), schema == 0 ? 0 : schema->parts[i].shape);
  }
  write(registers, RPCD_COMMIT, RPCD_COMMIT_VALID | entry);
}

/* How far a decoder's table is filled, and the queue of the next instance. */
struct filling {
  uint32_t room, entry, queue;
};

COLD static void enter_instance(const struct nic* nic, struct filling* f, const struct rpc_program* program,
                                uint32_t instance) {
  for (uint32_t p = 0; p < program->procedures; p++)
    if (program->handler[p] != 0 && f->entry++ < f->room)
      rpc_decoder_enter(nic->rpc_decoder, f->entry - 1, program, p, instance, f->queue, (uintptr_t)program->handler[p]);
  f->queue = (f->queue + 1) % nic->queues;
}

COLD void rpc_decoder_setup(const struct nic* nic) {
  if (nic->rpc_decoder == 0) return;
  struct filling f = {.room = read(nic->rpc_decoder, RPCD_CAPACITY) & RPCD_CAPACITY_SERVICES};
#define ENTER(name, number, version) \
  for (uint32_t i = 0, all = rpc_instances(#name); i < all; i++) enter_instance(nic, &f, &name##_program, i);
  RPC_PROGRAMS(ENTER)
  if (f.entry > f.room)
    print("%s: its RPC decoder has room for %u of %u procedures\n", nic->settings.name, f.room, f.entry);
  uint32_t error = read(nic->rpc_decoder, RPCD_ERROR);
  if (error != 0) print("%s: its RPC decoder refuses its table, error %x\n", nic->settings.name, error);
}
