/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/server/messages.c */
#include "firmware/server/messages.h"

#include "firmware/kernel/account.h"
#include "firmware/process/system_call.h"
#include "firmware/user/socket_message.h"

#define TAG_BYTES 64u /* the ledger knows whose bytes these are by blocks of so many */

/* What a buffer has held before belongs to another request. */
static void bind(const uint8_t* bytes, uint32_t count, const void* request) {
  const uintptr_t end = (uintptr_t)bytes + count;
  for (uintptr_t at = (uintptr_t)bytes & ~(uintptr_t)(TAG_BYTES - 1); at < end; at += TAG_BYTES)
    sluice_bind((const void*)at, request);
}

/* Copies between the kernel and a range of the process's memory, page by page. access: PAGE_WRITE to the process, whose
 * memory is the request's from then on. */
static bool copy(const struct thread* t, uint64_t address, uint8_t* kernel, uint32_t bytes, unsigned access) {
  const void* request = kernel;
  while (bytes != 0) {
    const uint32_t in_page = PAGE_BYTES - (uint32_t)(address % PAGE_BYTES);
    const uint32_t piece = bytes < in_page ? bytes : in_page;
    uint8_t* user = address_space_find(&t->process->space, address, piece, access);
    if (user == 0) return false;
    if (access & PAGE_WRITE) {
      __builtin_memcpy(user, kernel, piece);
      bind(user, piece, request);
    } else {
      __builtin_memcpy(kernel, user, piece);
    }
    address += piece;
    kernel += piece;
    bytes -= piece;
  }
  return true;
}

static struct socket_message* find(const struct thread* t, unsigned access) {
  const uint64_t address = thread_argument(t, 0);
  if (address % _Alignof(struct socket_message) != 0) return 0;
  return address_space_find(&t->process->space, address, sizeof(struct socket_message), access);
}

/* The process may change its memory at any time: what is checked is a copy. */
static bool read(const struct socket_message* from, struct socket_message* to) {
  if (from == 0) return false;
  to->peer = from->peer;
  to->length = *(const volatile uint32_t*)&from->length;
  to->payload = *(const volatile uint64_t*)&from->payload;
  to->room = *(const volatile uint64_t*)&from->room;
  return true;
}

uint64_t message_receive(const struct thread* t, const struct net_datagram* datagram) {
  struct socket_message* there = find(t, PAGE_READ | PAGE_WRITE);
  struct socket_message m;
  if (!read(there, &m)) return SYSTEM_CALL_ERROR;
  stage(copy, datagram->frame);
  const uint32_t length = datagram->length < m.room ? datagram->length : (uint32_t)m.room;
  net_find_peer(datagram, &there->peer);
  there->length = length;
  if (!copy(t, m.payload, datagram->payload, length, PAGE_WRITE)) return SYSTEM_CALL_ERROR;
  stage(context_switch, datagram->frame);
  return 0;
}

int64_t message_send(const struct thread* t, uint8_t* to, uint32_t most, struct net_peer* peer) {
  struct socket_message m;
  if (!read(find(t, PAGE_READ), &m) || m.length > most) return -1;
  const void* user = address_space_find(&t->process->space, m.payload, 1, PAGE_READ);
  if (user == 0) return -1;
  stage(copy, user);
  if (!copy(t, m.payload, to, m.length, PAGE_READ)) return -1;
  bind(to - UDP_FRAME_HEADER_BYTES, m.length + UDP_FRAME_HEADER_BYTES, user);
  *peer = m.peer;
  return m.length;
}
