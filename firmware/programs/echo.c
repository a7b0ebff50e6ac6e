/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/programs/echo.c: returns its arguments. If the result lies where the arguments are, nothing is copied. */
#include "protocols/rpc/echo.h"

#include "firmware/rpc/program.h"
#include "firmware/rpc/xdr.h"

static int32_t echo(struct rpc_call* call) {
  uint32_t bytes = 4 + xdr_padded(call->args[0]);
  if (bytes > call->result_room) return RPC_REFUSE_SYSTEM_ERR;
  if (call->result != call->args) __builtin_memcpy(call->result, call->args, bytes);
  return (int32_t)bytes;
}

RPC_PROGRAM(echo, 0, [ECHO_NULL] = rpc_null, [ECHO_ECHO] = echo)
