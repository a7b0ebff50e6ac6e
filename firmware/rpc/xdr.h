/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/rpc/xdr.h: XDR (RFC 4506) read and written in place. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/net/wire.h"

/* Bytes that `length` bytes of opaque data take, padding included. */
static inline uint32_t xdr_padded(uint32_t length) { return (length + 3u) & ~3u; }

/* Reads a variable-length opaque of at most `limit` bytes at `*at`; the arguments end `*left` bytes later. On success
 * moves `*at` past the opaque and lowers `*left`; false if the opaque is too long for either. */
static inline bool xdr_opaque(const uint32_t** at, uint32_t* left, uint32_t limit, const uint8_t** data,
                              uint32_t* length) {
  if (*left < 4) return false;
  uint32_t n = from_be32(**at);
  if (n > limit || n > *left - 4 || xdr_padded(n) > *left - 4) return false;
  *data = (const uint8_t*)(*at + 1);
  *length = n;
  *at += 1 + xdr_padded(n) / 4;
  *left -= 4 + xdr_padded(n);
  return true;
}
