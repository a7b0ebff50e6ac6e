/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/net/tcp.h: just enough TCP for calls to the portmapper (rpcinfo -p uses TCP only). It keeps no connections:
 * it answers each segment from that segment's contents alone. So each call and each reply must fit in one segment, as
 * those of the portmapper do. When a reply is lost, the client repeats its call and gets a new one. */
#pragma once

#include "firmware/net/stack.h"

/* Takes a TCP segment of `length` bytes that follows an IPv4 header of `header` bytes. True: it carries an RPC record,
 * now in `datagram`. False: the segment has been dealt with. */
bool tcp_receive(struct net_interface* interface, const struct nic_frame* frame, struct ipv4_header* ip,
                 uint32_t header, uint32_t length, struct net_datagram* datagram);

/* net_reply() for a datagram that came by TCP. */
void tcp_reply(struct net_interface* interface, const struct net_datagram* datagram, void* payload, uint32_t length);
