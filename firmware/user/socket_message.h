/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/user/socket_message.h: what a thread tells the kernel of a datagram that it wants or sends. */
#pragma once

#include <stdint.h>

#include "firmware/net/stack.h"

struct socket_message {
  struct net_peer peer; /* who has sent it, or gets it */
  uint32_t length;      /* of the payload, bytes */
  uint64_t payload;     /* where it is, or is to be put */
  uint64_t room;        /* there, for a datagram that is received */
};
_Static_assert(sizeof(struct socket_message) == 32, "it lies in one page where it is aligned");
