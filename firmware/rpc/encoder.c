/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/encoder.c */
#include "firmware/rpc/encoder.h"

#include "firmware/kernel/likely.h"
#include "firmware/rpc/program.h"
#include "firmware/rpc/schema.h"
#include "models/nic/rpc_encoder/rpc_encoder_regs.h"
#include "rpc_schemas.h"

_Static_assert(RPC_SCHEMA_ARMS == RPCE_ARMS && RPC_SCHEMA_PARTS == RPCE_PARTS,
               "a row of rpc_schemas.h has what an entry takes");

static void write(uint64_t registers, uint32_t offset, uint32_t value) {
  *(volatile uint32_t*)(registers + offset) = value;
}

COLD uint32_t rpc_encoder_entries(const struct rpc_program* program, uint32_t procedure) {
  const struct rpc_schema_result* schema = rpc_find_schema(program, procedure)->result;
  return schema == 0 || !schema->has_status ? 1 : 1 + schema->arm_count;
}

/* parts: 0: none. */
COLD static void enter_parts(uint64_t registers, uint32_t entry, const struct rpc_schema_part* parts) {
  for (unsigned i = 0; i < RPCE_ARMS; i++) write(registers, RPCE_ARM(i), 0);
  for (unsigned i = 0; i < RPCE_PARTS; i++) {
    write(registers, RPCE_PART_CLASSES(i), parts == 0 ? 0 : parts[i].classes);
    write(registers, RPCE_PART_SHAPE(i), parts == 0 ? 0 : parts[i].shape);
  }
  write(registers, RPCE_COMMIT, RPCE_COMMIT_VALID | entry);
}

COLD void rpc_encoder_enter_arguments(uint64_t registers, uint32_t entry, const struct rpc_program* program,
                                      uint32_t procedure) {
  const struct rpc_schema_arguments* schema = rpc_find_schema(program, procedure)->arguments;
  enter_parts(registers, entry, schema == 0 ? 0 : schema->parts);
}

COLD void rpc_encoder_enter(uint64_t registers, uint32_t entry, const struct rpc_program* program, uint32_t procedure) {
  const struct rpc_schema_result* schema = rpc_find_schema(program, procedure)->result;
  if (schema == 0) return enter_parts(registers, entry, 0);
  if (!schema->has_status) return enter_parts(registers, entry, schema->arms[0].parts);
  for (uint32_t i = 0; i < schema->arm_count; i++) enter_parts(registers, entry + 1 + i, schema->arms[i].parts);
  for (uint32_t i = 0; i < RPCE_ARMS; i++) {
    const struct rpc_schema_arm* arm = &schema->arms[i];
    const uint32_t is_there = i < schema->arm_count ? RPCE_ARM_VALID : 0;
    write(registers, RPCE_ARM_VALUE(i), arm->value);
    write(registers, RPCE_ARM(i), is_there | (arm->is_default ? RPCE_ARM_DEFAULT : 0) | (entry + 1 + i));
  }
  for (unsigned i = 0; i < RPCE_PARTS; i++) write(registers, RPCE_PART_SHAPE(i), 0);
  write(registers, RPCE_COMMIT, RPCE_COMMIT_VALID | entry);
}
