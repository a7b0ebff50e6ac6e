/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/program.h: defines RPC_PROGRAM, which each RPC program's file ends with. CMake (sluice_rpc_programs() in
 * cmake/SluiceFirmware.cmake) generates rpc_programs.h: RPC_PROGRAMS(X) expands to X(name, number, version) for each
 * program of the image. */
#pragma once

#include "firmware/rpc/port.h"
#include "rpc_programs.h"

/* Ends a program's file:
 *   RPC_PROGRAM(kv, kv_setup, [KV_NULL] = rpc_null, [KV_GET] = get, [KV_PUT] = put)
 * name: that of the file. set_up: function that rpc_programs_setup() calls, or 0. Then the handlers, by procedure.
 * Number and version are those of the program's header: for kv.c, RPC_PROGRAM_KV and KV_VERSION in kv.h. */
#define RPC_PROGRAM(name, set_up, ...)                                                        \
  static rpc_handler* const handlers[] = {__VA_ARGS__};                                       \
  const struct rpc_program name##_program = {rpc_number_of_##name, rpc_version_of_##name,     \
                                             sizeof handlers / sizeof handlers[0], handlers}; \
  void name##_program_setup(void);                                                            \
  void name##_program_setup(void) {                                                           \
    void (*const f)(void) = set_up;                                                           \
    if (f != 0) f();                                                                          \
  }

#define RPC_PROGRAM_DECLARE(name, number, version) \
  extern const struct rpc_program name##_program;  \
  void name##_program_setup(void);                 \
  enum { rpc_number_of_##name = (int)(number), rpc_version_of_##name = (int)(version) };
RPC_PROGRAMS(RPC_PROGRAM_DECLARE)
#undef RPC_PROGRAM_DECLARE
