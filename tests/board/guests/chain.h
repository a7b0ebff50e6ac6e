/* SPDX-License-Identifier: Apache-2.0 */
/* tests/board/guests/chain.h: an RPC program whose handlers call services. */
#pragma once

#define RPC_PROGRAM_CHAIN 0x20000006u
#define CHAIN_VERSION 1u
#define CHAIN_NULL 0u
#define CHAIN_DESCEND 1u /* {unsigned n} -> {unsigned n}, by a call with n - 1 for each n above 0 */
#define CHAIN_RELAY 2u   /* {opaque<>} -> {opaque<>}: as echo's process answers */
#define CHAIN_WIDE 3u    /* {unsigned n} -> {unsigned n}, by n calls at a time, at most CHAIN_WIDE_MOST */
#define CHAIN_WIDE_MOST 64u
#define CHAIN_ORPHAN 4u /* makes a call, and ends its process before the result comes */
#define CHAIN_FORGET 5u /* says that it will answer later, and has made no call */
