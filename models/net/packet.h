#pragma once
/// Ethernet frames in pooled buffers: made once, handed from model to model by pointer, never copied on the way.

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "models/base/ledger.h"
#include "models/base/time.h"

namespace sluice::net {

/// One Ethernet frame from destination address to the end of its payload; the FCS is time on the wire and a flag here.
struct Packet {
  static constexpr std::uint32_t kCapacity = 9728;  ///< bytes; longer frames cannot be represented
  static constexpr std::uint32_t kMinimum = 60;     ///< bytes without FCS that a sender pads to

  std::uint32_t length = 0;  ///< bytes without FCS, at most kCapacity
  bool corrupted = false;    ///< its FCS is wrong: every MAC that checks drops it
  base::Spans spans;         ///< which requests its bytes belong to; most frames have one

  // Written by the wire. One octet of the 8 of preamble and SFD is 8 bit times, so first_bit + 8 octets is the start
  // of the destination address.
  base::Time sent;       ///< first bit of the preamble left the sender
  base::Time first_bit;  ///< first bit of the preamble reached the receiver
  base::Time last_bit;   ///< last bit of the FCS reached the receiver

  alignas(64) std::uint8_t bytes[kCapacity];  ///< undefined beyond length

  base::RequestId request() const { return spans.first(); }
};

/// Where frames come from and go back to. Grows when it is empty, never shrinks. One per process; it is never
/// destroyed, so frames may outlive everything else.
class PacketPool {
 public:
  static PacketPool& instance();

  Packet* take() {
    if (free_.empty()) grow();
    Packet* p = free_.back();
    free_.pop_back();
    p->length = 0;
    p->corrupted = false;
    p->spans = {};
    p->sent = p->first_bit = p->last_bit = {};
    return p;
  }
  void give_back(Packet* p) { free_.push_back(p); }
  std::size_t made() const { return made_; }
  std::size_t taken() const { return made_ - free_.size(); }  ///< for tests: frames that somebody holds

 private:
  PacketPool() = default;
  void grow();
  static constexpr std::size_t kChunk = 32;
  std::vector<std::unique_ptr<Packet[]>> chunks_;
  std::vector<Packet*> free_;
  std::size_t made_ = 0;
};

/// Owns one frame; gives it back to the pool at the end of its life.
class PacketPtr {
 public:
  PacketPtr() = default;
  explicit PacketPtr(Packet* p) : packet_(p) {}
  PacketPtr(PacketPtr&& o) noexcept : packet_(std::exchange(o.packet_, nullptr)) {}
  PacketPtr& operator=(PacketPtr&& o) noexcept {
    if (this != &o) {
      reset();
      packet_ = std::exchange(o.packet_, nullptr);
    }
    return *this;
  }
  ~PacketPtr() { reset(); }

  void reset() {
    if (packet_) PacketPool::instance().give_back(std::exchange(packet_, nullptr));
  }
  Packet* get() const { return packet_; }
  Packet* operator->() const { return packet_; }
  Packet& operator*() const { return *packet_; }
  explicit operator bool() const { return packet_ != nullptr; }

 private:
  Packet* packet_ = nullptr;
};

/// An empty frame.
inline PacketPtr make_packet() { return PacketPtr(PacketPool::instance().take()); }
/// A frame with these bytes; null when there are more than Packet::kCapacity.
PacketPtr make_packet(const void* bytes, std::size_t length);
/// Appends zeros up to the least length of a legal frame.
inline void pad(Packet& p) {
  if (p.length >= Packet::kMinimum) return;
  std::memset(p.bytes + p.length, 0, Packet::kMinimum - p.length);
  p.length = Packet::kMinimum;
}
/// The same bytes, flags, spans and stamps.
PacketPtr copy_packet(const Packet&);

}  // namespace sluice::net
