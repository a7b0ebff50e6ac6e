/* SPDX-License-Identifier: Apache-2.0 */
/* protocols/rpc/kv.h: the program kv, as it travels (protocols/rpc/onc_rpc.h): a key-value store. */
#pragma once

#define RPC_PROGRAM_KV 0x20000003u
#define KV_VERSION 1u
#define KV_NULL 0u /* {} -> {} */
#define KV_GET 1u  /* {opaque key<KV_KEY_MAX>} -> {int status; if KV_OK: opaque value<KV_VALUE_MAX>} */
#define KV_PUT 2u  /* {opaque key<KV_KEY_MAX>, opaque value<KV_VALUE_MAX>} -> {int status} */
#define KV_KEY_MAX 64u
#define KV_VALUE_MAX 512u
#define KV_OK 0u
#define KV_NOT_FOUND 1u /* no such key */
#define KV_FULL 2u      /* no room for another key */
