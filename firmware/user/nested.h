/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/nested.h: calls that handlers make to other services. The NIC takes such a call while the handler goes
 * on; when the result comes, it runs a function of the same process, on any thread, which goes on with the request. */
#pragma once

#include <stdint.h>

#include "firmware/rpc/port.h"
#include "firmware/user/service.h"

struct nested_call;

/* Goes on with a request: as a handler, but call->args are the results of the nested call, without any if its status is
 * not RPC_SUCCESS. It may make a further call, and return what nested_begin() does. */
typedef int32_t nested_then(struct rpc_call* call, uint32_t status, struct nested_call* own);

/* A nested call under way. Its memory must not be on the stack, and is the NIC's until `then` is called. What `then`
 * needs to know of the request may lie behind it. */
struct nested_call {
  nested_then* then;
};

/* Number of a service; negative: the board has none such, or it cannot be called by handlers. */
int32_t nested_find(uint32_t program, uint32_t procedure);

/* Makes a call of a service on behalf of a request, with arguments in the layout of firmware/rpc/schema.h; memory
 * behind them is read up to a multiple of 8 bytes. Returns what the handler has to return at once: SERVICE_KEPT, or
 * RPC_REFUSE_SYSTEM_ERR if the call could not be made, and `then` will not be called. */
int32_t nested_begin(struct rpc_call* call, struct nested_call* own, int32_t service, const uint64_t* arguments,
                     uint32_t bytes);
