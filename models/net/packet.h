// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Ethernet frames in pooled buffers: made once, handed from model to model by pointer, never copied on the way.

#include <cstdint>
#include <cstring>

#include "models/base/fabric/pool.h"
#include "models/base/measure/ledger.h"
#include "models/base/time/time.h"

namespace sluice::net {

/// One Ethernet frame from destination address to the end of its payload; the FCS takes time on the wire, but is only a
/// flag here.
struct Packet {
  static constexpr std::uint32_t kCapacity = 9728;  ///< bytes; longer frames cannot be represented
  static constexpr std::uint32_t kMinimum = 60;     ///< bytes without FCS that a sender pads to

  std::uint32_t length = 0;  ///< bytes without FCS, at most kCapacity
  bool corrupted = false;    ///< its FCS is wrong: every MAC that checks drops it
  base::Spans spans;         ///< which requests its bytes belong to; most frames have one

  // Written by the wire. Preamble and SFD are 8 octets, so the destination address starts 8 octet times after
  // first_bit.
  base::Time sent;       ///< first bit of the preamble left the sender
  base::Time first_bit;  ///< first bit of the preamble reached the receiver
  base::Time last_bit;   ///< last bit of the FCS reached the receiver

  alignas(64) std::uint8_t bytes[kCapacity];  ///< undefined beyond length

  base::RequestId request() const { return spans.first(); }
  void clear() {
    length = 0;
    corrupted = false;
    spans = {};
    sent = first_bit = last_bit = {};
  }
};

using PacketPool = base::Pool<Packet>;
using PacketPtr = base::PoolPtr<Packet>;

/// Returns an empty frame.
inline PacketPtr make_packet() { return PacketPtr(PacketPool::instance().take()); }
/// Returns a frame with these bytes; null when there are more than Packet::kCapacity.
PacketPtr make_packet(const void* bytes, std::size_t length);
/// Appends zeros up to the least length of a legal frame.
inline void pad(Packet& p) {
  if (p.length >= Packet::kMinimum) return;
  std::memset(p.bytes + p.length, 0, Packet::kMinimum - p.length);
  p.length = Packet::kMinimum;
}
/// Returns a copy with the same bytes, flags, spans and stamps.
PacketPtr copy_packet(const Packet&);

}  // namespace sluice::net
