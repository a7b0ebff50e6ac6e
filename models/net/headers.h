// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What a NIC's hardware knows of Ethernet, IPv4 and UDP: header recognition and Internet checksums.
/// Plain C++. Every function takes bytes from outside and reads none beyond the given length.

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::net {

/// What the parser recognised in a received frame.
struct Headers {
  bool ipv4 = false;      ///< version 4, lengths plausible
  bool fragment = false;  ///< IPv4 with an offset or more fragments to come
  bool udp = false;       ///< unfragmented UDP, lengths plausible
  bool ip_checksum_good = false;
  bool udp_checksum_good = false;  ///< a checksum of zero is good
  std::uint16_t length = 0;        ///< bytes of the headers recognised
  std::uint32_t source = 0;        ///< IPv4 addresses and UDP ports in host order
  std::uint32_t destination = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
};
Headers parse_headers(const std::uint8_t* frame, std::size_t length);

/// One's complement sum of big-endian 16-bit words, folded to 16 bits and not complemented; an odd last byte counts as
/// the upper half of a word. The sum of a block that contains its correct checksum is 0xffff.
std::uint16_t internet_sum(const std::uint8_t* bytes, std::size_t length, std::uint32_t initial = 0);

/// Checksum offload on transmit. Lengths are in bytes, as the descriptor gives them. Returns false, and leaves the
/// frame unchanged, when the headers do not lie in the frame or are not those of IPv4 (for UDP: of an unfragmented UDP
/// datagram).
bool insert_ipv4_checksum(std::uint8_t* frame, std::size_t length, unsigned ethernet_length, unsigned ip_length);
bool insert_udp_checksum(std::uint8_t* frame, std::size_t length, unsigned ethernet_length, unsigned ip_length);

}  // namespace sluice::net
