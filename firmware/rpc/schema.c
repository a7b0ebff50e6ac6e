/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/schema.c */
#include "firmware/rpc/schema.h"

#include "firmware/kernel/likely.h"
#include "firmware/kernel/memory.h"
#include "firmware/net/wire.h"
#include "firmware/rpc/program.h"
#include "firmware/rpc/xdr.h"
#include "models/nic/rpc_decoder/rpc_decoder_regs.h"
#include "rpc_schemas.h"

_Static_assert(RPC_SCHEMA_PARTS == RPCD_PARTS, "a row of rpc_schemas.h has what an entry takes");

/* Whether the parts are one opaque with a count before it. */
static bool is_one_opaque(const struct rpc_schema_part* parts, uint32_t* limit) {
  const uint32_t shape = parts[0].shape;
  *limit = shape >> RPCD_SHAPE_LIMIT_SHIFT;
  return parts[1].shape == 0 && (shape & 0xffffu) == (RPCD_SHAPE_COUNTED | RPCD_ARRAY_OPAQUE << RPCD_SHAPE_ARRAY_SHIFT);
}

static void find_opaques(struct rpc_schema* s) {
  s->is_opaque_argument = s->arguments != 0 && is_one_opaque(s->arguments->parts, &s->argument_limit);
  s->is_opaque_result =
      s->result != 0 && !s->result->has_status && is_one_opaque(s->result->arms[0].parts, &s->result_limit);
}

/* Of all programs whose .x file is known (cmake/SluiceFirmware.cmake). */
static struct rpc_schema find(uint32_t program, uint32_t version, uint32_t procedure) {
  struct rpc_schema found = {.is_known = false};
  (void)program, (void)version, (void)procedure; /* of an image without such programs */
#define LOOK_IN(rows)                                                                       \
  for (unsigned i = 0; i < sizeof rows##_arguments / sizeof rows##_arguments[0]; i++)       \
    if (rows##_arguments[i].program == program && rows##_arguments[i].version == version && \
        rows##_arguments[i].procedure == procedure)                                         \
      found = (struct rpc_schema){.arguments = &rows##_arguments[i],                        \
                                  .result = &rows##_results[i],                             \
                                  .is_known = rows##_results[i].arm_count != 0};
  RPC_SCHEMAS(LOOK_IN)
  /* There is nothing to do for void, nor for a result without a schema. */
  if (found.arguments != 0 && found.arguments->parts[0].shape == 0) found.arguments = 0;
  if (found.result != 0 && !found.result->has_status && found.result->arms[0].parts[0].shape == 0) found.result = 0;
  find_opaques(&found);
  return found;
}

static const struct rpc_schema none;
static const struct rpc_schema* schemas[RPC_PROGRAM_SLOTS]; /* by program, and then by procedure */

COLD void rpc_schemas_setup(const struct rpc_program* program) {
  struct rpc_schema* own = memory_reserve(program->procedures * sizeof *own, 64);
  for (uint32_t p = 0; p < program->procedures; p++) own[p] = find(program->number, program->version, p);
  schemas[program->number - RPC_PROGRAM_FIRST] = own;
}

const struct rpc_schema* rpc_find_schema(const struct rpc_program* program, uint32_t procedure) {
  uint32_t slot = program->number - RPC_PROGRAM_FIRST;
  return likely(slot < RPC_PROGRAM_SLOTS) ? &schemas[slot][procedure] : &none;
}

/* Words that a counted array takes. */
static inline uint64_t array_words(uint32_t array, uint64_t elements) {
  return array == RPCD_ARRAY_OPAQUE    ? (elements + 3) / 4
         : array == RPCD_ARRAY_SCALARS ? elements
         : array == RPCD_ARRAY_HYPERS  ? 2 * elements
                                       : 0;
}

/* Most words of the parts of a schema. */
static uint64_t most_words(const struct rpc_schema_part* parts) {
  uint64_t words = 0;
  for (unsigned i = 0; i < RPC_SCHEMA_PARTS; i++) {
    const uint32_t shape = parts[i].shape, array = (shape & RPCD_SHAPE_ARRAY) >> RPCD_SHAPE_ARRAY_SHIFT;
    const uint64_t limit = shape >> RPCD_SHAPE_LIMIT_SHIFT;
    words += shape & RPCD_SHAPE_WORDS;
    words += shape & RPCD_SHAPE_COUNTED ? 1 + array_words(array, limit) : limit;
  }
  return words;
}

COLD uint64_t rpc_arguments_most(const struct rpc_schema_arguments* schema) {
  return schema == 0 ? 0 : 4 * most_words(schema->parts);
}

COLD uint64_t rpc_result_most(const struct rpc_schema_result* schema) {
  uint64_t most = 0;
  for (uint32_t i = 0; schema != 0 && i < schema->arm_count; i++) {
    const uint64_t words = most_words(schema->arms[i].parts) + (schema->has_status ? 1 : 0);
    if (words > most) most = words;
  }
  return 4 * most;
}

/* Turns the words of a part before its array. */
static inline uint32_t* turn_words(uint32_t* at, uint32_t count, uint32_t classes) {
  for (uint32_t* const end = at + count; at != end; at++, classes >>= 2) {
    uint32_t class = classes & 3;
    if (class == RPCD_CLASS_SWAP) {
      *at = from_be32(*at);
    } else if (class == RPCD_CLASS_HYPER_HIGH) {
      uint32_t high = from_be32(at[0]);
      at[0] = from_be32(at[1]);
      at[1] = high;
      at++, classes >>= 2;
    }
  }
  return at;
}

static inline void turn_array(uint32_t* at, const uint32_t* end, uint32_t array) {
  if (array == RPCD_ARRAY_SCALARS) {
    for (; at != end; at++) *at = from_be32(*at);
  } else if (array == RPCD_ARRAY_HYPERS) {
    for (; at != end; at += 2) turn_words(at, 2, RPCD_CLASS_HYPER_HIGH | RPCD_CLASS_HYPER_LOW << 2);
  }
}

/* Turns the parts of a schema between XDR and what handlers have, which is the same work but for the counts. Returns
 * the end of the last part; 0: it lies behind `end`, or an array is too long. */
__attribute__((always_inline)) static inline uint32_t* turn(const struct rpc_schema_part* part, uint32_t* at,
                                                            const uint32_t* end, bool is_xdr) {
  for (const struct rpc_schema_part* last = part + RPC_SCHEMA_PARTS; part != last && part->shape != 0; part++) {
    const uint32_t shape = part->shape, count = shape & RPCD_SHAPE_WORDS;
    const uint32_t array = (shape & RPCD_SHAPE_ARRAY) >> RPCD_SHAPE_ARRAY_SHIFT;
    if (unlikely(count > (size_t)(end - at))) return 0;
    at = turn_words(at, count, part->classes);
    uint64_t words = shape >> RPCD_SHAPE_LIMIT_SHIFT; /* of an array without a count its words */
    if (shape & RPCD_SHAPE_COUNTED) {
      if (unlikely(at == end)) return 0;
      uint32_t turned = from_be32(*at), elements = is_xdr ? turned : *at;
      if (unlikely(elements > words)) return 0;
      *at++ = turned;
      words = array_words(array, elements);
      if (unlikely(words > (size_t)(end - at))) return 0;
      if (!is_xdr && array == RPCD_ARRAY_OPAQUE && elements % 4 != 0) at[words - 1] &= (1u << elements % 4 * 8) - 1;
    } else if (unlikely(words > (size_t)(end - at))) {
      return 0;
    }
    turn_array(at, at + words, array);
    at += words;
  }
  return at;
}

__attribute__((noinline)) bool rpc_unmarshal(const struct rpc_schema_arguments* schema, uint32_t* words,
                                             uint32_t bytes) {
  return turn(schema->parts, words, words + bytes / 4, true) != 0;
}

/* What follows a result's status; 0: the schema does not say. */
static const struct rpc_schema_arm* arm_of(const struct rpc_schema_result* schema, uint32_t status) {
  const struct rpc_schema_arm* other = 0;
  for (const struct rpc_schema_arm* arm = schema->arms; arm != schema->arms + schema->arm_count; arm++) {
    if (!arm->is_default && arm->value == status) return arm;
    if (arm->is_default && other == 0) other = arm;
  }
  return other;
}

__attribute__((noinline)) bool rpc_marshal(const struct rpc_schema_result* schema, uint32_t* words, uint32_t bytes) {
  const struct rpc_schema_arm* arm = schema->arms;
  uint32_t* const end = words + bytes / 4;
  if (schema->has_status) {
    if (words == end || (arm = arm_of(schema, *words)) == 0) return false;
    *words = to_be32(*words);
    words++;
  }
  return turn(arm->parts, words, end, false) == end;
}
