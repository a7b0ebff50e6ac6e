// SPDX-License-Identifier: Apache-2.0
#include "models/workload/packets/packet_form.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "models/net/traffic/call_data.h"

namespace sluice::workload {
namespace {

constexpr std::uint32_t kNumber = 2;  ///< offset in the payload

void store_number(std::uint8_t* p, std::uint64_t n) {
  net::store32(p, static_cast<std::uint32_t>(n >> 32));
  net::store32(p + 4, static_cast<std::uint32_t>(n));
}

std::uint64_t load_number(const std::uint8_t* p) { return std::uint64_t{net::load32(p)} << 32 | net::load32(p + 4); }

}  // namespace

PacketForm::PacketForm(const PacketsParameters& p)
    : udp_(p.format == PacketFormat::udp),
      swaps_(p.addresses == PacketAddresses::swapped),
      flows_(udp_ ? p.flows : 1),
      first_port_(p.first_port),
      payload_(udp_ ? net::kUdpPayload : net::kEthernetHeader) {
  board_.port = static_cast<std::uint16_t>(p.server_port);
}

void PacketForm::set_ends(const net::Endpoint& self, const net::Endpoint& board) {
  const std::uint16_t port = board_.port;
  self_ = self;
  board_ = board;
  board_.port = port;
}

net::PacketPtr PacketForm::build(std::uint64_t number, std::uint32_t size, bool back) const {
  net::PacketPtr p = net::make_packet();
  p->length = size - PacketsParameters::kFcs;
  std::uint8_t* payload = p->bytes + payload_;
  const std::uint32_t bytes = p->length - payload_;
  net::put_data(payload, number, bytes);
  store_number(payload + kNumber, number);
  if (back) ++payload[0];
  net::Endpoint from = self_, to = board_;
  from.port = static_cast<std::uint16_t>(first_port_ + flow_of(number));
  if (back && swaps_) std::swap(from, to);
  if (udp_) {
    net::finish_udp(*p, from, to, bytes);
  } else {
    std::copy_n(to.mac.bytes.data(), 6, p->bytes);
    std::copy_n(from.mac.bytes.data(), 6, p->bytes + 6);
    net::store16(p->bytes + 12, kEtherType);
  }
  return p;
}

net::PacketPtr PacketForm::frame(std::uint64_t number, std::uint32_t size) const { return build(number, size, false); }
net::PacketPtr PacketForm::echo(std::uint64_t number, std::uint32_t size) const { return build(number, size, true); }

std::optional<std::uint64_t> PacketForm::number_of(const net::Packet& p) const {
  constexpr unsigned kEtherTypeAt = 12, kProtocolAt = 23, kSourcePortAt = 34, kDestinationPortAt = 36;
  if (p.length < payload_ + kNumber + 8) return {};
  if (net::load16(p.bytes + kEtherTypeAt) != (udp_ ? net::kEtherTypeIpv4 : kEtherType)) return {};
  const unsigned flow_at = swaps_ ? kDestinationPortAt : kSourcePortAt;
  if (udp_ && (p.bytes[kProtocolAt] != net::kProtocolUdp || net::load16(p.bytes + flow_at) - first_port_ >= flows_))
    return {};
  return load_number(p.bytes + payload_ + kNumber);
}

std::string PacketForm::difference(const net::Packet& received, std::uint64_t number, std::uint32_t size) const {
  const net::PacketPtr wanted = echo(number, size);
  if (received.length != wanted->length)
    return fmt::format("it has {} bytes without FCS, not {}", received.length, wanted->length);
  if (std::memcmp(received.bytes, wanted->bytes, wanted->length) == 0) return {};
  const auto at = static_cast<std::size_t>(
      std::mismatch(received.bytes, received.bytes + received.length, wanted->bytes).first - received.bytes);
  return fmt::format("byte {} is {:#04x}, not {:#04x}", at, received.bytes[at], wanted->bytes[at]);
}

}  // namespace sluice::workload
