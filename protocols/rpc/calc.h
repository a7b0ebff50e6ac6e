/* SPDX-License-Identifier: Apache-2.0 */
/* protocols/rpc/calc.h: the program calc, as it travels (protocols/rpc/onc_rpc.h). */
#pragma once

#define RPC_PROGRAM_CALC 0x20000001u
#define CALC_VERSION 1u
#define CALC_NULL 0u     /* {} -> {} */
#define CALC_ADD 1u      /* {int a, int b} -> int: the sum modulo 2^32 */
#define CALC_CHECKSUM 2u /* {opaque data<>} -> unsigned: Adler-32 (RFC 1950) of the data without padding */
#define CALC_SORT 3u     /* {int values<>} -> {int values<>}: ascending */
#define CALC_SPIN 4u     /* {unsigned nanoseconds} -> {}: when the hart has been busy for so long */
