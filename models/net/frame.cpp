// SPDX-License-Identifier: Apache-2.0
#include "models/net/frame.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "models/base/parameters/quantity.h"

namespace sluice::net {

namespace {

constexpr std::uint8_t kIcmpEchoReply = 0;
constexpr std::uint8_t kIcmpEchoRequest = 8;

void put_ethernet(std::uint8_t* frame, const MacAddress& from, const MacAddress& to, std::uint16_t type) {
  std::memcpy(frame, to.bytes.data(), 6);
  std::memcpy(frame + 6, from.bytes.data(), 6);
  store16(frame + 12, type);
}

void put_ipv4(std::uint8_t* ip, Ipv4Address from, Ipv4Address to, std::uint8_t protocol, std::uint32_t length) {
  ip[0] = 0x45;
  ip[1] = 0;
  store16(ip + 2, length);
  store16(ip + 4, 0);
  store16(ip + 6, 0x4000);  // do not fragment
  ip[8] = 64;
  ip[9] = protocol;
  store16(ip + 10, 0);
  store32(ip + 12, from);
  store32(ip + 16, to);
  store16(ip + 10, checksum_of(checksum_sum(ip, kIpv4Header)));
}

/// Sum of those fields of the IP header that UDP's checksum covers.
std::uint64_t pseudo_header(Ipv4Address from, Ipv4Address to, std::uint32_t udp_length) {
  std::uint8_t pseudo[12];
  store32(pseudo, from);
  store32(pseudo + 4, to);
  store16(pseudo + 8, kProtocolUdp);
  store16(pseudo + 10, udp_length);
  return checksum_sum(pseudo, sizeof pseudo);
}

MacAddress mac_at(const std::uint8_t* p) {
  MacAddress mac;
  std::memcpy(mac.bytes.data(), p, 6);
  return mac;
}

const char* parse_arp(const std::uint8_t* arp, std::size_t length, FrameView& v) {
  if (length < 28) return "ARP packet is cut short";
  if (load16(arp) != 1 || load16(arp + 2) != kEtherTypeIpv4 || arp[4] != 6 || arp[5] != 4)
    return "ARP is not for IPv4 over Ethernet";
  v.kind = FrameView::Kind::arp;
  v.operation = static_cast<ArpOperation>(load16(arp + 6));
  v.from = {mac_at(arp + 8), load32(arp + 14), 0};
  v.to = {mac_at(arp + 18), load32(arp + 24), 0};
  return nullptr;
}

const char* parse_udp(const std::uint8_t* udp, std::uint32_t length, FrameView& v) {
  if (length < kUdpHeader) return "UDP header is cut short";
  const std::uint32_t udp_length = load16(udp + 4);
  if (udp_length < kUdpHeader || udp_length > length) return "UDP length is wrong";
  if (load16(udp + 6) != 0 && checksum_of(checksum_sum(udp, udp_length, pseudo_header(v.from.ip, v.to.ip, udp_length))))
    return "UDP checksum is wrong";
  v.kind = FrameView::Kind::udp;
  v.from.port = load16(udp);
  v.to.port = load16(udp + 2);
  v.payload += kUdpHeader;
  v.length = udp_length - kUdpHeader;
  return nullptr;
}

const char* parse_icmp(const std::uint8_t* icmp, std::uint32_t length, FrameView& v) {
  if (length < 8) return "ICMP header is cut short";
  if (checksum_of(checksum_sum(icmp, length))) return "ICMP checksum is wrong";
  v.kind = FrameView::Kind::icmp;
  v.icmp_type = icmp[0];
  v.icmp_code = icmp[1];
  v.payload += 8;
  v.length = length - 8;
  return nullptr;
}

const char* parse_ipv4(const std::uint8_t* ip, std::size_t length, FrameView& v) {
  if (length < kIpv4Header) return "IPv4 header is cut short";
  if (ip[0] >> 4 != 4) return "IP version is not 4";
  const std::uint32_t header = 4u * (ip[0] & 15u);
  const std::uint32_t total = load16(ip + 2);
  if (header < kIpv4Header || header > total) return "IPv4 header length is wrong";
  if (total > length) return "IPv4 total length is beyond the frame's end";
  if (checksum_of(checksum_sum(ip, header))) return "IPv4 header checksum is wrong";
  v.from.ip = load32(ip + 12);
  v.to.ip = load32(ip + 16);
  v.payload = kEthernetHeader + header;
  v.length = total - header;
  if (load16(ip + 6) & 0x3fff) return nullptr;  // a fragment
  if (ip[9] == kProtocolUdp) return parse_udp(ip + header, v.length, v);
  if (ip[9] == kProtocolIcmp) return parse_icmp(ip + header, v.length, v);
  return nullptr;
}

template <std::size_t N>
void swap_bytes(std::uint8_t* a, std::uint8_t* b) {
  std::swap_ranges(a, a + N, b);
}

}  // namespace

std::string to_text(const MacAddress& m) {
  const auto& b = m.bytes;
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", b[0], b[1], b[2], b[3], b[4], b[5]);
}

std::string ipv4_text(Ipv4Address a) {
  return fmt::format("{}.{}.{}.{}", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
}

namespace {

/// Reads `count` numbers of the given base and at most `digits` digits, separated by `separator`; false when the text
/// is anything else.
bool read_octets(std::string_view text, int base, std::size_t digits, char separator, unsigned count,
                 std::uint8_t* octets) {
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t end = i + 1 < count ? text.find(separator) : text.size();
    if (end == std::string_view::npos || end == 0 || end > digits) return false;
    unsigned value = 0;
    const auto [last, error] = std::from_chars(text.data(), text.data() + end, value, base);
    if (error != std::errc() || last != text.data() + end || value > 255) return false;
    octets[i] = static_cast<std::uint8_t>(value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace

MacAddress parse_mac(std::string_view text) {
  MacAddress mac;
  if (!read_octets(text, 16, 2, ':', 6, mac.bytes.data()))
    throw base::ValueError("must be a MAC address such as 02:00:00:00:00:01");
  return mac;
}

Ipv4Address parse_ipv4(std::string_view text) {
  std::uint8_t octets[4];
  if (!read_octets(text, 10, 3, '.', 4, octets)) throw base::ValueError("must be an IPv4 address such as 10.0.0.2");
  return load32(octets);
}

MacAddress parse_host_mac(std::string_view text) {
  const MacAddress mac = parse_mac(text);
  if ((mac.bytes[0] & 1) != 0) throw base::ValueError("must be a single station's MAC address: its first octet even");
  if (mac == MacAddress{}) throw base::ValueError("must be a single station's MAC address: not all zero");
  return mac;
}

Ipv4Address parse_host_ipv4(std::string_view text) {
  const Ipv4Address address = parse_ipv4(text);
  const unsigned first = address >> 24;
  if (first == 0 || first == 127 || first >= 224)
    throw base::ValueError("must be a single host's IPv4 address: 1.0.0.0 to 223.255.255.255, without 127.x.x.x");
  return address;
}

std::uint64_t checksum_sum(const void* bytes, std::size_t length, std::uint64_t sum) {
  // Swapping the bytes of every word only swaps those of the sum (RFC 1071), and wider words give the same sum once the
  // carries are folded. So 32-bit words are added into 64 bits in memory order; checksum_of() folds and swaps.
  const auto* p = static_cast<const std::uint8_t*>(bytes);
  for (; length >= 8; length -= 8, p += 8) {
    std::uint64_t words;
    std::memcpy(&words, p, 8);
    sum += (words & 0xffffffff) + (words >> 32);
  }
  if (length & 4) {
    std::uint32_t word;
    std::memcpy(&word, p, 4);
    sum += word;
    p += 4;
  }
  if (length & 2) {
    std::uint16_t half;
    std::memcpy(&half, p, 2);
    sum += half;
    p += 2;
  }
  return length & 1 ? sum + *p : sum;
}

std::uint16_t checksum_of(std::uint64_t sum) {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return __builtin_bswap16(static_cast<std::uint16_t>(~sum));
}

void finish_udp(Packet& packet, const Endpoint& from, const Endpoint& to, std::uint32_t payload) {
  std::uint8_t* frame = packet.bytes;
  const std::uint32_t udp_length = kUdpHeader + payload;
  put_ethernet(frame, from.mac, to.mac, kEtherTypeIpv4);
  put_ipv4(frame + kEthernetHeader, from.ip, to.ip, kProtocolUdp, kIpv4Header + udp_length);
  std::uint8_t* udp = frame + kEthernetHeader + kIpv4Header;
  store16(udp, from.port);
  store16(udp + 2, to.port);
  store16(udp + 4, udp_length);
  store16(udp + 6, 0);
  const std::uint16_t sum = checksum_of(checksum_sum(udp, udp_length, pseudo_header(from.ip, to.ip, udp_length)));
  store16(udp + 6, sum ? sum : 0xffff);  // 0 on the wire means that there is no checksum
  packet.length = kUdpPayload + payload;
}

void build_arp(Packet& packet, ArpOperation operation, const Endpoint& sender, const Endpoint& target) {
  const bool request = operation == ArpOperation::request;
  put_ethernet(packet.bytes, sender.mac, request ? MacAddress::broadcast() : target.mac, kEtherTypeArp);
  std::uint8_t* arp = packet.bytes + kEthernetHeader;
  store16(arp, 1);
  store16(arp + 2, kEtherTypeIpv4);
  arp[4] = 6;
  arp[5] = 4;
  store16(arp + 6, static_cast<std::uint16_t>(operation));
  std::memcpy(arp + 8, sender.mac.bytes.data(), 6);
  store32(arp + 14, sender.ip);
  const MacAddress known = request ? MacAddress{} : target.mac;
  std::memcpy(arp + 18, known.bytes.data(), 6);
  store32(arp + 24, target.ip);
  packet.length = kArpFrame;
}

void build_icmp_echo(Packet& packet, std::uint8_t type, const Endpoint& from, const Endpoint& to,
                     std::uint16_t identifier, std::uint16_t sequence, const void* payload, std::uint32_t length) {
  put_ethernet(packet.bytes, from.mac, to.mac, kEtherTypeIpv4);
  put_ipv4(packet.bytes + kEthernetHeader, from.ip, to.ip, kProtocolIcmp, kIpv4Header + 8 + length);
  std::uint8_t* icmp = packet.bytes + kEthernetHeader + kIpv4Header;
  icmp[0] = type;
  icmp[1] = 0;
  store16(icmp + 2, 0);
  store16(icmp + 4, identifier);
  store16(icmp + 6, sequence);
  if (length) std::memcpy(icmp + 8, payload, length);
  store16(icmp + 2, checksum_of(checksum_sum(icmp, 8 + length)));
  packet.length = kEthernetHeader + kIpv4Header + 8 + length;
}

const char* parse_frame(const std::uint8_t* frame, std::size_t length, FrameView& view) {
  view = {};
  if (length < kEthernetHeader) return "Ethernet header is cut short";
  view.to.mac = mac_at(frame);
  view.from.mac = mac_at(frame + 6);
  view.ether_type = load16(frame + 12);
  view.payload = kEthernetHeader;
  view.length = static_cast<std::uint32_t>(length - kEthernetHeader);
  if (view.ether_type == kEtherTypeArp) return parse_arp(frame + kEthernetHeader, length - kEthernetHeader, view);
  if (view.ether_type == kEtherTypeIpv4) return parse_ipv4(frame + kEthernetHeader, length - kEthernetHeader, view);
  return nullptr;
}

bool reflect(Packet& packet) {
  FrameView view;
  if (parse_frame(packet.bytes, packet.length, view) || view.kind == FrameView::Kind::arp) return false;
  if (view.kind == FrameView::Kind::icmp && view.icmp_type != kIcmpEchoRequest) return false;
  swap_bytes<6>(packet.bytes, packet.bytes + 6);
  if (view.ether_type != kEtherTypeIpv4) return true;
  std::uint8_t* ip = packet.bytes + kEthernetHeader;
  swap_bytes<4>(ip + 12, ip + 16);
  if (view.kind == FrameView::Kind::udp) {
    std::uint8_t* udp = packet.bytes + view.payload - kUdpHeader;
    swap_bytes<2>(udp, udp + 2);
  }
  if (view.kind == FrameView::Kind::icmp) {
    std::uint8_t* icmp = packet.bytes + view.payload - 8;
    icmp[0] = kIcmpEchoReply;
    store16(icmp + 2, 0);
    store16(icmp + 2, checksum_of(checksum_sum(icmp, 8 + view.length)));
  }
  return true;
}

}  // namespace sluice::net
