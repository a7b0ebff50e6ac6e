// SPDX-License-Identifier: Apache-2.0
#include "models/nic/rpc_encoder/encode.h"

#include <algorithm>
#include <cstring>

#include "models/net/headers.h"

namespace sluice::nic::rpc {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t kIpv4 = 14, kUdp = kIpv4 + 20, kMessage = kUdp + 8, kReplyBytes = 24, kCallBytes = 40;
constexpr std::uint16_t kTypeIpv4 = 0x0800, kDontFragment = 0x4000;
constexpr std::uint8_t kTimeToLive = 64, kProtocolUdp = 17;
constexpr std::uint32_t kCall = 0, kReply = 1, kRpcVersion = 2, kAccepted = 0, kAuthNone = 0;
constexpr std::uint32_t kPlaces = 0x10000;  // words that the hardware can count

/// The data of a packet on their way into a frame. Words behind the packet's end are 0.
class Data {
 public:
  explicit Data(Bytes packet) : packet_(packet.first(std::min<std::size_t>(packet.size(), kPacketBytes))) {}

  std::uint32_t word(std::uint32_t at) const {
    std::uint32_t value = 0;
    const std::size_t begin = std::size_t{4} * at;
    if (begin < packet_.size())
      std::memcpy(&value, packet_.data() + begin, std::min<std::size_t>(4, packet_.size() - begin));
    return value;
  }
  std::uint32_t words() const { return static_cast<std::uint32_t>(packet_.size() / 4); }
  /// In a beat of which there is at least one byte, or the first one.
  bool comes(std::uint32_t at) const { return at < 16 || std::size_t{64} * (at / 16) < packet_.size(); }

 private:
  Bytes packet_;
};

class Message {
 public:
  Message(Bytes packet, const Request& request, const SchemaTable& table, std::vector<std::uint8_t>& to)
      : data_(packet), request_(request), table_(table), to_(to) {}

  unsigned marshal() {
    if (!request_.is_call && request_.accept_stat > RPCE_SYSTEM_ERR) return RPCE_ACCEPT_STAT;
    if (!request_.is_call && request_.accept_stat != RPCE_SUCCESS) return RPCE_REFUSAL;
    const Schema* schema = table_.find(request_.schema);
    if (schema == nullptr) return RPCE_NO_SCHEMA;
    std::uint32_t at = 0;
    if (schema->is_union()) {
      const Arm* arm = schema->arm(data_.word(0));
      if (arm == nullptr) return RPCE_NO_ARM;
      schema = table_.find(arm->entry);
      if (schema == nullptr || schema->is_union()) return RPCE_NO_SCHEMA;
      put(at++, RPCD_CLASS_SWAP);
    }
    for (const Part& part : schema->parts) {
      for (unsigned w = 0; w < part.words; ++w) put(at++, part.classes >> 2 * w & 3);
      std::uint32_t elements = part.limit, rest = 0;
      if (part.counted) {
        if (!data_.comes(at)) return RPCE_SHORT;
        const std::uint32_t count = data_.word(at);
        if (count > part.limit) return RPCE_COUNT;
        put(at++, RPCD_CLASS_SWAP);
        elements = part.array == Part::Array::opaque   ? (count + 3) / 4
                   : part.array == Part::Array::hypers ? 2 * count
                   : part.array == Part::Array::none   ? 0
                                                       : count;
        if (part.array == Part::Array::opaque) rest = count % 4;
      }
      if (at + elements >= kPlaces) return RPCE_COUNT;
      for (std::uint32_t i = 0; i < elements; ++i) {
        put(at++, part.array == Part::Array::scalars  ? RPCD_CLASS_SWAP
                  : part.array != Part::Array::hypers ? RPCD_CLASS_COPY
                  : i % 2 == 0                        ? RPCD_CLASS_HYPER_HIGH
                                                      : RPCD_CLASS_HYPER_LOW);
      }
      if (rest != 0) std::fill(to_.end() - 4 + rest, to_.end(), std::uint8_t{0});
    }
    if (at > data_.words()) return RPCE_SHORT;
    return request_.is_call ? RPCE_CALL : RPCE_REPLY;
  }

 private:
  /// Appends word `at` of the data.
  void put(std::uint32_t at, unsigned word_class) {
    std::uint32_t value = 0;
    if (word_class == RPCD_CLASS_HYPER_HIGH)
      value = data_.word(at + 1);
    else if (word_class != RPCD_CLASS_HYPER_LOW)
      value = data_.word(at);
    else if (at != 0)
      value = data_.word(at - 1);
    for (unsigned i = 0; i < 4; ++i)
      to_.push_back(static_cast<std::uint8_t>(value >> 8 * (word_class == RPCD_CLASS_COPY ? i : 3 - i)));
  }

  Data data_;
  const Request& request_;
  const SchemaTable& table_;
  std::vector<std::uint8_t>& to_;
};

void put(std::uint8_t* to, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> 8 * (bytes - 1 - i));
}

void put_words(std::uint8_t* to, std::initializer_list<std::uint32_t> words) {
  for (const std::uint32_t word : words) {
    put(to, word, 4);
    to += 4;
  }
}

/// Ethernet, IPv4 and UDP, before a message that is in its place.
void put_headers(const Request& r, std::vector<std::uint8_t>& f) {
  const std::uint32_t udp_bytes = static_cast<std::uint32_t>(f.size()) - kUdp;
  put(&f[0], r.peer_mac, 6);
  put(&f[6], r.own_mac, 6);
  put(&f[12], kTypeIpv4, 2);

  put(&f[kIpv4], 0x4500, 2);
  put(&f[kIpv4 + 2], 20 + udp_bytes, 2);
  put(&f[kIpv4 + 4], 0, 2);
  put(&f[kIpv4 + 6], kDontFragment, 2);
  f[kIpv4 + 8] = kTimeToLive;
  f[kIpv4 + 9] = kProtocolUdp;
  put(&f[kIpv4 + 10], 0, 2);
  put(&f[kIpv4 + 12], r.own_address, 4);
  put(&f[kIpv4 + 16], r.peer_address, 4);
  put(&f[kIpv4 + 10], 0xffffu - net::internet_sum(&f[kIpv4], 20), 2);

  put(&f[kUdp], r.own_port, 2);
  put(&f[kUdp + 2], r.peer_port, 2);
  put(&f[kUdp + 4], udp_bytes, 2);
  put(&f[kUdp + 6], 0, 2);
  const std::uint32_t pseudo = (r.own_address >> 16) + (r.own_address & 0xffff) + (r.peer_address >> 16) +
                               (r.peer_address & 0xffff) + kProtocolUdp + udp_bytes;
  const std::uint32_t sum = 0xffffu - net::internet_sum(&f[kUdp], udp_bytes, pseudo);
  put(&f[kUdp + 6], sum == 0 ? 0xffff : sum, 2);
}

}  // namespace

const Arm* Schema::arm(std::uint32_t status) const {
  for (const Arm& a : arms)
    if (a.valid && !a.is_default && a.value == status) return &a;
  for (const Arm& a : arms)
    if (a.valid && a.is_default) return &a;
  return nullptr;
}

void encode(std::span<const std::uint8_t> packet, const Request& request, const SchemaTable& table, Encoded& encoded) {
  std::vector<std::uint8_t>& f = encoded.frame;
  const std::uint32_t header = kMessage + (request.is_call ? kCallBytes : kReplyBytes);
  f.assign(header, 0);
  encoded.verdict = Message(packet, request, table, f).marshal();
  const bool is_wrong = encoded.verdict >= RPCE_ACCEPT_STAT;
  if (is_wrong) f.resize(header);
  if (request.is_call) {
    if (is_wrong) return f.clear();
    put_words(&f[kMessage], {request.xid, kCall, kRpcVersion, request.program, request.version, request.procedure,
                             kAuthNone, 0, kAuthNone, 0});
  } else {
    const std::uint32_t stat = is_wrong ? RPCE_SYSTEM_ERR : request.accept_stat;
    put_words(&f[kMessage], {request.xid, kReply, kAccepted, kAuthNone, 0, stat});
    if (stat == RPCE_PROG_MISMATCH) {
      f.resize(header + 8);
      put_words(&f[header], {request.program, request.version});
    }
  }
  put_headers(request, f);
}

}  // namespace sluice::nic::rpc
