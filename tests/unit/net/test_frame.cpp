// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/random.h"
#include "models/net/frame.h"

using namespace sluice;
using namespace sluice::net;

namespace {

const Endpoint kClient{parse_mac("02:00:00:00:00:01"), parse_ipv4("10.0.0.1"), 40000};
const Endpoint kServer{parse_mac("02:00:00:00:00:02"), parse_ipv4("10.0.0.2"), 20049};

PacketPtr udp_frame(const std::string& payload) {
  PacketPtr p = make_packet();
  std::memcpy(p->bytes + kUdpPayload, payload.data(), payload.size());
  finish_udp(*p, kClient, kServer, static_cast<std::uint32_t>(payload.size()));
  return p;
}

std::string problem(const Packet& p) {
  FrameView view;
  const char* what = parse_frame(p.bytes, p.length, view);
  return what ? what : "";
}

std::string payload_of(const Packet& p) {
  FrameView view;
  REQUIRE(parse_frame(p.bytes, p.length, view) == nullptr);
  return {reinterpret_cast<const char*>(p.bytes) + view.payload, view.length};
}

}  // namespace

TEST_CASE("addresses are read and written as people write them", "[frame]") {
  REQUIRE(to_text(kClient.mac) == "02:00:00:00:00:01");
  REQUIRE(ipv4_text(kServer.ip) == "10.0.0.2");
  REQUIRE(parse_ipv4("255.0.1.9") == 0xff000109u);
  for (const char* bad : {"", "10.0.0", "10.0.0.256", "10.0.0.1.2", "10.0.0.", "10..0.1", "10.0.0.1 ", "0x0a.0.0.1"})
    REQUIRE_THROWS_AS(parse_ipv4(bad), base::ValueError);
  for (const char* bad : {"", "02:00:00:00:00", "02:00:00:00:00:g1", "02:00:00:00:00:001", "02-00-00-00-00-01"})
    REQUIRE_THROWS_AS(parse_mac(bad), base::ValueError);
}

TEST_CASE("the checksum is RFC 1071's, in pieces as well", "[frame]") {
  // The example of RFC 1071, section 3: the words add up to ddf2.
  const std::uint8_t example[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  REQUIRE(checksum_of(checksum_sum(example, 8)) == static_cast<std::uint16_t>(~0xddf2));
  REQUIRE(checksum_of(checksum_sum(example + 2, 6, checksum_sum(example, 2))) == static_cast<std::uint16_t>(~0xddf2));
  const std::uint8_t odd[] = {0x12, 0x34, 0x56};
  REQUIRE(checksum_of(checksum_sum(odd, 3)) == static_cast<std::uint16_t>(~(0x1234 + 0x5600)));
  const std::vector<std::uint8_t> ones(65536, 0xff);
  REQUIRE(checksum_of(checksum_sum(ones.data(), ones.size())) == 0);
}

TEST_CASE("a UDP frame has the bytes that the RFCs say", "[frame]") {
  const PacketPtr p = udp_frame("hello");
  const std::vector<std::uint8_t> expected = {
      0x02, 0,    0,    0,    0, 2,  0x02, 0,    0,   0,   0,    1,    0x08, 0x00,                     // Ethernet
      0x45, 0,    0,    33,   0, 0,  0x40, 0,    64,  17,  0x26, 0xca, 10,   0,    0, 1, 10, 0, 0, 2,  // IPv4
      0x9c, 0x40, 0x4e, 0x51, 0, 13, 0xbd, 0x6d, 'h', 'e', 'l',  'l',  'o'};                           // UDP
  REQUIRE(std::vector<std::uint8_t>(p->bytes, p->bytes + p->length) == expected);
}

TEST_CASE("what was built is parsed, padding left out", "[frame]") {
  PacketPtr p = udp_frame("hello");
  pad(*p);
  REQUIRE(p->length == 60);
  FrameView v;
  REQUIRE(parse_frame(p->bytes, p->length, v) == nullptr);
  REQUIRE(v.kind == FrameView::Kind::udp);
  REQUIRE(v.from.mac == kClient.mac);
  REQUIRE(v.from.ip == kClient.ip);
  REQUIRE(v.from.port == kClient.port);
  REQUIRE(v.to.mac == kServer.mac);
  REQUIRE(v.to.port == kServer.port);
  REQUIRE(payload_of(*p) == "hello");

  build_arp(*p, ArpOperation::request, kClient, kServer);
  REQUIRE(parse_frame(p->bytes, p->length, v) == nullptr);
  REQUIRE(v.kind == FrameView::Kind::arp);
  REQUIRE(v.operation == ArpOperation::request);
  REQUIRE(v.from.mac == kClient.mac);
  REQUIRE(v.to.ip == kServer.ip);
  REQUIRE(v.to.mac == MacAddress{});
  REQUIRE(p->bytes[0] == 0xff);
  build_arp(*p, ArpOperation::reply, kServer, kClient);
  REQUIRE(parse_frame(p->bytes, p->length, v) == nullptr);
  REQUIRE(v.to.mac == kClient.mac);
  REQUIRE(p->bytes[5] == 1);

  build_icmp_echo(*p, 8, kClient, kServer, 7, 9, "ping", 4);
  REQUIRE(parse_frame(p->bytes, p->length, v) == nullptr);
  REQUIRE(v.kind == FrameView::Kind::icmp);
  REQUIRE(v.icmp_type == 8);
  REQUIRE(payload_of(*p) == "ping");
}

TEST_CASE("each way in which a frame can be broken is named", "[frame]") {
  const auto broken = [](auto&& how) {
    PacketPtr p = udp_frame("hello, world");
    how(*p);
    return problem(*p);
  };
  const auto fix_ip = [](Packet& p) {
    store16(p.bytes + 24, 0);
    store16(p.bytes + 24, checksum_of(checksum_sum(p.bytes + 14, 4u * (p.bytes[14] & 15u))));
  };
  REQUIRE(broken([](Packet&) {}).empty());
  REQUIRE(broken([](Packet& p) { p.length = 13; }) == "Ethernet header is cut short");
  REQUIRE(broken([](Packet& p) { p.length = 33; }) == "IPv4 header is cut short");
  REQUIRE(broken([](Packet& p) { p.bytes[14] = 0x65; }) == "IP version is not 4");
  REQUIRE(broken([](Packet& p) { p.bytes[14] = 0x44; }) == "IPv4 header length is wrong");
  REQUIRE(broken([](Packet& p) { store16(p.bytes + 16, 19); }) == "IPv4 header length is wrong");
  REQUIRE(broken([](Packet& p) { --p.length; }) == "IPv4 total length is beyond the frame's end");
  REQUIRE(broken([](Packet& p) { p.bytes[26] ^= 1; }) == "IPv4 header checksum is wrong");
  REQUIRE(broken([](Packet& p) { p.bytes[50] ^= 1; }) == "UDP checksum is wrong");
  REQUIRE(broken([](Packet& p) { store16(p.bytes + 38, 7); }) == "UDP length is wrong");
  REQUIRE(broken([](Packet& p) { store16(p.bytes + 38, 21); }) == "UDP length is wrong");
  REQUIRE(broken([&](Packet& p) {
            store16(p.bytes + 16, 27);
            fix_ip(p);
          }) == "UDP header is cut short");
  REQUIRE(broken([&](Packet& p) {
            p.bytes[23] = kProtocolIcmp;
            fix_ip(p);
          }) == "ICMP checksum is wrong");
  PacketPtr arp = make_packet();
  build_arp(*arp, ArpOperation::request, kClient, kServer);
  arp->length -= 1;
  REQUIRE(problem(*arp) == "ARP packet is cut short");
  arp->length += 1;
  arp->bytes[19] = 16;
  REQUIRE(problem(*arp) == "ARP is not for IPv4 over Ethernet");
}

TEST_CASE("a datagram without checksum, a fragment and a foreign protocol are sound", "[frame]") {
  PacketPtr p = udp_frame("hello");
  store16(p->bytes + 40, 0);
  REQUIRE(payload_of(*p) == "hello");

  FrameView v;
  p = udp_frame("hello");
  store16(p->bytes + 20, 0x2000);
  store16(p->bytes + 24, 0);
  store16(p->bytes + 24, checksum_of(checksum_sum(p->bytes + 14, 20)));
  REQUIRE(parse_frame(p->bytes, p->length, v) == nullptr);
  REQUIRE(v.kind == FrameView::Kind::other);
  store16(p->bytes + 12, 0x86dd);
  REQUIRE(parse_frame(p->bytes, p->length, v) == nullptr);
  REQUIRE(v.kind == FrameView::Kind::other);
}

TEST_CASE("an all-zero checksum is sent as all ones", "[frame]") {
  // With one of these payloads of two bytes the sum comes to 0xffff.
  PacketPtr p = make_packet();
  for (unsigned v = 0; v < 65536; ++v) {
    store16(p->bytes + kUdpPayload, v);
    finish_udp(*p, kClient, kServer, 2);
    REQUIRE(load16(p->bytes + 40) != 0);
  }
}

TEST_CASE("random bytes never parse beyond the frame", "[frame]") {
  base::RandomStream random({1, 0}, "test.frame", "noise");
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::uint8_t> bytes(random.below(64));  // exact size: the sanitizer catches any read beyond it
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random.next());
    if (bytes.size() > 14 && random.chance(3, 4)) {
      store16(bytes.data() + 12, random.chance(1, 4) ? kEtherTypeArp : kEtherTypeIpv4);
      bytes[14] = static_cast<std::uint8_t>(0x40 | random.below(16));
    }
    FrameView v;
    if (!parse_frame(bytes.data(), bytes.size(), v)) REQUIRE(v.payload + v.length <= bytes.size());
  }
}

TEST_CASE("a reflected frame is sound and goes back", "[frame]") {
  PacketPtr p = udp_frame("hello");
  REQUIRE(reflect(*p));
  FrameView v;
  REQUIRE(parse_frame(p->bytes, p->length, v) == nullptr);
  REQUIRE(v.from.mac == kServer.mac);
  REQUIRE(v.to.ip == kClient.ip);
  REQUIRE(v.to.port == kClient.port);
  REQUIRE(payload_of(*p) == "hello");

  build_icmp_echo(*p, 8, kClient, kServer, 7, 9, "ping", 4);
  REQUIRE(reflect(*p));
  REQUIRE(parse_frame(p->bytes, p->length, v) == nullptr);
  REQUIRE(v.icmp_type == 0);
  REQUIRE_FALSE(reflect(*p));

  build_arp(*p, ArpOperation::request, kClient, kServer);
  REQUIRE_FALSE(reflect(*p));
  p = udp_frame("hello");
  p->bytes[26] ^= 1;
  REQUIRE_FALSE(reflect(*p));
  REQUIRE(p->bytes[5] == 2);
}
