/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/programs/echo.c: returns its arguments. If the result lies where the arguments are, nothing is copied. */
#include "protocols/rpc/echo.h"

#include "firmware/rpc/program.h"
#include "firmware/rpc/xdr.h"

static int32_t echo(struct rpc_call* call) {
  const uint32_t* at = call->args;
  uint32_t left = call->args_length, length;
  const uint8_t* data;
  if (!xdr_opaque(&at, &left, left, &data, &length)) return RPC_REFUSE_GARBAGE_ARGS;
  uint32_t bytes = (uint32_t)((const uint8_t*)at - (const uint8_t*)call->args);
  if (bytes > call->result_room) return RPC_REFUSE_SYSTEM_ERR;
  rpc_begin_work(call);
  if (call->result != call->args) __builtin_memcpy(call->result, call->args, bytes);
  return (int32_t)bytes;
}

RPC_PROGRAM(echo, 0, [ECHO_NULL] = rpc_null, [ECHO_ECHO] = echo)
