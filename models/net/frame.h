// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Ethernet, ARP, IPv4, ICMP and UDP as far as remote hosts need them: building frames and taking received ones apart.
/// Plain C++. Numbers are in host order here and in network order (big-endian) in frames.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/net/packet.h"

namespace sluice::net {

inline std::uint16_t load16(const std::uint8_t* p) { return static_cast<std::uint16_t>(p[0] << 8 | p[1]); }
inline std::uint32_t load32(const std::uint8_t* p) {
  std::uint32_t v;
  std::memcpy(&v, p, 4);
  return __builtin_bswap32(v);
}
inline void store16(std::uint8_t* p, std::uint32_t v) {
  p[0] = static_cast<std::uint8_t>(v >> 8);
  p[1] = static_cast<std::uint8_t>(v);
}
inline void store32(std::uint8_t* p, std::uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, 4);
}

struct MacAddress {
  std::array<std::uint8_t, 6> bytes{};
  bool operator==(const MacAddress&) const = default;
  static constexpr MacAddress broadcast() { return {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}; }
};
using Ipv4Address = std::uint32_t;
std::string to_text(const MacAddress&);    ///< "02:00:00:00:00:01"
std::string ipv4_text(Ipv4Address);        ///< "10.0.0.2"
MacAddress parse_mac(std::string_view);    ///< throws base::ValueError: "must be a MAC address such as ..."
Ipv4Address parse_ipv4(std::string_view);  ///< throws base::ValueError: "must be an IPv4 address such as 10.0.0.2"

// Parse the address of a single host. They also throw base::ValueError for multicast, broadcast, loopback and
// unspecified addresses.
MacAddress parse_host_mac(std::string_view);
Ipv4Address parse_host_ipv4(std::string_view);

constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
constexpr std::uint16_t kEtherTypeArp = 0x0806;
constexpr std::uint8_t kProtocolIcmp = 1;
constexpr std::uint8_t kProtocolUdp = 17;
constexpr unsigned kEthernetHeader = 14;
constexpr unsigned kIpv4Header = 20;  ///< without options
constexpr unsigned kUdpHeader = 8;
constexpr unsigned kUdpPayload = kEthernetHeader + kIpv4Header + kUdpHeader;  ///< offset of a UDP frame's payload
constexpr unsigned kArpFrame = kEthernetHeader + 28;
constexpr std::uint32_t kMtu = 1500;  ///< bytes of an IPv4 packet, unless the board has jumbo frames

/// The one's complement sum of 16-bit words (RFC 1071), not yet folded. Sums of parts that start at even offsets can be
/// added.
std::uint64_t checksum_sum(const void* bytes, std::size_t length, std::uint64_t sum = 0);
/// The checksum field for a sum: folded and complemented, in host order.
std::uint16_t checksum_of(std::uint64_t sum);

/// One side of a conversation.
struct Endpoint {
  MacAddress mac;
  Ipv4Address ip = 0;
  std::uint16_t port = 0;
};

/// Completes a UDP frame whose payload already stands at kUdpPayload: writes all headers, lengths and checksums, and
/// the frame's length, without padding. payload: at most Packet::kCapacity - kUdpPayload bytes. The Don't Fragment bit
/// is set, so the IPv4 identification is 0 (RFC 6864).
void finish_udp(Packet&, const Endpoint& from, const Endpoint& to, std::uint32_t payload);

enum class ArpOperation : std::uint16_t { request = 1, reply = 2 };
/// Builds an ARP packet about `sender` and `target`. A request is broadcast; a reply goes to the target.
void build_arp(Packet&, ArpOperation, const Endpoint& sender, const Endpoint& target);

/// Builds an ICMP echo request (type 8) or reply (type 0) with these payload bytes.
void build_icmp_echo(Packet&, std::uint8_t type, const Endpoint& from, const Endpoint& to, std::uint16_t identifier,
                     std::uint16_t sequence, const void* payload, std::uint32_t length);

/// What a received frame is. Offsets are from the frame's first byte.
struct FrameView {
  enum class Kind {
    other,  ///< neither ARP nor IPv4, a fragment, or another IP protocol
    arp,
    icmp,
    udp,
  };
  Kind kind = Kind::other;
  std::uint16_t ether_type = 0;
  Endpoint from;             ///< MAC addresses are from the Ethernet header, or in ARP from the ARP packet
  Endpoint to;               ///< ports only for UDP
  ArpOperation operation{};  ///< of ARP
  std::uint8_t icmp_type = 0;
  std::uint8_t icmp_code = 0;
  std::uint32_t payload = 0;  ///< offset of what follows the UDP header or the first 8 bytes of ICMP
  std::uint32_t length = 0;   ///< bytes of the payload, without padding
};

/// Takes a frame apart and checks lengths and checksums of IPv4, ICMP and UDP. Returns null for a valid frame (kind
/// `other` is valid too), else what is wrong with it. Never reads beyond `length`.
const char* parse_frame(const std::uint8_t* frame, std::size_t length, FrameView& view);

/// Turns a frame around in place: swaps MAC addresses, IPv4 addresses and UDP ports; all checksums stay right. An ICMP
/// echo request becomes a reply. A frame that is neither ARP nor IPv4 has only its MAC addresses swapped. Returns false
/// and changes nothing for ARP, other ICMP messages and broken frames.
bool reflect(Packet&);

}  // namespace sluice::net
