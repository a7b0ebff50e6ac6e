// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/frames.h"

#include <algorithm>

#include "models/net/frame.h"
#include "protocols/rpc/calc.h"
#include "protocols/rpc/echo.h"
#include "protocols/rpc/kv.h"
#include "protocols/rpc/onc_rpc.h"

namespace sluice::fuzz {
namespace {

using net::load16;
using net::store16;
using net::store32;

constexpr std::size_t kIp = 14;
constexpr std::uint8_t kTcp = 6;

void put32(Bytes& b, std::uint32_t v) {
  b.resize(b.size() + 4);
  store32(&b[b.size() - 4], v);
}

void put_opaque(Bytes& b, const Bytes& data) {
  put32(b, static_cast<std::uint32_t>(data.size()));
  b.insert(b.end(), data.begin(), data.end());
  b.resize((b.size() + 3) / 4 * 4);
}

Bytes words(std::initializer_list<std::uint32_t> list) {
  Bytes b;
  for (const std::uint32_t w : list) put32(b, w);
  return b;
}

Bytes call(std::uint32_t xid, std::uint32_t program, std::uint32_t version, std::uint32_t procedure,
           const Bytes& arguments) {
  Bytes b = words({xid, RPC_CALL, RPC_VERSION, program, version, procedure, RPC_AUTH_NONE, 0, RPC_AUTH_NONE, 0});
  b.insert(b.end(), arguments.begin(), arguments.end());
  return b;
}

/// A call with AUTH_SYS.
Bytes call_as_somebody(std::uint32_t program, std::uint32_t procedure) {
  Bytes body = words({7});
  put_opaque(body, to_bytes("machine"));
  const Bytes ids = words({1000, 100, 2, 100, 101});
  body.insert(body.end(), ids.begin(), ids.end());
  Bytes b = words({9, RPC_CALL, RPC_VERSION, program, 1, procedure, RPC_AUTH_SYS});
  put_opaque(b, body);
  const Bytes verifier = words({RPC_AUTH_NONE, 0});
  b.insert(b.end(), verifier.begin(), verifier.end());
  return b;
}

Bytes ethernet(std::uint16_t type) {
  Bytes f(kIp);
  std::copy_n(kBoardMac, 6, f.begin());
  std::copy_n(kOurMac, 6, f.begin() + 6);
  store16(&f[12], type);
  return f;
}

/// payload: with the protocol's header and its checksum field.
Bytes ipv4_frame(std::uint8_t protocol, const Bytes& payload) {
  Bytes f = ethernet(net::kEtherTypeIpv4);
  f.resize(kIp + 20 + payload.size());
  std::uint8_t* ip = &f[kIp];
  ip[0] = 0x45;
  store16(ip + 2, static_cast<std::uint32_t>(20 + payload.size()));
  ip[8] = 64;
  ip[9] = protocol;
  store32(ip + 12, kOurAddress);
  store32(ip + 16, kBoardAddress);
  std::copy(payload.begin(), payload.end(), f.begin() + kIp + 20);
  return f;
}

/// Makes every checksum right that has a place in the frame.
void fix_checksums(Bytes& f) {
  if (f.size() < kIp + 20 || load16(&f[12]) != net::kEtherTypeIpv4) return;
  std::uint8_t* ip = &f[kIp];
  const std::size_t header = (ip[0] & 15u) * 4;
  const std::size_t total = load16(ip + 2);
  if (header < 20 || header > f.size() - kIp) return;
  store16(ip + 10, 0);
  store16(ip + 10, net::checksum_of(net::checksum_sum(ip, header)));
  if (total < header || total > f.size() - kIp) return;
  std::uint8_t* inner = ip + header;
  std::size_t length = total - header;
  const std::uint8_t protocol = ip[9];
  std::size_t at = 0;
  if (protocol == net::kProtocolUdp && length >= 8) {
    at = 6;
    length = std::min<std::size_t>(length, load16(inner + 4));
  } else if (protocol == net::kProtocolIcmp && length >= 8) {
    at = 2;
  } else if (protocol == kTcp && length >= 20) {
    at = 16;
  }
  if (at == 0 || at + 2 > length) return;
  std::uint64_t sum = 0;
  if (protocol != net::kProtocolIcmp) {
    std::uint8_t pseudo[12] = {};
    std::copy_n(ip + 12, 8, pseudo);
    pseudo[9] = protocol;
    store16(pseudo + 10, static_cast<std::uint32_t>(length));
    sum = net::checksum_sum(pseudo, sizeof pseudo);
  }
  store16(inner + at, 0);
  std::uint16_t checksum = net::checksum_of(net::checksum_sum(inner, length, sum));
  if (protocol == net::kProtocolUdp && checksum == 0) checksum = 0xffff;
  store16(inner + at, checksum);
}

/// Sets the lengths in the headers to those of the frame.
void fix_lengths(Bytes& f) {
  if (f.size() < kIp + 20 || load16(&f[12]) != net::kEtherTypeIpv4) return;
  std::uint8_t* ip = &f[kIp];
  const std::size_t header = (ip[0] & 15u) * 4;
  store16(ip + 2, static_cast<std::uint32_t>(f.size() - kIp));
  if (ip[9] == net::kProtocolUdp && kIp + header + 8 <= f.size())
    store16(ip + header + 4, static_cast<std::uint32_t>(f.size() - kIp - header));
}

Bytes arp(std::uint16_t operation) {
  Bytes f = ethernet(net::kEtherTypeArp);
  std::fill_n(f.begin(), 6, 0xff);
  f.resize(net::kArpFrame);
  std::uint8_t* a = &f[kIp];
  store16(a, 1);
  store16(a + 2, net::kEtherTypeIpv4);
  a[4] = 6;
  a[5] = 4;
  store16(a + 6, operation);
  std::copy_n(kOurMac, 6, a + 8);
  store32(a + 14, kOurAddress);
  store32(a + 24, kBoardAddress);
  return f;
}

Bytes icmp(std::size_t bytes) {
  Bytes echo = {8, 0, 0, 0, 0, 1, 0, 2};
  echo.resize(8 + bytes, 'a');
  return ipv4_frame(net::kProtocolIcmp, echo);
}

Bytes tcp(std::uint8_t flags, const Bytes& data, std::uint32_t acknowledgment) {
  Bytes segment(20);
  store16(&segment[0], 701);
  store16(&segment[2], RPC_PORT_PORTMAPPER);
  store32(&segment[4], 1000);
  store32(&segment[8], acknowledgment);
  segment[12] = 0x50;
  segment[13] = flags;
  store16(&segment[14], 4096);
  segment.insert(segment.end(), data.begin(), data.end());
  return ipv4_frame(kTcp, segment);
}

/// The firmware's first sequence number, derived from the connection as in firmware/net/tcp.c, in the order of memory.
std::uint32_t first_sequence() {
  std::uint32_t x = __builtin_bswap32(kOurAddress) ^
                    (std::uint32_t{__builtin_bswap16(701)} << 16 | __builtin_bswap16(RPC_PORT_PORTMAPPER));
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

std::vector<Bytes> procedure_frames() {
  Bytes data = to_bytes("some data of no length");
  Bytes opaque, key, key_and_value, sort = words({5, 9, 0xffffffff, 4, 7, 1});
  put_opaque(opaque, data);
  put_opaque(key, to_bytes("key"));
  key_and_value = key;
  put_opaque(key_and_value, to_bytes("value"));
  Bytes inner = words({RPC_PROGRAM_ECHO, ECHO_VERSION, ECHO_ECHO});
  put_opaque(inner, opaque);
  const std::uint32_t pm = RPC_PROGRAM_PORTMAPPER;
  const Bytes mapping = words({400'000, 1, PORTMAPPER_PROTOCOL_UDP, 5000});
  std::vector<Bytes> frames;
  const auto service = [&frames](std::uint32_t program, std::uint32_t procedure, const Bytes& arguments) {
    frames.push_back(udp_frame(RPC_PORT_SERVICES, call(5, program, 1, procedure, arguments)));
  };
  const auto portmapper = [&](std::uint32_t procedure, const Bytes& arguments) {
    frames.push_back(udp_frame(RPC_PORT_PORTMAPPER, call(6, pm, PORTMAPPER_VERSION, procedure, arguments)));
  };
  service(RPC_PROGRAM_CALC, CALC_NULL, {});
  service(RPC_PROGRAM_CALC, CALC_ADD, words({1, 2}));
  service(RPC_PROGRAM_CALC, CALC_CHECKSUM, opaque);
  service(RPC_PROGRAM_CALC, CALC_SORT, sort);
  service(RPC_PROGRAM_ECHO, ECHO_ECHO, opaque);
  service(RPC_PROGRAM_KV, KV_PUT, key_and_value);
  service(RPC_PROGRAM_KV, KV_GET, key);
  frames.push_back(udp_frame(RPC_PORT_SERVICES, call_as_somebody(RPC_PROGRAM_ECHO, ECHO_NULL)));
  portmapper(PORTMAPPER_NULL, {});
  portmapper(PORTMAPPER_SET, mapping);
  portmapper(PORTMAPPER_UNSET, mapping);
  portmapper(PORTMAPPER_GETPORT, mapping);
  portmapper(PORTMAPPER_DUMP, {});
  portmapper(PORTMAPPER_CALLIT, inner);
  return frames;
}

void change_field(Bytes& f, Random& random) {
  // Every field of Ethernet, IPv4, UDP or TCP, and of a call's header: offset and size.
  static constexpr std::pair<std::uint8_t, std::uint8_t> fields[] = {
      {0, 1},  {5, 1},  {6, 1},  {12, 2}, {14, 1}, {15, 1}, {16, 2}, {18, 2}, {20, 2}, {22, 1}, {23, 1},
      {26, 4}, {30, 4}, {34, 2}, {36, 2}, {38, 2}, {40, 2}, {42, 4}, {46, 4}, {50, 4}, {54, 4}, {58, 4},
      {62, 4}, {66, 4}, {70, 4}, {74, 4}, {78, 4}, {82, 4}, {86, 4}, {90, 4}, {94, 4}};
  const auto [at, bytes] = fields[random.below(std::size(fields))];
  if (at + bytes > f.size()) return;
  static constexpr std::uint32_t known[] = {
      0x0800,        0x0806,      0x86dd,     0x45,       0x46,       0x4f,       0x2000,
      0x1fff,        1,           2,          3,          6,          7,          17,
      111,           20049,       100000,     0x20000001, 0x20000002, 0x20000003, 0x20000004,
      kBoardAddress, kOurAddress, 0x7f000001, 0xe0000001, 0xffffffff, 400,        401};
  std::uint64_t v = random.chance(1, 2) ? known[random.below(std::size(known))] : edge(random);
  if (random.chance(1, 4)) {  // near the present value
    v = random.below(9) - 4;
    for (unsigned i = 0; i < bytes; ++i) v += std::uint64_t{f[at + bytes - 1 - i]} << 8 * i;
  }
  for (unsigned i = 0; i < bytes; ++i) f[at + bytes - 1 - i] = static_cast<std::uint8_t>(v >> 8 * i);
}

void add_options(Bytes& f, Random& random) {
  if (f.size() < kIp + 20) return;
  const std::size_t bytes = 4 * (1 + random.below(10));
  const Bytes options = random.chance(1, 2) ? Bytes(bytes, 1) : noise(random, bytes);
  f.insert(f.begin() + kIp + 20, options.begin(), options.end());
  f[kIp] = static_cast<std::uint8_t>(0x45 + bytes / 4);
  fix_lengths(f);
}

void change_length(Bytes& f, Random& random) {
  switch (random.below(4)) {
    case 0:
      return f.resize(random.below(f.size() + 1));
    case 1:
      return f.resize(f.size() + random.below(64), static_cast<std::uint8_t>(random.next()));
    case 2:
      return f.resize(1400 + random.below(200));
    default:
      return f.resize(random.chance(1, 8) ? random.below(9729) : random.below(64));
  }
}

}  // namespace

Bytes udp_frame(std::uint16_t to, const Bytes& payload, std::uint16_t from) {
  Bytes datagram(8);
  store16(&datagram[0], from);
  store16(&datagram[2], to);
  store16(&datagram[4], static_cast<std::uint32_t>(8 + payload.size()));
  datagram.insert(datagram.end(), payload.begin(), payload.end());
  Bytes f = ipv4_frame(net::kProtocolUdp, datagram);
  fix_checksums(f);
  return f;
}

Bytes echo_call(std::uint32_t xid, const Bytes& data) {
  Bytes opaque;
  put_opaque(opaque, data);
  return udp_frame(RPC_PORT_SERVICES, call(xid, RPC_PROGRAM_ECHO, ECHO_VERSION, ECHO_ECHO, opaque), 999);
}

Bytes echo_reply(std::uint32_t xid, const Bytes& data) {
  Bytes b = words({xid, RPC_REPLY, RPC_MSG_ACCEPTED, RPC_AUTH_NONE, 0, RPC_SUCCESS});
  put_opaque(b, data);
  return b;
}

const std::vector<Bytes>& valid_frames() {
  static const std::vector<Bytes> all = [] {
    std::vector<Bytes> frames = procedure_frames();
    frames.push_back(arp(1));
    frames.push_back(arp(2));
    frames.push_back(icmp(56));
    frames.push_back(udp_frame(UDP_PORT_ECHO, to_bytes("comes back")));
    Bytes record = words({0x80000000 | 40});
    const Bytes dump = call(8, RPC_PROGRAM_PORTMAPPER, PORTMAPPER_VERSION, PORTMAPPER_DUMP, {});
    record.insert(record.end(), dump.begin(), dump.end());
    frames.push_back(tcp(0x02, {}, 0));
    frames.push_back(tcp(0x18, record, first_sequence() + 1));
    frames.push_back(tcp(0x11, {}, first_sequence() + 1));
    for (Bytes& f : frames) fix_checksums(f);
    return frames;
  }();
  return all;
}

void mutate_frame(Bytes& f, Random& random) {
  for (std::uint64_t changes = random.below(4); changes != 0; --changes) {
    switch (random.below(8)) {
      case 0:
      case 1:
      case 2:
        change_field(f, random);
        break;
      case 3:
        change_length(f, random);
        if (random.chance(1, 2)) fix_lengths(f);
        break;
      case 4:
        add_options(f, random);
        break;
      default:
        mutate_bytes(f, random, {}, valid_frames());
        if (random.chance(1, 2)) fix_lengths(f);
    }
  }
  if (random.chance(3, 4)) fix_checksums(f);
}

}  // namespace sluice::fuzz
