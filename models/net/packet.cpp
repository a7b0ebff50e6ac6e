// SPDX-License-Identifier: Apache-2.0
#include "models/net/packet.h"

namespace sluice::net {

PacketPtr make_packet(const void* bytes, std::size_t length) {
  if (length > Packet::kCapacity) return {};
  PacketPtr p = make_packet();
  p->length = static_cast<std::uint32_t>(length);
  if (length != 0) std::memcpy(p->bytes, bytes, length);
  return p;
}

PacketPtr copy_packet(const Packet& from) {
  PacketPtr p = make_packet(from.bytes, from.length);
  p->corrupted = from.corrupted;
  p->spans = from.spans;
  p->sent = from.sent;
  p->first_bit = from.first_bit;
  p->last_bit = from.last_bit;
  return p;
}

}  // namespace sluice::net
