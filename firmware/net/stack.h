/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/net/stack.h: Ethernet, ARP, ICMP echo, IPv4 and UDP, one interface; tcp.h has the little TCP there is.
 * Replies are built in the buffer of the frame that they answer. Nothing here keeps state between frames except
 * counters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "firmware/drivers/nic.h"
#include "firmware/net/wire.h"

/* Counts what became of frames. Each queue has its own, so that harts do not share them. */
struct net_counters {
  uint64_t udp, tcp, arp, icmp; /* frames handed on or answered */
  uint64_t ethernet_ignored;    /* neither ARP nor IPv4, or shorter than its header */
  uint64_t arp_ignored;         /* not a request for our address, or malformed */
  uint64_t ipv4_malformed;      /* version, lengths, checksum, source address */
  uint64_t ipv4_fragments;
  uint64_t ipv4_ignored;  /* sent to another address, or another protocol */
  uint64_t icmp_ignored;  /* no echo request, or checksum wrong */
  uint64_t tcp_ignored;   /* malformed, or needs no answer */
  uint64_t udp_malformed; /* length or checksum */
};

struct net_interface {
  struct nic_queue* queue;
  uint32_t ipv4; /* own address, as on the wire */
  uint8_t mac[6];
  bool rx_checksum, tx_checksum; /* the NIC handles checksums itself */
  uint32_t max_frame, buffer_bytes;
  /* Source address and type in the Ethernet header of a reply, as two 32-bit words of memory: mac[0..3]; mac[4..5] and
   * type. */
  uint32_t mac_low, mac_high_type;
  struct net_counters counters;
};

/* A received UDP datagram, or an RPC record in a TCP segment, in its frame. */
struct net_datagram {
  uint8_t* frame;
  const struct ipv4_header* ip;
  const struct udp_header* udp; /* with TCP, only its ports are valid */
  uint8_t* payload;
  uint32_t length;              /* of the payload, bytes */
  const struct tcp_header* tcp; /* only where reply is tcp_reply() */
  /* How it is answered, where it has not come as a UDP datagram in a frame; 0 where it has. As net_reply(). */
  void (*reply)(struct net_interface* interface, const struct net_datagram* datagram, void* payload, uint32_t length);
};

/* A station and a UDP port there, as on the wire. */
struct net_peer {
  uint8_t mac[6];
  uint16_t port;
  uint32_t ipv4;
};

void net_setup(struct net_interface* interface, const struct nic* nic, unsigned queue, uint32_t ipv4);

/* Takes a received frame. True: the frame is a valid UDP datagram for us, or an RPC record in a TCP segment; it is now
 * in `datagram`, and net_reply() or net_drop() must end it. False: the stack has dealt with the frame. */
bool net_receive(struct net_interface* interface, const struct nic_frame* frame, struct net_datagram* datagram);

/* Answers a datagram: sends `length` bytes at `payload`, which lies in the datagram's buffer at or behind the
 * datagram's payload and is aligned to 4. The headers are written in front of it. */
void net_reply(struct net_interface* interface, const struct net_datagram* datagram, void* payload, uint32_t length);

/* Who has sent a UDP datagram that has come in a frame. */
void net_find_peer(const struct net_datagram* datagram, struct net_peer* peer);

/* Sends `length` bytes at `payload` as a UDP datagram. They lie in a buffer of the driver, aligned to 4, with room for
 * UDP_FRAME_HEADER_BYTES in front of them. own_port: as on the wire. */
void net_send(struct net_interface* interface, const struct net_peer* peer, uint16_t own_port, void* payload,
              uint32_t length);

/* Most bytes of a reply that starts at `payload`. */
static inline uint32_t net_reply_room(const struct net_interface* interface, const void* payload) {
  uint32_t buffer = interface->buffer_bytes - ((uint32_t)(uintptr_t)payload & (NIC_BUFFER_BYTES - 1));
  uint32_t frame = interface->max_frame - UDP_FRAME_HEADER_BYTES;
  return buffer < frame ? buffer : frame;
}

void net_drop(struct net_interface* interface, const struct net_datagram* datagram);
