// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/rpc_frames.h"

#include <algorithm>

#include "models/net/headers.h"

namespace sluice::test {
namespace {

using nic::rpc::Part;
using nic::rpc::Service;

void put16(FrameBytes& f, std::size_t at, std::uint32_t v) {
  f[at] = static_cast<std::uint8_t>(v >> 8);
  f[at + 1] = static_cast<std::uint8_t>(v);
}
void put32(FrameBytes& f, std::size_t at, std::uint32_t v) {
  put16(f, at, v >> 16);
  put16(f, at + 2, v);
}
std::uint32_t get16(const FrameBytes& f, std::size_t at) { return std::uint32_t{f[at]} << 8 | f[at + 1]; }

constexpr std::uint32_t kWords[] = {0,  1,   2,   3,   4,   7,    8,          16,         63,        64,
                                    65, 255, 256, 400, 401, 1024, 0x7fffffff, 0x80000000, 0xffffffff};

}  // namespace

FrameBytes plain_call(const nic::rpc::ServiceKey& key, const FrameBytes& arguments) {
  const auto length = static_cast<std::uint32_t>(48 + arguments.size());  // of the datagram
  FrameBytes f(82 + arguments.size());
  std::copy(arguments.begin(), arguments.end(), f.begin() + 82);
  put32(f, 12, 0x0800'4500);
  put16(f, 16, 20 + length);
  put16(f, 22, 0x4011);
  put32(f, 26, 0x0a000001);
  put32(f, 30, 0x0a000002);
  put16(f, 36, key.port);
  put16(f, 38, length);
  put32(f, 50, 2);
  put32(f, 54, key.program);
  put32(f, 58, key.version);
  put32(f, 62, key.procedure);
  put16(f, 24, static_cast<std::uint16_t>(~net::internet_sum(&f[14], 20)));
  const std::uint32_t pseudo = 17 + length + get16(f, 26) + get16(f, 28) + get16(f, 30) + get16(f, 32);
  const auto sum = static_cast<std::uint16_t>(~net::internet_sum(&f[34], length, pseudo));
  put16(f, 40, sum == 0 ? 0xffff : sum);
  return f;
}

void RpcFrames::word(std::vector<std::uint8_t>& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<std::uint8_t>(value >> shift));
}
void RpcFrames::bytes(std::vector<std::uint8_t>& to, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) to.push_back(static_cast<std::uint8_t>(random_()));
}

Service RpcFrames::service(unsigned number) {
  Service s;
  s.key = {0x20000001 + upto(2), 1 + upto(1), number, static_cast<std::uint16_t>(2000 + upto(1))};
  s.owner = static_cast<std::uint16_t>(random_());
  s.function_pointer = random_();
  const unsigned parts = upto(RPCD_PARTS);
  for (unsigned i = 0; i < parts; ++i) {
    Part& p = s.parts[i];
    p.words = static_cast<std::uint8_t>(one_in(3) ? 0 : upto(RPCD_PART_WORDS_MOST));
    for (unsigned w = 0; w < p.words; ++w) {
      if (w + 1 < p.words && one_in(3)) {
        p.classes |= RPCD_CLASS_HYPER_HIGH << 2 * w | RPCD_CLASS_HYPER_LOW << 2 * (w + 1);
        ++w;
      } else {
        p.classes |= (one_in(3) ? RPCD_CLASS_COPY : RPCD_CLASS_SWAP) << 2 * w;
      }
    }
    p.array = static_cast<Part::Array>(upto(3));
    p.counted = p.array != Part::Array::none && !one_in(3);
    p.limit = static_cast<std::uint16_t>(one_in(4) ? upto(20) : upto(300));
    if (p.array == Part::Array::none) p.limit = 0;
    if (p.array == Part::Array::hypers && !p.counted) p.limit &= 0xfffeu;
  }
  return s;
}

std::vector<std::uint8_t> RpcFrames::arguments(const Service& s) {
  std::vector<std::uint8_t> a;
  for (const Part& p : s.parts) {
    bytes(a, 4u * p.words);
    if (!p.counted) {
      bytes(a, 4u * p.limit);
      continue;
    }
    const std::uint32_t count = one_in(8)   ? p.limit
                                : one_in(2) ? upto(std::min<std::uint32_t>(p.limit, 9))
                                            : upto(p.limit);
    word(a, count);
    bytes(a, p.array == Part::Array::opaque   ? (count + 3) & ~3u
             : p.array == Part::Array::hypers ? 8 * count
                                              : 4 * count);
  }
  return a;
}

void RpcFrames::finish(FrameBytes& f, bool with_udp) const {
  const std::size_t head = (f[ipv4_] & 0xfu) * 4;
  if (ipv4_ + head <= f.size() && head >= 20) {
    put16(f, ipv4_ + 10, 0);
    put16(f, ipv4_ + 10, static_cast<std::uint16_t>(~net::internet_sum(&f[ipv4_], head)));
  }
  const std::uint32_t length = get16(f, udp_ + 4);
  if (!with_udp || udp_ + length > f.size() || length < 8) return;
  std::uint32_t pseudo = 17 + length;
  for (unsigned i = 12; i < 20; i += 2) pseudo += get16(f, ipv4_ + i);
  put16(f, udp_ + 6, 0);
  const std::uint16_t sum = static_cast<std::uint16_t>(~net::internet_sum(&f[udp_], length, pseudo));
  put16(f, udp_ + 6, sum == 0 ? 0xffff : sum);
}

FrameBytes RpcFrames::call(const Service& s) {
  const std::vector<std::uint8_t> args = arguments(s);
  FrameBytes f;
  bytes(f, 12);
  if (one_in(5)) {
    word(f, 0x81000000 | upto(0xffff));
  }
  f.push_back(8);
  f.push_back(0);
  ipv4_ = f.size();
  const unsigned head = one_in(4) ? 20 + 4 * upto(10) : 20;
  f.push_back(static_cast<std::uint8_t>(0x40 | head / 4));
  f.push_back(0);
  bytes(f, head - 2);
  if (!one_in(8))
    std::fill(f.begin() + static_cast<std::ptrdiff_t>(ipv4_) + 20, f.end(), 1);  // options that do nothing
  put16(f, ipv4_ + 6, one_in(2) ? 0x4000 : 0);
  f[ipv4_ + 9] = 17;
  udp_ = f.size();
  bytes(f, 8);
  put16(f, udp_ + 2, s.key.port);
  put16(f, udp_ + 6, 0);
  rpc_ = f.size();
  word(f, static_cast<std::uint32_t>(random_()));
  word(f, 0);
  word(f, 2);
  word(f, s.key.program);
  word(f, s.key.version);
  word(f, s.key.procedure);
  const unsigned credential = one_in(3) ? upto(400) : 0;
  word(f, credential != 0 || one_in(4) ? 1 : 0);
  word(f, credential);
  bytes(f, (credential + 3) & ~3u);
  const unsigned verifier = one_in(8) ? upto(400) : 0;
  word(f, 0);
  word(f, verifier);
  bytes(f, (verifier + 3) & ~3u);
  f.insert(f.end(), args.begin(), args.end());
  if (one_in(10)) bytes(f, upto(70));  // more than the arguments
  put16(f, udp_ + 4, static_cast<std::uint32_t>(f.size() - udp_));
  put16(f, ipv4_ + 2, static_cast<std::uint32_t>(f.size() - ipv4_));
  if (one_in(10)) {  // something between the datagram's end and the packet's
    bytes(f, upto(70));
    put16(f, ipv4_ + 2, static_cast<std::uint32_t>(f.size() - ipv4_));
  }
  finish(f, !one_in(5));
  if (f.size() < 60) f.resize(60);
  if (one_in(10)) bytes(f, upto(140));  // padding
  return f;
}

FrameBytes RpcFrames::changed(const Service& s) {
  FrameBytes f = call(s);
  switch (upto(9)) {
    case 0: {  // noise
      const std::uint32_t length = one_in(4) ? upto(200) : upto(1514);
      f.clear();
      bytes(f, std::max(1u, length));
      if (f.size() > 14 && one_in(2)) put16(f, 12, 0x0800);
      return f;
    }
    case 1:  // cut off anywhere
      f.resize(1 + upto(static_cast<std::uint32_t>(f.size() - 1)));
      return f;
    case 2:  // cut off within the headers
      f.resize(std::min<std::size_t>(f.size(), 1 + upto(130)));
      return f;
    case 3:  // a bit of the headers, seen by the checksums
      f[upto(static_cast<std::uint32_t>(std::min<std::size_t>(f.size(), rpc_ + 48) - 1))] ^=
          static_cast<std::uint8_t>(1u << upto(7));
      return f;
    case 4: {  // a word of the RPC header or behind it, not seen by the checksums
      const std::size_t words = (f.size() - rpc_) / 4;
      if (words == 0) return f;
      const std::size_t at =
          rpc_ + 4 * upto(static_cast<std::uint32_t>(std::min<std::size_t>(words, one_in(3) ? 120 : 14) - 1));
      put32(f, at, kWords[upto(std::size(kWords) - 1)]);
      break;
    }
    case 5:  // the IPv4 header
      switch (upto(6)) {
        case 0:
          f[ipv4_] = static_cast<std::uint8_t>(random_());
          break;
        case 1:
          f[ipv4_] = static_cast<std::uint8_t>(0x40 | upto(15));
          break;
        case 2:
          put16(f, ipv4_ + 2, upto(80));
          break;
        case 3:
          put16(f, ipv4_ + 2, get16(f, ipv4_ + 2) + upto(4) - 2);
          break;
        case 4:
          put16(f, ipv4_ + 6, static_cast<std::uint32_t>(random_()));
          break;
        case 5:
          f[ipv4_ + 9] = static_cast<std::uint8_t>(random_());
          break;
        default:
          put16(f, ipv4_ + 2, static_cast<std::uint32_t>(random_()) & 0xffff);
          break;
      }
      break;
    case 6:  // the UDP header
      switch (upto(3)) {
        case 0:
          put16(f, udp_ + 4, upto(80));
          break;
        case 1:
          put16(f, udp_ + 4, get16(f, udp_ + 4) + upto(6) - 3);
          break;
        case 2:
          put16(f, udp_ + 4, static_cast<std::uint32_t>(random_()) & 0xffff);
          break;
        default:
          put16(f, udp_ + 2, upto(0xffff));
          break;
      }
      break;
    case 7:  // the Ethernet type
      put16(f, ipv4_ - 2, one_in(2) ? 0x8100 : static_cast<std::uint32_t>(random_()) & 0xffff);
      return f;
    case 8:  // a checksum
      put16(f, one_in(2) ? ipv4_ + 10 : udp_ + 6, static_cast<std::uint32_t>(random_()) & 0xffff);
      return f;
    default:  // longer than any frame that a wire brings
      bytes(f, upto(9618));
      if (one_in(2)) {
        put16(f, ipv4_ + 2, static_cast<std::uint32_t>(f.size() - ipv4_));
        put16(f, udp_ + 4, static_cast<std::uint32_t>(f.size() - udp_));
      }
      break;
  }
  finish(f, !one_in(4));
  return f;
}

}  // namespace sluice::test
