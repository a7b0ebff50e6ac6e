/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/net/tcp.c */
#include "firmware/net/tcp.h"

#include "firmware/kernel/likely.h"
#include "firmware/net/checksum.h"
#include "protocols/rpc/onc_rpc.h"

#define WINDOW 4096u            /* more than the one segment that a call may take */
#define SENT_MAX (1u << 24)     /* most bytes sent on one connection */
#define RECORD_LAST 0x80000000u /* record mark (RFC 5531, 11): last fragment; length in the other bits */

/* Fields of a segment that its reply needs, read before the reply overwrites them. */
struct segment {
  uint8_t peer_mac[6];
  uint32_t peer;
  uint16_t peer_port, own_port;
  uint32_t sequence, acknowledgment;
};

static uint64_t segment_sum(const struct ipv4_header* ip, const void* tcp, uint32_t length) {
  uint64_t sum = (uint64_t)BE16(IPV4_TCP) + to_be16((uint16_t)length);
  return checksum_add(checksum_add(sum, &ip->source, 8), tcp, length);
}

/* Our first sequence number on a connection: a function of its addresses, so that it need not be remembered. */
static uint32_t first_sequence(const struct segment* s) {
  uint32_t x = s->peer ^ ((uint32_t)s->peer_port << 16 | s->own_port);
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

static void read_segment(const uint8_t* frame, const struct ipv4_header* ip, const struct tcp_header* tcp,
                         struct segment* s) {
  __builtin_memcpy(s->peer_mac, frame + 6, 6);
  s->peer = ip->source;
  s->peer_port = tcp->source;
  s->own_port = tcp->destination;
  s->sequence = from_be32(tcp->sequence);
  s->acknowledgment = from_be32(tcp->acknowledgment);
}

/* Sends a segment whose data, `length` bytes, already lie at `data`; the headers go in front. */
static void send_segment(struct net_interface* interface, const struct segment* to, uint8_t* data, uint32_t length,
                         uint32_t sequence, uint32_t acknowledgment, uint32_t flags) {
  struct tcp_header* tcp = (struct tcp_header*)data - 1;
  struct ipv4_header* ip = (struct ipv4_header*)tcp - 1;
  struct ethernet_header* ethernet = (struct ethernet_header*)((uint8_t*)ip - ETHERNET_HEADER_BYTES);
  uint32_t tcp_length = TCP_HEADER_BYTES + length;
  __builtin_memcpy(ethernet->destination, to->peer_mac, 6);
  __builtin_memcpy(ethernet->source, interface->mac, 6);
  ethernet->type = BE16(ETHERNET_IPV4);
  *ip = (struct ipv4_header){.version_length = IPV4_VERSION_LENGTH,
                             .length = to_be16((uint16_t)(IPV4_HEADER_BYTES + tcp_length)),
                             .fragment = BE16(IPV4_DONT_FRAGMENT),
                             .time_to_live = IPV4_TIME_TO_LIVE,
                             .protocol = IPV4_TCP,
                             .source = interface->ipv4,
                             .destination = to->peer};
  ip->checksum = checksum_finish(checksum_add(0, ip, IPV4_HEADER_BYTES));
  *tcp = (struct tcp_header){.source = to->own_port,
                             .destination = to->peer_port,
                             .sequence = to_be32(sequence),
                             .acknowledgment = to_be32(acknowledgment),
                             .offset = TCP_HEADER_BYTES / 4 << 4,
                             .flags = (uint8_t)flags,
                             .window = BE16(WINDOW)};
  tcp->checksum = checksum_finish(segment_sum(ip, tcp, tcp_length));
  interface->queue->driver->transmit(interface->queue, (uint8_t*)ethernet,
                                     UDP_FRAME_HEADER_BYTES - UDP_HEADER_BYTES + tcp_length, NIC_SEND_PLAIN);
}

/* Answers everything but data; false if no answer is needed. `end` is the sequence number after the segment. */
static bool answer_control(struct net_interface* interface, uint8_t* data, const struct segment* s, uint32_t flags,
                           uint32_t end) {
  uint32_t first = first_sequence(s);
  if ((flags & TCP_RST) != 0) return false;
  if (s->own_port != BE16(RPC_PORT_PORTMAPPER) || ((flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK)) ||
      ((flags & TCP_SYN) == 0 && s->acknowledgment - first - 1 > SENT_MAX)) {
    send_segment(interface, s, data, 0, s->acknowledgment, end, TCP_RST | TCP_ACK);
  } else if ((flags & TCP_SYN) != 0) {
    send_segment(interface, s, data, 0, first, end, TCP_SYN | TCP_ACK);
  } else if ((flags & TCP_FIN) != 0) {
    send_segment(interface, s, data, 0, s->acknowledgment, end, TCP_FIN | TCP_ACK);
  } else {
    return false;
  }
  return true;
}

static bool drop(struct net_interface* interface, const struct nic_frame* frame) {
  interface->counters.tcp_ignored++;
  interface->queue->driver->release(interface->queue, frame->data);
  return false;
}

COLD bool tcp_receive(struct net_interface* interface, const struct nic_frame* frame, struct ipv4_header* ip,
                      uint32_t header, uint32_t length, struct net_datagram* datagram) {
  struct tcp_header* tcp = (struct tcp_header*)((uint8_t*)ip + header);
  uint32_t tcp_header = length >= TCP_HEADER_BYTES ? (tcp->offset >> 4) * 4u : 0;
  if (tcp_header < TCP_HEADER_BYTES || tcp_header > length || checksum_finish(segment_sum(ip, tcp, length)) != 0) {
    return drop(interface, frame);
  }
  struct segment s;
  read_segment(frame->data, ip, tcp, &s);
  uint8_t* data = (uint8_t*)tcp + tcp_header;
  uint32_t bytes = length - tcp_header;
  bool is_data = bytes != 0 && (tcp->flags & (TCP_SYN | TCP_RST | TCP_ACK)) == TCP_ACK &&
                 s.own_port == BE16(RPC_PORT_PORTMAPPER) && s.acknowledgment - first_sequence(&s) - 1 <= SENT_MAX;
  if (!is_data) {
    uint32_t end = s.sequence + bytes + ((tcp->flags & TCP_SYN) != 0) + ((tcp->flags & TCP_FIN) != 0);
    if (!answer_control(interface, data, &s, tcp->flags, end)) return drop(interface, frame);
    interface->counters.tcp++;
    return false;
  }
  if (bytes < 4 || *(const uint32_t*)data != to_be32(RECORD_LAST | (bytes - 4))) return drop(interface, frame);
  interface->counters.tcp++;
  *datagram = (struct net_datagram){.frame = frame->data,
                                    .ip = ip,
                                    .udp = (const struct udp_header*)tcp,
                                    .payload = data + 4,
                                    .length = bytes - 4,
                                    .tcp = tcp,
                                    .reply = tcp_reply};
  return true;
}

COLD void tcp_reply(struct net_interface* interface, const struct net_datagram* datagram, void* payload,
                    uint32_t length) {
  struct segment s;
  read_segment(datagram->frame, datagram->ip, datagram->tcp, &s);
  uint8_t* record = (uint8_t*)payload - 4;
  *(uint32_t*)record = to_be32(RECORD_LAST | length);
  send_segment(interface, &s, record, length + 4, s.acknowledgment, s.sequence + 4 + datagram->length,
               TCP_PSH | TCP_ACK);
}
