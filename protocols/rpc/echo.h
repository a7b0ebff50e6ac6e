/* SPDX-License-Identifier: Apache-2.0 */
/* protocols/rpc/echo.h: the program echo, as it travels (protocols/rpc/onc_rpc.h). */
#pragma once

#define RPC_PROGRAM_ECHO 0x20000002u
#define ECHO_VERSION 1u
#define ECHO_NULL 0u /* {} -> {} */
#define ECHO_ECHO 1u /* {opaque data<>} -> {opaque data<>}: the same bytes, padding included */
