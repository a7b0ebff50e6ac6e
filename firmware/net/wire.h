/* SPDX-License-Identifier: Apache-2.0 */
/* firmware/net/wire.h: the layout of packet headers, and the byte order of their fields. In a NIC buffer the Ethernet
 * header starts 2 bytes after a multiple of 4, so all fields below are naturally aligned. */
#pragma once

#include <stdint.h>

#include "models/base/freestanding.h"

/* Big-endian fields. Constants convert at compile time. */
#define BE16(x) ((uint16_t)((((x)&0xffu) << 8) | (((x) >> 8) & 0xffu)))
#define BE32(x) __builtin_bswap32(x)

/* The swap uses 64 bits, because RISC-V can only reverse the bytes of a whole register. */
static inline uint16_t from_be16(uint16_t x) { return (uint16_t)(__builtin_bswap64(x) >> 48); }
static inline uint16_t to_be16(uint16_t x) { return (uint16_t)(__builtin_bswap64(x) >> 48); }
static inline uint32_t from_be32(uint32_t x) { return __builtin_bswap32(x); }
static inline uint32_t to_be32(uint32_t x) { return __builtin_bswap32(x); }

struct ethernet_header {
  uint8_t destination[6];
  uint8_t source[6];
  uint16_t type;
};
#define ETHERNET_HEADER_BYTES 14u
#define ETHERNET_IPV4 0x0800u
#define ETHERNET_ARP 0x0806u

struct arp_packet { /* Ethernet and IPv4 */
  uint16_t hardware, protocol;
  uint8_t hardware_length, protocol_length;
  uint16_t operation;
  uint8_t sender_mac[6], sender_ip[4], target_mac[6], target_ip[4];
};
#define ARP_PACKET_BYTES 28u
#define ARP_ETHERNET 1u
#define ARP_REQUEST 1u
#define ARP_REPLY 2u

struct ipv4_header {
  uint8_t version_length; /* 0x45: version 4, five words */
  uint8_t service;
  uint16_t length; /* header and data */
  uint16_t identification;
  uint16_t fragment; /* flags in 15:13, offset in 12:0 */
  uint8_t time_to_live;
  uint8_t protocol;
  uint16_t checksum;
  uint32_t source, destination;
};
#define IPV4_HEADER_BYTES 20u
#define IPV4_VERSION_LENGTH 0x45u
#define IPV4_DONT_FRAGMENT 0x4000u
#define IPV4_MORE_OR_OFFSET 0x3fffu
#define IPV4_ICMP 1u
#define IPV4_TCP 6u
#define IPV4_UDP 17u
#define IPV4_TIME_TO_LIVE 64u

struct icmp_echo {
  uint8_t type, code;
  uint16_t checksum;
  uint16_t identifier, sequence;
};
#define ICMP_ECHO_BYTES 8u
#define ICMP_ECHO_REQUEST 8u
#define ICMP_ECHO_REPLY 0u

struct udp_header {
  uint16_t source, destination;
  uint16_t length; /* header and data */
  uint16_t checksum;
};
#define UDP_HEADER_BYTES 8u

struct tcp_header {
  uint16_t source, destination;
  uint32_t sequence, acknowledgment;
  uint8_t offset; /* of the data, 4 B units, in bits 7:4 */
  uint8_t flags;
  uint16_t window, checksum, urgent;
};
#define TCP_HEADER_BYTES 20u
#define TCP_FIN 0x01u
#define TCP_SYN 0x02u
#define TCP_RST 0x04u
#define TCP_PSH 0x08u
#define TCP_ACK 0x10u

/* Size of all headers before a reply's payload. */
#define UDP_FRAME_HEADER_BYTES (ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + UDP_HEADER_BYTES)
#define ETHERNET_MIN_FRAME 60u /* without FCS */

_Static_assert(sizeof(struct ethernet_header) == ETHERNET_HEADER_BYTES, "Ethernet");
_Static_assert(sizeof(struct arp_packet) == ARP_PACKET_BYTES, "ARP");
_Static_assert(sizeof(struct ipv4_header) == IPV4_HEADER_BYTES, "IPv4");
_Static_assert(sizeof(struct udp_header) == UDP_HEADER_BYTES, "UDP");
_Static_assert(sizeof(struct tcp_header) == TCP_HEADER_BYTES, "TCP");
