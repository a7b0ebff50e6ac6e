#pragma once
/// What a NIC's hardware knows of Ethernet, IPv4 and UDP: header recognition, Internet checksums, Toeplitz hash.
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

/// One's complement sum of big-endian 16-bit words, folded to 16 bits and not complemented; an odd last byte is the
/// upper half of a word. A block that contains its right checksum sums to 0xffff.
std::uint16_t internet_sum(const std::uint8_t* bytes, std::size_t length, std::uint32_t initial = 0);

/// Checksum offload on transmit. Lengths in bytes as the descriptor gives them. False, and the frame is unchanged or
/// half done, when the headers do not lie in the frame or are no unfragmented IPv4 (UDP: with 8 B of UDP header).
bool insert_ipv4_checksum(std::uint8_t* frame, std::size_t length, unsigned ethernet_length, unsigned ip_length);
bool insert_udp_checksum(std::uint8_t* frame, std::size_t length, unsigned ethernet_length, unsigned ip_length);

/// Toeplitz hash over up to 12 octets (two addresses, two ports), by tables of one octet each.
class Toeplitz {
 public:
  static constexpr unsigned kKeyOctets = 52;
  static constexpr unsigned kInput = 12;

  Toeplitz() { set_key({}); }
  void set_key(const std::array<std::uint8_t, kKeyOctets>& key);
  std::uint32_t hash(const std::uint8_t* input, unsigned octets) const {
    std::uint32_t h = 0;
    for (unsigned i = 0; i < octets; ++i) h ^= table_[i][input[i]];
    return h;
  }
  /// Over source and destination address and, if asked, source and destination port.
  std::uint32_t hash(const Headers&, bool with_ports) const;

 private:
  std::array<std::array<std::uint32_t, 256>, kInput> table_;
};

}  // namespace sluice::net
