// SPDX-License-Identifier: Apache-2.0
#include "models/net/headers.h"

#include "models/net/frame.h"

namespace sluice::net {

namespace {

constexpr unsigned kEthernet = 14;
constexpr unsigned kUdp = 8;

std::uint16_t fold(std::uint64_t sum) {
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

/// Sum of the UDP pseudo header: addresses at `addresses`, protocol, datagram length.
std::uint32_t pseudo_header(const std::uint8_t* addresses, unsigned datagram) {
  return load16(addresses) + load16(addresses + 2) + load16(addresses + 4) + load16(addresses + 6) + 17u + datagram;
}

/// Whether an IPv4 header of ip_length bytes starts at offset `at` and lies within the frame.
bool ipv4_at(const std::uint8_t* frame, std::size_t length, unsigned at, unsigned ip_length) {
  if (at < kEthernet || ip_length < 20 || at + ip_length > length) return false;
  const std::uint8_t* ip = frame + at;
  return ip[0] >> 4 == 4 && (ip[0] & 0xfu) * 4 == ip_length;
}

}  // namespace

std::uint16_t internet_sum(const std::uint8_t* bytes, std::size_t length, std::uint32_t initial) {
  std::uint64_t sum = initial;
  std::size_t i = 0;
  for (; i + 4 <= length; i += 4) sum += load32(bytes + i);
  if (i + 2 <= length) {
    sum += load16(bytes + i);
    i += 2;
  }
  if (i < length) sum += std::uint32_t{bytes[i]} << 8;
  return fold(sum);
}

Headers parse_headers(const std::uint8_t* frame, std::size_t length) {
  Headers h;
  if (length < kEthernet) return h;
  h.length = kEthernet;
  if (load16(frame + 12) != 0x0800 || length < kEthernet + 20) return h;
  const std::uint8_t* ip = frame + kEthernet;
  const unsigned ip_length = (ip[0] & 0xfu) * 4;
  const unsigned total = load16(ip + 2);
  if (ip[0] >> 4 != 4 || ip_length < 20 || total < ip_length || total > length - kEthernet) return h;
  h.ipv4 = true;
  h.length = static_cast<std::uint16_t>(kEthernet + ip_length);
  h.ip_checksum_good = internet_sum(ip, ip_length) == 0xffff;
  h.source = load32(ip + 12);
  h.destination = load32(ip + 16);
  h.fragment = (load16(ip + 6) & 0x3fff) != 0;
  if (h.fragment || ip[9] != 17 || total < ip_length + kUdp) return h;
  const std::uint8_t* udp = ip + ip_length;
  const unsigned datagram = load16(udp + 4);
  if (datagram < kUdp || datagram > total - ip_length) return h;
  h.udp = true;
  h.length = static_cast<std::uint16_t>(h.length + kUdp);
  h.source_port = load16(udp);
  h.destination_port = load16(udp + 2);
  h.udp_checksum_good = load16(udp + 6) == 0 || internet_sum(udp, datagram, pseudo_header(ip + 12, datagram)) == 0xffff;
  return h;
}

bool insert_ipv4_checksum(std::uint8_t* frame, std::size_t length, unsigned ethernet_length, unsigned ip_length) {
  if (!ipv4_at(frame, length, ethernet_length, ip_length)) return false;
  std::uint8_t* ip = frame + ethernet_length;
  store16(ip + 10, 0);
  store16(ip + 10, static_cast<std::uint16_t>(~internet_sum(ip, ip_length)));
  return true;
}

bool insert_udp_checksum(std::uint8_t* frame, std::size_t length, unsigned ethernet_length, unsigned ip_length) {
  if (!ipv4_at(frame, length, ethernet_length, ip_length)) return false;
  const std::uint8_t* ip = frame + ethernet_length;
  const unsigned total = load16(ip + 2);
  const bool fragment = (load16(ip + 6) & 0x3fff) != 0;
  if (fragment || ip[9] != 17 || total < ip_length + kUdp || total > length - ethernet_length) return false;
  std::uint8_t* udp = frame + ethernet_length + ip_length;
  const unsigned datagram = total - ip_length;
  store16(udp + 6, 0);
  const std::uint16_t checksum =
      static_cast<std::uint16_t>(~internet_sum(udp, datagram, pseudo_header(ip + 12, datagram)));
  store16(udp + 6, checksum == 0 ? 0xffff : checksum);  // zero on the wire means: no checksum
  return true;
}

}  // namespace sluice::net
