// SPDX-License-Identifier: Apache-2.0
#include "models/nic/rpc_decoder/decode.h"

#include <algorithm>
#include <cstring>

#include "models/net/frame.h"
#include "models/net/headers.h"

namespace sluice::nic::rpc {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint16_t kTypeIpv4 = 0x0800, kTypeVlan = 0x8100;
constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::uint32_t kAuthNone = 0, kAuthSys = 1, kAuthMost = 400, kRpcVersion = 2;

std::uint16_t be16(Bytes b, std::size_t at) { return net::load16(b.data() + at); }
std::uint32_t be32(Bytes b, std::size_t at) { return net::load32(b.data() + at); }
std::uint32_t padded(std::uint32_t n) { return (n + 3) & ~3u; }

/// Follows a frame through the layers, in the hardware's order.
class Frame {
 public:
  Frame(Bytes frame, const ServiceTable& table, Decoded& decoded, Path& path)
      : bytes_(frame), table_(table), decoded_(decoded), path_(path) {}

  void decode() {
    ethernet();
    ipv4();
    udp();
    call();
    verifier();
    if (reason_ == RPCD_CALL) {
      service_ = table_.find(key_);
      if (service_ == nullptr) reason_ = RPCD_NO_SERVICE;
    }
    path_.is_call = reason_ == RPCD_CALL;
    path_.arguments = static_cast<std::uint32_t>(bytes_.size());
    decoded_.verdict = verdict();
    if (decoded_.verdict == RPCD_CALL) report();
  }

 private:
  bool refused() const { return reason_ != RPCD_CALL; }

  /// Hands on what a layer leaves.
  void strip(unsigned layer, std::uint32_t skip, bool limited, std::uint32_t limit) {
    Path::Strip& s = path_.strips[layer];
    s = {static_cast<std::uint32_t>(bytes_.size()), skip, limited, limit};
    const std::uint32_t kept = limited ? std::min(s.bytes, limit) : s.bytes;
    if (limited) cut_ = s.bytes < limit;
    if (kept < skip) cut_ = true;
    bytes_ = bytes_.subspan(std::min(kept, skip), s.left());
  }

  void ethernet() {
    const bool tagged = bytes_.size() >= 14 && be16(bytes_, 12) == kTypeVlan;
    const std::uint32_t head = tagged ? 18 : 14;
    if (bytes_.size() < head)
      reason_ = RPCD_TRUNCATED;
    else if (be16(bytes_, head - 2) != kTypeIpv4)
      reason_ = RPCD_NOT_IPV4;
    strip(0, refused() ? 0 : head, refused(), 0);
  }

  static unsigned ipv4_reason(Bytes b, std::uint32_t head, std::uint32_t total) {
    if (b.size() < 20) return RPCD_TRUNCATED;
    if (b[0] >> 4 != 4 || head < 20 || total < head) return RPCD_IPV4_HEADER;
    if (b.size() < head) return RPCD_TRUNCATED;
    if ((b[6] & 0x3f) != 0 || b[7] != 0) return RPCD_FRAGMENT;
    return b[9] == kProtocolUdp ? RPCD_CALL : RPCD_NOT_UDP;
  }

  void ipv4() {
    if (refused()) return strip(1, 0, true, 0);
    const Bytes b = bytes_;
    const std::uint32_t head = b.empty() ? 0 : (b[0] & 0xfu) * 4;
    const std::uint32_t total = b.size() < 4 ? 0 : be16(b, 2);
    reason_ = ipv4_reason(b, head, total);
    if (b.size() >= 20) {
      source_ = be32(b, 12);
      destination_ = be32(b, 16);
    }
    if (b.size() >= std::max(head, 20u)) ipv4_wrong_ = net::internet_sum(b.data(), head) != 0xffff;
    ip_payload_ = total - head;
    strip(1, refused() ? 0 : head, true, refused() ? 0 : total);
  }

  void udp() {
    if (refused()) return strip(2, 0, true, 0);
    const Bytes b = bytes_;
    const std::uint32_t length = b.size() < 8 ? 0 : be16(b, 4);
    if (b.size() < 8)
      reason_ = RPCD_TRUNCATED;
    else if (length < 8 || length > ip_payload_)
      reason_ = RPCD_UDP_LENGTH;
    if (refused()) return strip(2, 0, true, 0);
    decoded_.source_port = be16(b, 0);
    key_.port = be16(b, 2);
    if (be16(b, 6) != 0) {
      const std::uint32_t pseudo =
          (source_ >> 16) + (source_ & 0xffff) + (destination_ >> 16) + (destination_ & 0xffff) + kProtocolUdp + length;
      udp_wrong_ = net::internet_sum(b.data(), std::min<std::size_t>(b.size(), length), pseudo) != 0xffff;
    }
    length_ = length - 8;
    strip(2, 8, true, length);
  }

  void call() {
    if (refused()) return strip(3, 0, false, 0);
    const Bytes b = bytes_;
    const std::uint32_t credential = b.size() < 32 ? 0 : be32(b, 28);
    if (b.size() < 32)
      reason_ = RPCD_TRUNCATED;
    else if (be32(b, 4) != 0)
      reason_ = RPCD_NOT_CALL;
    else if (be32(b, 8) != kRpcVersion)
      reason_ = RPCD_RPC_VERSION;
    else if ((be32(b, 24) != kAuthNone && be32(b, 24) != kAuthSys) || credential > kAuthMost)
      reason_ = RPCD_CREDENTIAL;
    if (refused()) return strip(3, 0, false, 0);
    xid_ = be32(b, 0);
    key_.program = be32(b, 12);
    key_.version = be32(b, 16);
    key_.procedure = be32(b, 20);
    length_ -= 32 + padded(credential);
    strip(3, 32 + padded(credential), false, 0);
  }

  void verifier() {
    if (refused()) return strip(4, 0, false, 0);
    const Bytes b = bytes_;
    const std::uint32_t length = b.size() < 8 ? 0 : be32(b, 4);
    if (b.size() < 8)
      reason_ = RPCD_TRUNCATED;
    else if (be32(b, 0) != kAuthNone || length > kAuthMost)
      reason_ = RPCD_VERIFIER;
    if (refused()) return strip(4, 0, false, 0);
    length_ -= 8 + padded(length);
    strip(4, 8 + padded(length), false, 0);
  }

  /// The lowest layer's reason, but that a header which has no room is found before a checksum is known.
  unsigned verdict() {
    if (refused() && reason_ < RPCD_IPV4_CHECKSUM) return reason_;
    if (ipv4_wrong_) return RPCD_IPV4_CHECKSUM;
    if (refused() && reason_ < RPCD_UDP_CHECKSUM) return reason_;
    if (cut_) return RPCD_TRUNCATED;
    if (udp_wrong_) return RPCD_UDP_CHECKSUM;
    if (refused()) return reason_;
    return unmarshal() ? RPCD_CALL : RPCD_ARGUMENTS;
  }

  /// Writes the arguments; false if they are not as the schema says.
  bool unmarshal() {
    std::vector<std::uint8_t>& line = decoded_.line;
    line.resize(RPCD_LINE_HEAD_BYTES + bytes_.size());
    std::copy(bytes_.begin(), bytes_.end(), line.begin() + RPCD_LINE_HEAD_BYTES);
    const std::uint32_t words = static_cast<std::uint32_t>(bytes_.size() / 4);
    std::uint32_t at = 0;
    for (const Part& part : service_->parts) {
      for (unsigned w = 0; w < part.words; ++w, ++at)
        if (at < words) turn(at, part.classes >> 2 * w & 3, words);
      std::uint32_t elements = part.limit;
      if (part.counted) {
        if (at >= words) return false;
        const std::uint32_t count = be32(bytes_, std::size_t{4} * at);
        if (count > part.limit) return false;
        turn(at++, RPCD_CLASS_SWAP, words);
        elements = part.array == Part::Array::opaque   ? padded(count) / 4
                   : part.array == Part::Array::hypers ? 2 * count
                   : part.array == Part::Array::none   ? 0
                                                       : count;
      }
      const std::uint32_t begin = at, end = at + elements;
      if (end > words) return false;
      for (; at < end; ++at) {
        if (part.array == Part::Array::scalars) turn(at, RPCD_CLASS_SWAP, words);
        if (part.array == Part::Array::hypers)
          turn(at, (at - begin) % 2 == 0 ? RPCD_CLASS_HYPER_HIGH : RPCD_CLASS_HYPER_LOW, words);
      }
    }
    return at <= words;
  }

  /// Writes word `at` of the arguments as its class says.
  void turn(std::uint32_t at, unsigned word_class, std::uint32_t words) {
    std::uint32_t from = at;
    if (word_class == RPCD_CLASS_HYPER_HIGH) ++from;
    if (word_class == RPCD_CLASS_HYPER_LOW) --from;
    if (word_class == RPCD_CLASS_COPY || from >= words) return;
    const std::uint32_t value = be32(bytes_, std::size_t{4} * from);
    std::memcpy(decoded_.line.data() + RPCD_LINE_HEAD_BYTES + std::size_t{4} * at, &value, 4);
  }

  void report() {
    decoded_.owner = service_->owner;
    decoded_.source = source_;
    decoded_.destination = destination_;
    decoded_.port = key_.port;
    const std::uint32_t first =
        (length_ & 0xffff) << RPCD_LINE_LENGTH_SHIFT | RPCD_LINE_TYPE_CALL << RPCD_LINE_TYPE_SHIFT | RPCD_LINE_VALID;
    std::memcpy(decoded_.line.data(), &first, 4);
    std::memcpy(decoded_.line.data() + 4, &xid_, 4);
    std::memcpy(decoded_.line.data() + 8, &service_->function_pointer, 8);
  }

  Bytes bytes_;  ///< what the layers below have left
  const ServiceTable& table_;
  Decoded& decoded_;
  Path& path_;
  unsigned reason_ = RPCD_CALL;
  bool cut_ = false, ipv4_wrong_ = false, udp_wrong_ = false;
  std::uint32_t source_ = 0, destination_ = 0, ip_payload_ = 0, length_ = 0, xid_ = 0;
  ServiceKey key_;
  const Service* service_ = nullptr;
};

}  // namespace

const Service* ServiceTable::find(const ServiceKey& key) const {
  for (const std::optional<Service>& entry : entries_)
    if (entry && entry->key == key) return &*entry;
  return nullptr;
}

std::uint32_t Path::Strip::left() const {
  const std::uint32_t kept = limited ? std::min(bytes, limit) : bytes;
  return kept > skip ? kept - skip : 0;
}

void decode(std::span<const std::uint8_t> frame, const ServiceTable& table, Decoded& decoded, Path& path) {
  Frame(frame, table, decoded, path).decode();
}

}  // namespace sluice::nic::rpc
