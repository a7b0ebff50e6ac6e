/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/schema.h: arguments and results of procedures as handlers have them, whatever the NIC: words where XDR
 * (RFC 4506) has them, but little endian; 64-bit values as little-endian pairs of words; opaque bytes as they are. A
 * NIC that decodes calls gives arguments in this layout; for others, this file makes it in place.
 *
 * A program without an .x file has no schemas: its handlers get XDR, unchecked, and give XDR. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/kernel/likely.h"
#include "firmware/net/wire.h"
#include "firmware/rpc/xdr.h"

struct rpc_program;
struct rpc_schema_arguments; /* rpc_schemas.h, which CMake generates of .x files */
struct rpc_schema_result;

struct rpc_schema {
  const struct rpc_schema_arguments* arguments; /* 0: void, or not known */
  const struct rpc_schema_result* result;       /* 0: void, or not known */
  /* Arguments, or a result, that are one opaque of variable length, as those of most calls that carry data, and its
   * most bytes. */
  uint32_t argument_limit, result_limit;
  bool is_opaque_argument, is_opaque_result;
  bool is_known; /* an .x file has both */
};

/* Finds the schemas of a program's procedures. Hart 0 calls it before the first call. */
void rpc_schemas_setup(const struct rpc_program* program);

/* The schemas of a procedure that the program has. */
const struct rpc_schema* rpc_find_schema(const struct rpc_program* program, uint32_t procedure);

/* Most bytes of arguments, and of a result; 0 without a schema. */
uint64_t rpc_arguments_most(const struct rpc_schema_arguments* schema);
uint64_t rpc_result_most(const struct rpc_schema_result* schema);

/* Makes arguments of XDR, which begin at `words` and have at most `bytes` bytes. False: they are too short, or an array
 * is longer than it may be; some words may have been changed. */
bool rpc_unmarshal(const struct rpc_schema_arguments* schema, uint32_t* words, uint32_t bytes);

/* Makes XDR of a result. False: it does not fit its schema. */
bool rpc_marshal(const struct rpc_schema_result* schema, uint32_t* words, uint32_t bytes);

/* rpc_unmarshal() and rpc_marshal() where there is a schema, with the work for one opaque done in place. */
static inline bool rpc_arguments_arrive(const struct rpc_schema* schema, uint32_t* words, uint32_t bytes) {
  if (schema->arguments == 0) return true;
  if (unlikely(!schema->is_opaque_argument)) return rpc_unmarshal(schema->arguments, words, bytes);
  if (unlikely(bytes < 4)) return false;
  const uint32_t length = from_be32(words[0]);
  if (unlikely(length > schema->argument_limit || xdr_padded(length) > bytes - 4)) return false;
  words[0] = length;
  return true;
}

static inline bool rpc_result_leaves(const struct rpc_schema* schema, uint32_t* words, uint32_t bytes) {
  if (schema->result == 0) return true;
  if (unlikely(!schema->is_opaque_result)) return rpc_marshal(schema->result, words, bytes);
  const uint32_t length = words[0];
  if (unlikely(bytes < 4 || length > schema->result_limit || xdr_padded(length) != bytes - 4)) return false;
  if (length % 4 != 0) words[length / 4 + 1] &= (1u << length % 4 * 8) - 1;
  words[0] = to_be32(length);
  return true;
}
