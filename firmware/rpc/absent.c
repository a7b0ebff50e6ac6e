/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/absent.c: the image's RPC programs for a kernel that does not serve them itself: it knows which
 * procedures there are, and answers SYSTEM_ERR to a call that comes to it all the same. */
#include "firmware/rpc/program.h"
#include "rpc_schemas.h"

#define PROCEDURES_MOST 32u

static int32_t absent(struct rpc_call* call) {
  (void)call;
  return RPC_REFUSE_SYSTEM_ERR;
}

#define FILL(rows)                                                                         \
  for (unsigned i = 0; i < sizeof rows##_arguments / sizeof rows##_arguments[0]; i++)      \
    if (rows##_arguments[i].program == number && rows##_arguments[i].version == version && \
        rows##_arguments[i].procedure < PROCEDURES_MOST)                                   \
      handlers[rows##_arguments[i].procedure] = absent;
static void fill(rpc_handler** handlers, uint32_t number, uint32_t version) {
  (void)handlers, (void)number, (void)version;
  RPC_SCHEMAS(FILL)
}

#define ABSENT(name, number, version)                                                                          \
  static rpc_handler* name##_handlers[PROCEDURES_MOST];                                                        \
  const struct rpc_program name##_program = {(uint32_t)(number), (version), PROCEDURES_MOST, name##_handlers}; \
  void name##_program_setup(void) { fill(name##_handlers, (uint32_t)(number), (version)); }
RPC_PROGRAMS(ABSENT)
