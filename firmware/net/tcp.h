/* firmware/net/tcp.h: just enough TCP for calls to the portmapper (rpcinfo -p asks by no other way). It keeps no
 * connections: every segment is answered from what it says itself, so each call must come whole in one segment and its
 * reply leave in one, as the portmapper's do. A lost reply is made again when the client repeats its call. */
#pragma once

#include "firmware/net/stack.h"

/* Takes a TCP segment of `length` bytes behind an IPv4 header of `header` bytes. True: it carries an RPC record, now in
 * `datagram`. False: it has been dealt with. */
bool tcp_receive(struct net_interface* interface, const struct nic_frame* frame, struct ipv4_header* ip,
                 uint32_t header, uint32_t length, struct net_datagram* datagram);

/* net_reply() of such a datagram. */
void tcp_reply(struct net_interface* interface, const struct net_datagram* datagram, void* payload, uint32_t length);
