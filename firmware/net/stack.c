/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/net/stack.c */
#include "firmware/net/stack.h"

#include "firmware/kernel/account.h"
#include "firmware/kernel/likely.h"
#include "firmware/kernel/statistics.h"
#include "firmware/net/checksum.h"
#include "firmware/net/tcp.h"

void net_setup(struct net_interface* interface, const struct nic* nic, unsigned queue, uint32_t ipv4) {
  *interface = (struct net_interface){.queue = nic->queue[queue],
                                      .ipv4 = to_be32(ipv4),
                                      .rx_checksum = nic->rx_checksum,
                                      .tx_checksum = nic->tx_checksum,
                                      .max_frame = nic->max_frame,
                                      .buffer_bytes = nic->buffer_bytes};
  const uint8_t* m = nic->mac;
  for (unsigned i = 0; i < 6; i++) interface->mac[i] = m[i];
  interface->mac_low = m[0] | (uint32_t)m[1] << 8 | (uint32_t)m[2] << 16 | (uint32_t)m[3] << 24;
  interface->mac_high_type = m[4] | (uint32_t)m[5] << 8 | (uint32_t)BE16(ETHERNET_IPV4) << 16;
  statistics_add(
      "udp tcp arp icmp ethernet_ignored arp_ignored ipv4_malformed ipv4_fragments ipv4_ignored icmp_ignored "
      "tcp_ignored udp_malformed",
      &interface->counters.udp);
  _Static_assert(sizeof interface->counters == 12 * sizeof(uint64_t), "a name for each");
}

static void send(struct net_interface* interface, uint8_t* frame, uint32_t length, uint32_t kind) {
  interface->queue->driver->transmit(interface->queue, frame, length, kind);
}

static void discard(struct net_interface* interface, uint8_t* frame) {
  interface->queue->driver->release(interface->queue, frame);
}

void net_drop(struct net_interface* interface, const struct net_datagram* datagram) {
  discard(interface, datagram->frame);
}

static bool bytes_equal(const uint8_t* a, const uint8_t* b, unsigned n) {
  for (unsigned i = 0; i < n; i++)
    if (a[i] != b[i]) return false;
  return true;
}

static void copy_bytes(uint8_t* to, const uint8_t* from, unsigned n) {
  for (unsigned i = 0; i < n; i++) to[i] = from[i];
}

static void turn_ethernet(const struct net_interface* interface, struct ethernet_header* ethernet) {
  copy_bytes(ethernet->destination, ethernet->source, 6);
  copy_bytes(ethernet->source, interface->mac, 6);
}

/* Answers a request for our address; false if there is nothing to answer. */
static bool answer_arp(struct net_interface* interface, uint8_t* frame, uint32_t length) {
  struct arp_packet* arp = (struct arp_packet*)(frame + ETHERNET_HEADER_BYTES);
  if (length < ETHERNET_HEADER_BYTES + ARP_PACKET_BYTES || arp->hardware != BE16(ARP_ETHERNET) ||
      arp->protocol != BE16(ETHERNET_IPV4) || arp->hardware_length != 6 || arp->protocol_length != 4 ||
      arp->operation != BE16(ARP_REQUEST) || !bytes_equal(arp->target_ip, (const uint8_t*)&interface->ipv4, 4)) {
    return false;
  }
  turn_ethernet(interface, (struct ethernet_header*)frame);
  arp->operation = BE16(ARP_REPLY);
  copy_bytes(arp->target_mac, arp->sender_mac, 6);
  copy_bytes(arp->target_ip, arp->sender_ip, 4);
  copy_bytes(arp->sender_mac, interface->mac, 6);
  copy_bytes(arp->sender_ip, (const uint8_t*)&interface->ipv4, 4);
  send(interface, frame, ETHERNET_HEADER_BYTES + ARP_PACKET_BYTES, NIC_SEND_PLAIN);
  return true;
}

/* `length` is IPv4's payload. The reply has the request's bytes with the addresses exchanged, so that IPv4's checksum
 * stays right; ICMP's is adjusted for the new type. */
static bool answer_echo(struct net_interface* interface, uint8_t* frame, struct ipv4_header* ip, uint32_t header,
                        uint32_t length) {
  struct icmp_echo* echo = (struct icmp_echo*)((uint8_t*)ip + header);
  if (length < ICMP_ECHO_BYTES || echo->type != ICMP_ECHO_REQUEST || echo->code != 0 ||
      checksum_finish(checksum_add(0, echo, length)) != 0) {
    return false;
  }
  turn_ethernet(interface, (struct ethernet_header*)frame);
  ip->destination = ip->source;
  ip->source = interface->ipv4;
  echo->type = ICMP_ECHO_REPLY;
  uint32_t sum = from_be16(echo->checksum) + (uint32_t)(ICMP_ECHO_REQUEST << 8);
  echo->checksum = to_be16((uint16_t)((sum & 0xffffu) + (sum >> 16)));
  send(interface, frame, ETHERNET_HEADER_BYTES + header + length, NIC_SEND_PLAIN);
  return true;
}

/* Whether the first octet may be that of a host: not 0 (this network), 127 (loopback), or 224 and above (multicast,
 * reserved, broadcast). */
static bool address_can_send(uint32_t address) {
  uint32_t octet = address & 0xffu;
  return octet - 1u < 223u && octet != 127u;
}

COLD static bool header_checksum_right(const struct ipv4_header* ip, uint32_t header) {
  return checksum_finish(checksum_add(0, ip, header)) == 0;
}

COLD static bool udp_checksum_right(const struct ipv4_header* ip, const struct udp_header* udp, uint32_t length) {
  if (udp->checksum == 0) return true;
  uint64_t sum = (uint64_t)BE16(IPV4_UDP) + udp->length;
  sum = checksum_add(sum, &ip->source, 8);
  return checksum_finish(checksum_add(sum, udp, length)) == 0;
}

COLD static bool count_and_discard(struct net_interface* interface, const struct nic_frame* frame, uint64_t* counter) {
  ++*counter;
  discard(interface, frame->data);
  return false;
}

COLD static bool receive_other(struct net_interface* interface, const struct nic_frame* frame, struct ipv4_header* ip,
                               uint32_t header, uint32_t length, struct net_datagram* datagram) {
  struct net_counters* counters = &interface->counters;
  if (ip->protocol == IPV4_TCP) return tcp_receive(interface, frame, ip, header, length - header, datagram);
  if (ip->protocol != IPV4_ICMP) return count_and_discard(interface, frame, &counters->ipv4_ignored);
  if (!answer_echo(interface, frame->data, ip, header, length - header)) {
    return count_and_discard(interface, frame, &counters->icmp_ignored);
  }
  counters->icmp++;
  return false;
}

COLD static bool receive_non_ipv4(struct net_interface* interface, const struct nic_frame* frame) {
  struct net_counters* counters = &interface->counters;
  const struct ethernet_header* ethernet = (const struct ethernet_header*)frame->data;
  if (frame->length < ETHERNET_HEADER_BYTES || ethernet->type != BE16(ETHERNET_ARP)) {
    return count_and_discard(interface, frame, &counters->ethernet_ignored);
  }
  if (!answer_arp(interface, frame->data, frame->length)) {
    return count_and_discard(interface, frame, &counters->arp_ignored);
  }
  counters->arp++;
  return false;
}

/* The part of net_receive() that reads what follows the Ethernet header. The frame holds all `header` bytes of the IPv4
 * header. */
__attribute__((always_inline)) static inline bool receive_ipv4(struct net_interface* interface,
                                                               const struct nic_frame* frame,
                                                               struct net_datagram* datagram, uint32_t header) {
  struct net_counters* counters = &interface->counters;
  struct ipv4_header* ip = (struct ipv4_header*)(frame->data + ETHERNET_HEADER_BYTES);
  uint32_t length = from_be16(ip->length);
  uint32_t flags = frame->flags;
  if (unlikely(length < header || length > frame->length - ETHERNET_HEADER_BYTES || (flags & NIC_FRAME_IP_ERROR) != 0 ||
               !address_can_send(ip->source))) {
    return count_and_discard(interface, frame, &counters->ipv4_malformed);
  }
  bool unchecked = (flags & NIC_FRAME_CHECKED) == 0;
  if (unlikely(unchecked) && !header_checksum_right(ip, header)) {
    return count_and_discard(interface, frame, &counters->ipv4_malformed);
  }
  if (unlikely(ip->destination != interface->ipv4)) {
    return count_and_discard(interface, frame, &counters->ipv4_ignored);
  }
  if (unlikely((ip->fragment & BE16(IPV4_MORE_OR_OFFSET)) != 0)) {
    return count_and_discard(interface, frame, &counters->ipv4_fragments);
  }
  if (unlikely(ip->protocol != IPV4_UDP)) return receive_other(interface, frame, ip, header, length, datagram);

  const struct udp_header* udp = (const struct udp_header*)((const uint8_t*)ip + header);
  uint32_t room = length - header;
  uint32_t udp_length = likely(room >= UDP_HEADER_BYTES) ? from_be16(udp->length) : 0;
  if (unlikely(udp_length < UDP_HEADER_BYTES || udp_length > room || (flags & NIC_FRAME_L4_ERROR) != 0)) {
    return count_and_discard(interface, frame, &counters->udp_malformed);
  }
  if (unlikely(unchecked) && !udp_checksum_right(ip, udp, udp_length)) {
    return count_and_discard(interface, frame, &counters->udp_malformed);
  }
  counters->udp++;
  datagram->frame = frame->data;
  datagram->ip = ip;
  datagram->udp = udp;
  datagram->payload = (uint8_t*)ip + header + UDP_HEADER_BYTES;
  datagram->length = udp_length - UDP_HEADER_BYTES;
  datagram->reply = 0;
  return true;
}

COLD static bool receive_ipv4_with_options(struct net_interface* interface, const struct nic_frame* frame,
                                           struct net_datagram* datagram, uint32_t version_length) {
  uint32_t header = (version_length & 0xfu) * 4;
  if (version_length >> 4 != 4 || header < IPV4_HEADER_BYTES || header > frame->length - ETHERNET_HEADER_BYTES) {
    return count_and_discard(interface, frame, &interface->counters.ipv4_malformed);
  }
  return receive_ipv4(interface, frame, datagram, header);
}

bool net_receive(struct net_interface* interface, const struct nic_frame* frame, struct net_datagram* datagram) {
  uint8_t* data = frame->data;
  stage(demultiplex, data);
  const struct ethernet_header* ethernet = (const struct ethernet_header*)data;
  if (unlikely(frame->length < ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES || ethernet->type != BE16(ETHERNET_IPV4))) {
    return receive_non_ipv4(interface, frame);
  }
  stage(kernel_protocol, data);
  uint32_t version_length = data[ETHERNET_HEADER_BYTES];
  if (unlikely(version_length != IPV4_VERSION_LENGTH)) {
    return receive_ipv4_with_options(interface, frame, datagram, version_length);
  }
  return receive_ipv4(interface, frame, datagram, IPV4_HEADER_BYTES);
}

COLD static void insert_checksums(struct ipv4_header* ip, struct udp_header* udp, uint32_t udp_length) {
  ip->checksum = checksum_finish(checksum_add(0, ip, IPV4_HEADER_BYTES));
  uint64_t sum = (uint64_t)BE16(IPV4_UDP) + udp->length;
  sum = checksum_add(sum, &ip->source, 8);
  uint16_t checksum = checksum_finish(checksum_add(sum, udp, udp_length));
  udp->checksum = checksum != 0 ? checksum : 0xffff; /* zero would mean that there is none */
}

/* Where a datagram goes, as words of memory: the station's address in two parts, the IPv4 address, and both ports as
 * the UDP header has them. */
struct destination {
  uint32_t mac_low, mac_high, ipv4, ports;
};

static inline __attribute__((always_inline)) void send_udp(struct net_interface* interface, struct destination to,
                                                           void* payload, uint32_t length) {
  uint32_t udp_length = length + UDP_HEADER_BYTES;
  struct udp_header* udp = (struct udp_header*)((uint8_t*)payload - UDP_HEADER_BYTES);
  struct ipv4_header* ip = (struct ipv4_header*)udp - 1;
  uint8_t* frame = (uint8_t*)ip - ETHERNET_HEADER_BYTES;
  uint32_t* words = (uint32_t*)ip;
  *(uint16_t*)frame = (uint16_t)to.mac_low;
  words[-3] = to.mac_low >> 16 | to.mac_high << 16;
  words[-2] = interface->mac_low;
  words[-1] = interface->mac_high_type;
  words[0] = IPV4_VERSION_LENGTH | (uint32_t)to_be16((uint16_t)(udp_length + IPV4_HEADER_BYTES)) << 16;
  words[1] = (uint32_t)BE16(IPV4_DONT_FRAGMENT) << 16;
  words[2] = IPV4_TIME_TO_LIVE | IPV4_UDP << 8;
  words[3] = interface->ipv4;
  words[4] = to.ipv4;
  words[5] = to.ports;
  words[6] = to_be16((uint16_t)udp_length);
  if (unlikely(!interface->tx_checksum)) insert_checksums(ip, udp, udp_length);
  send(interface, frame, length + UDP_FRAME_HEADER_BYTES, interface->tx_checksum ? NIC_SEND_UDP : NIC_SEND_PLAIN);
}

void net_reply(struct net_interface* interface, const struct net_datagram* datagram, void* payload, uint32_t length) {
  stage(kernel_protocol, datagram->frame);
  if (unlikely(datagram->reply != 0)) return datagram->reply(interface, datagram, payload, length);
  /* The new headers may overlap the old ones: read first. */
  const uint8_t* frame = datagram->frame;
  const uint32_t ports = *(const uint32_t*)datagram->udp;
  const struct destination to = {*(const uint32_t*)(frame + 6), *(const uint16_t*)(frame + 10), datagram->ip->source,
                                 ports << 16 | ports >> 16};
  send_udp(interface, to, payload, length);
}

void net_find_peer(const struct net_datagram* datagram, struct net_peer* peer) {
  copy_bytes(peer->mac, datagram->frame + 6, 6);
  peer->port = datagram->udp->source;
  peer->ipv4 = datagram->ip->source;
}

void net_send(struct net_interface* interface, const struct net_peer* peer, uint16_t own_port, void* payload,
              uint32_t length) {
  const uint8_t* m = peer->mac;
  const struct destination to = {m[0] | (uint32_t)m[1] << 8 | (uint32_t)m[2] << 16 | (uint32_t)m[3] << 24,
                                 m[4] | (uint32_t)m[5] << 8, peer->ipv4, own_port | (uint32_t)peer->port << 16};
  send_udp(interface, to, payload, length);
}
