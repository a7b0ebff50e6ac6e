// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <catch2/catch.hpp>

#include "models/net/headers.h"
#include "models/net/toeplitz.h"

using namespace sluice::net;

namespace {

constexpr std::array<std::uint8_t, 40> kMicrosoftKey = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                                        0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                                        0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                                        0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

std::uint32_t address(unsigned a, unsigned b, unsigned c, unsigned d) { return a << 24 | b << 16 | c << 8 | d; }

/// Ethernet, IPv4 and UDP with right lengths, checksums zero.
std::vector<std::uint8_t> datagram(unsigned payload) {
  std::vector<std::uint8_t> f(14 + 20 + 8 + payload);
  f[12] = 0x08;
  f[14] = 0x45;
  f[16] = static_cast<std::uint8_t>((28 + payload) >> 8);
  f[17] = static_cast<std::uint8_t>(28 + payload);
  f[22] = 64;
  f[23] = 17;
  const std::uint8_t addresses[] = {10, 0, 0, 1, 10, 0, 0, 2, 0x12, 0x34, 0x00, 0x6f};
  std::copy(std::begin(addresses), std::end(addresses), f.begin() + 26);
  f[38] = static_cast<std::uint8_t>((8 + payload) >> 8);
  f[39] = static_cast<std::uint8_t>(8 + payload);
  for (unsigned i = 0; i < payload; ++i) f[42 + i] = static_cast<std::uint8_t>(i * 7 + 1);
  return f;
}

Headers parse(const std::vector<std::uint8_t>& f) { return parse_headers(f.data(), f.size()); }

}  // namespace

TEST_CASE("Toeplitz gives the published values of the RSS verification suite", "[rss]") {
  Toeplitz toeplitz;
  std::array<std::uint8_t, Toeplitz::kKeyOctets> key{};
  std::copy(kMicrosoftKey.begin(), kMicrosoftKey.end(), key.begin());
  toeplitz.set_key(key);
  struct Case {
    std::uint32_t destination;
    std::uint16_t destination_port;
    std::uint32_t source;
    std::uint16_t source_port;
    std::uint32_t addresses, with_ports;
  };
  const Case cases[] = {
      {address(161, 142, 100, 80), 1766, address(66, 9, 149, 187), 2794, 0x323e8fc2, 0x51ccc178},
      {address(65, 69, 140, 83), 4739, address(199, 92, 111, 2), 14230, 0xd718262a, 0xc626b0ea},
      {address(12, 22, 207, 184), 38024, address(24, 19, 198, 95), 12898, 0xd2d0a5de, 0x5c2b394a},
      {address(209, 142, 163, 6), 2217, address(38, 27, 205, 30), 48228, 0x82989176, 0xafc7327f},
      {address(202, 188, 127, 2), 1303, address(153, 39, 163, 191), 44251, 0x5d1809c5, 0x10e828a2},
  };
  for (const Case& c : cases) {
    Headers h;
    h.source = c.source;
    h.destination = c.destination;
    h.source_port = c.source_port;
    h.destination_port = c.destination_port;
    CHECK(toeplitz.hash(h, false) == c.addresses);
    CHECK(toeplitz.hash(h, true) == c.with_ports);
  }
}

TEST_CASE("the Internet checksum of RFC 1071's example", "[checksum]") {
  const std::uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  CHECK(internet_sum(bytes, 8) == 0xddf2);
  CHECK(internet_sum(bytes, 7) == 0xddf2 - 0xf7);
  CHECK(internet_sum(bytes, 0) == 0);
}

TEST_CASE("inserted checksums are those that the parser accepts", "[checksum]") {
  for (unsigned payload : {0u, 1u, 2u, 3u, 64u, 1400u}) {
    auto f = datagram(payload);
    f[40] = 0xaa;  // what software left in the field does not matter
    CHECK_FALSE(parse(f).ip_checksum_good);
    CHECK_FALSE(parse(f).udp_checksum_good);
    REQUIRE(insert_ipv4_checksum(f.data(), f.size(), 14, 20));
    REQUIRE(insert_udp_checksum(f.data(), f.size(), 14, 20));
    const Headers h = parse(f);
    CHECK(h.ip_checksum_good);
    CHECK(h.udp_checksum_good);
    CHECK((f[40] | f[41]) != 0);
    f[33] ^= 1;
    CHECK_FALSE(parse(f).ip_checksum_good);
    CHECK_FALSE(parse(f).udp_checksum_good);
  }
}

TEST_CASE("a UDP checksum that comes out as zero is sent as all ones", "[checksum]") {
  auto f = datagram(2);
  f[42] = f[43] = 0;
  REQUIRE(insert_udp_checksum(f.data(), f.size(), 14, 20));
  const unsigned rest = 0xffffu - (f[40] * 256u + f[41]);
  REQUIRE(rest != 0xffff);
  f[42] = static_cast<std::uint8_t>((0xffff - rest) >> 8);
  f[43] = static_cast<std::uint8_t>(0xffff - rest);
  REQUIRE(insert_udp_checksum(f.data(), f.size(), 14, 20));
  CHECK(f[40] == 0xff);
  CHECK(f[41] == 0xff);
  CHECK(parse(f).udp_checksum_good);
}

TEST_CASE("a known IPv4 header has its known checksum", "[checksum]") {
  std::vector<std::uint8_t> f = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0};
  const std::uint8_t ip[] = {0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                             0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7};
  f.insert(f.end(), std::begin(ip), std::end(ip));
  REQUIRE(insert_ipv4_checksum(f.data(), f.size(), 14, 20));
  CHECK((f[24] << 8 | f[25]) == 0xb861);
}

TEST_CASE("the parser tells UDP, other IPv4, fragments and the rest apart", "[parser]") {
  auto f = datagram(10);
  Headers h = parse(f);
  CHECK(h.ipv4);
  CHECK(h.udp);
  CHECK_FALSE(h.fragment);
  CHECK(h.length == 42);
  CHECK(h.source == address(10, 0, 0, 1));
  CHECK(h.source_port == 0x1234);
  CHECK(h.destination_port == 111);
  f[40] = f[41] = 0;
  CHECK(parse(f).udp_checksum_good);  // no checksum

  auto tcp = f;
  tcp[23] = 6;
  CHECK(parse(tcp).ipv4);
  CHECK_FALSE(parse(tcp).udp);
  CHECK(parse(tcp).length == 34);

  auto fragment = f;
  fragment[20] = 0x20;  // more fragments
  CHECK(parse(fragment).fragment);
  CHECK_FALSE(parse(fragment).udp);
  fragment[20] = 0x40;  // don't fragment
  CHECK_FALSE(parse(fragment).fragment);

  auto arp = f;
  arp[13] = 0x06;
  CHECK_FALSE(parse(arp).ipv4);
  CHECK(parse(arp).length == 14);
}

TEST_CASE("lengths that lie are not believed", "[parser]") {
  const auto good = datagram(10);
  for (std::size_t n = 0; n < good.size(); ++n) CHECK_FALSE(parse_headers(good.data(), n).ipv4);
  auto with = [&](unsigned at, std::uint8_t value) {
    auto f = good;
    f[at] = value;
    return f;
  };
  CHECK_FALSE(parse(with(14, 0x44)).ipv4);  // header of 16 bytes
  CHECK_FALSE(parse(with(14, 0x65)).ipv4);  // version 6
  CHECK_FALSE(parse(with(17, 19)).ipv4);    // shorter than its header
  CHECK_FALSE(parse(with(17, 39)).ipv4);    // longer than the frame
  CHECK_FALSE(parse(with(39, 7)).udp);      // shorter than its header
  CHECK_FALSE(parse(with(39, 19)).udp);     // longer than the packet
  CHECK_FALSE(parse(with(17, 27)).udp);     // no room for the UDP header

  auto f = good;
  CHECK_FALSE(insert_ipv4_checksum(f.data(), f.size(), 0, 20));
  CHECK_FALSE(insert_ipv4_checksum(f.data(), f.size(), 14, 24));
  CHECK_FALSE(insert_ipv4_checksum(f.data(), 33, 14, 20));
  CHECK_FALSE(insert_udp_checksum(f.data(), 51, 14, 20));
  CHECK_FALSE(insert_udp_checksum(f.data(), f.size(), 254, 508));
  CHECK(insert_udp_checksum(f.data(), f.size(), 14, 20));
  f[20] = 0x20;
  CHECK_FALSE(insert_udp_checksum(f.data(), f.size(), 14, 20));
}
