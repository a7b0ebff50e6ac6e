/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/net/checksum.c */
#include "firmware/net/checksum.h"

#include "firmware/net/wire.h"

uint64_t checksum_add(uint64_t sum, const void* data, uint32_t length) {
  const uint16_t* p = data;
  if (((uintptr_t)p & 2) != 0 && length >= 2) {
    sum += *p++;
    length -= 2;
  }
  const uint32_t* words = (const uint32_t*)(const void*)p;
  for (; length >= 4; length -= 4) sum += *words++;
  p = (const uint16_t*)(const void*)words;
  if (length >= 2) {
    sum += *p++;
    length -= 2;
  }
  if (length != 0) sum += *(const uint8_t*)p;
  return sum;
}

uint16_t checksum_finish(uint64_t sum) {
  sum = (sum & 0xffffffffu) + (sum >> 32);
  sum = (sum & 0xffffffffu) + (sum >> 32);
  sum = (sum & 0xffffu) + (sum >> 16);
  sum = (sum & 0xffffu) + (sum >> 16);
  return (uint16_t)~sum;
}

uint16_t checksum_update(uint16_t field, uint16_t before, uint16_t after) {
  if (field == 0) return 0;
  uint32_t sum = (uint32_t)(uint16_t)~from_be16(field) + (uint16_t)~before + after;
  sum = (sum & 0xffffu) + (sum >> 16);
  sum = (sum & 0xffffu) + (sum >> 16);
  return to_be16(sum == 0xffffu ? 0xffffu : (uint16_t)~sum);
}
