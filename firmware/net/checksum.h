/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/net/checksum.h: the Internet checksum (RFC 1071). */
#pragma once

#include <stdint.h>

/* Adds `length` bytes at `data`, which is aligned to 2, to a running sum of at most 2^63. */
uint64_t checksum_add(uint64_t sum, const void* data, uint32_t length);

/* The checksum field's value for a sum, in memory byte order. */
uint16_t checksum_finish(uint64_t sum);

/* A UDP checksum field, in memory byte order, after a 16-bit word of the datagram has changed (both in host order, RFC
 * 1624); 0, which means that there is none, stays 0. */
uint16_t checksum_update(uint16_t field, uint16_t before, uint16_t after);
