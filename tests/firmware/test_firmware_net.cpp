// SPDX-License-Identifier: Apache-2.0
// Ethernet, ARP, ICMP, IPv4 and UDP of the firmware, frame by frame.
#include <random>

#include <catch2/catch.hpp>

#include "tests/firmware/protocol_bench.h"

extern "C" {
#include "firmware/net/checksum.h"
}

using namespace sluice::firmware_test;

namespace {

Bytes arp_request(uint32_t target, uint32_t operation = 1) {
  Writer w;
  w.u16(1).u16(0x0800).u8(6).u8(4).u16(operation);
  w.bytes({2, 0, 0, 0, 0, 1}).u32(client_address).bytes({0, 0, 0, 0, 0, 0}).u32(target);
  return ethernet(0x0806, w);
}

Bytes echo_request(const Bytes& data, int checksum_error = 0, uint32_t type = 8) {
  Bytes icmp = Writer().u8(type).u8(0).u16(0).u16(0x1234).u16(1).bytes(data);
  uint32_t checksum = internet_checksum(icmp) + static_cast<uint32_t>(checksum_error);
  icmp[2] = static_cast<uint8_t>(checksum >> 8);
  icmp[3] = static_cast<uint8_t>(checksum);
  return icmp;
}

/// A TCP segment from the client to the portmapper.
struct Segment {
  uint32_t flags = 0x10, sequence = 1000, acknowledgment = 0;
  uint32_t port = 111;
  int checksum_error = 0;

  Bytes frame(const Bytes& data = {}) const {
    Bytes tcp =
        Writer().u16(900).u16(port).u32(sequence).u32(acknowledgment).u8(0x50).u8(flags).u16(512).u32(0).bytes(data);
    Bytes pseudo = Writer().u32(client_address).u32(server_address).u16(6).u16(static_cast<uint32_t>(tcp.size()));
    uint32_t checksum = internet_checksum(Writer().bytes(pseudo).bytes(tcp)) + static_cast<uint32_t>(checksum_error);
    tcp[16] = static_cast<uint8_t>(checksum >> 8);
    tcp[17] = static_cast<uint8_t>(checksum);
    return ipv4(tcp, {.protocol = 6});
  }
};

/// Flags of a segment that the firmware sent, after checking what every segment must have.
uint32_t tcp_flags(const Bytes& frame, uint32_t acknowledgment) {
  REQUIRE(frame.size() >= 54);
  CHECK(internet_checksum(Bytes(frame.begin() + 14, frame.begin() + 34)) == 0);
  Bytes tcp(frame.begin() + 34, frame.end());
  Bytes pseudo = Writer().u32(server_address).u32(client_address).u16(6).u16(static_cast<uint32_t>(tcp.size()));
  CHECK(internet_checksum(Writer().bytes(pseudo).bytes(tcp)) == 0);
  CHECK(get16(tcp, 2) == 900);
  CHECK(get32(tcp, 8) == acknowledgment);
  return tcp[13];
}

Bytes null_call() {
  return Writer().u32(5).u32(0).u32(2).u32(RPC_PROGRAM_CALC).u32(1).u32(0).u32(0).u32(0).u32(0).u32(0);
}

}  // namespace

TEST_CASE("an ARP request for the own address is answered", "[firmware]") {
  ProtocolBench bench;
  Bytes reply = bench.exchange(arp_request(server_address));
  Writer expected;
  expected.bytes({2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}).u16(0x0806);
  expected.u16(1).u16(0x0800).u8(6).u8(4).u16(2);
  expected.bytes({2, 0, 0, 0, 0, 2}).u32(server_address).bytes({2, 0, 0, 0, 0, 1}).u32(client_address);
  CHECK(reply == expected.done());
  CHECK(bench.net().arp == 1);
}

TEST_CASE("other ARP packets are ignored and counted", "[firmware]") {
  ProtocolBench bench;
  CHECK(bench.exchange(arp_request(server_address + 1)).empty());
  CHECK(bench.exchange(arp_request(server_address, 2)).empty());
  Bytes truncated = arp_request(server_address);
  truncated.resize(truncated.size() - 1);
  CHECK(bench.exchange(truncated).empty());
  Bytes wrong_hardware = arp_request(server_address);
  wrong_hardware[15] = 6;
  CHECK(bench.exchange(wrong_hardware).empty());
  CHECK(bench.net().arp_ignored == 4);
  CHECK(bench.net().arp == 0);
}

TEST_CASE("a ping is answered with its data, of odd length too", "[firmware]") {
  ProtocolBench bench;
  for (size_t n : {0u, 1u, 56u, 1472u}) {
    Bytes data(n);
    for (size_t i = 0; i < n; i++) data[i] = static_cast<uint8_t>(i * 7);
    Bytes reply = bench.exchange(ipv4(echo_request(data), {.protocol = 1}));
    REQUIRE(reply.size() == 42 + n);
    CHECK(internet_checksum(Bytes(reply.begin() + 14, reply.begin() + 34)) == 0);
    CHECK(get32(reply, 26) == server_address);
    CHECK(get32(reply, 30) == client_address);
    Bytes icmp(reply.begin() + 34, reply.end());
    CHECK(icmp[0] == 0);
    CHECK(internet_checksum(icmp) == 0);
    CHECK(Bytes(icmp.begin() + 8, icmp.end()) == data);
  }
  CHECK(bench.net().icmp == 4);
}

TEST_CASE("an ICMP message with a wrong checksum or of another type is ignored", "[firmware]") {
  ProtocolBench bench;
  CHECK(bench.exchange(ipv4(echo_request(text("x"), 1), {.protocol = 1})).empty());
  CHECK(bench.exchange(ipv4(echo_request(text("x"), 0, 13), {.protocol = 1})).empty());
  CHECK(bench.exchange(ipv4(Bytes{8, 0, 0xf7, 0xff}, {.protocol = 1})).empty());
  CHECK(bench.net().icmp_ignored == 3);
}

TEST_CASE("frames that are neither ARP nor IPv4 are ignored", "[firmware]") {
  ProtocolBench bench;
  CHECK(bench.exchange(ethernet(0x86dd, Bytes(60))).empty());
  CHECK(bench.exchange(Bytes(13)).empty());
  CHECK(bench.exchange(ethernet(0x0800, Bytes(19))).empty());
  CHECK(bench.net().ethernet_ignored == 3);
}

TEST_CASE("a malformed IPv4 header drops the frame", "[firmware]") {
  ProtocolBench bench;
  CHECK(bench.exchange(udp(null_call(), {}, {.version_length = 0x65})).empty());
  CHECK(bench.exchange(udp(null_call(), {}, {.version_length = 0x44})).empty());
  CHECK(bench.exchange(udp(null_call(), {}, {.length_error = 1})).empty());
  CHECK(bench.exchange(udp(null_call(), {}, {.length_error = -60})).empty());
  CHECK(bench.exchange(udp(null_call(), {}, {.checksum_error = 1})).empty());
  for (uint32_t source : {0u, 0xffffffffu, 0xe0000001u, 0x7f000001u}) {
    CHECK(bench.exchange(udp(null_call(), {}, {.source = source})).empty());
  }
  CHECK(bench.net().ipv4_malformed == 9);
  CHECK(bench.net().udp == 0);
}

TEST_CASE("IPv4 that is not for us is ignored", "[firmware]") {
  ProtocolBench bench;
  CHECK(bench.exchange(udp(null_call(), {}, {.destination = server_address + 1})).empty());
  CHECK(bench.exchange(udp(null_call(), {}, {.protocol = 50})).empty());
  CHECK(bench.net().ipv4_ignored == 2);
  CHECK(bench.exchange(udp(null_call(), {}, {.fragment = 0x2000})).empty());
  CHECK(bench.exchange(udp(null_call(), {}, {.fragment = 0x0001})).empty());
  CHECK(bench.net().ipv4_fragments == 2);
}

TEST_CASE("IPv4 options and Ethernet padding do not matter", "[firmware]") {
  ProtocolBench bench;
  Bytes frame = udp(null_call(), {}, {.version_length = 0x47});
  frame.insert(frame.end(), 6, 0xaa);
  CHECK(udp_payload(bench.exchange(frame)).size() == RPC_REPLY_HEADER_BYTES);
}

TEST_CASE("UDP lengths and checksums are verified", "[firmware]") {
  ProtocolBench bench;
  CHECK(bench.exchange(udp(null_call(), {.length_error = 1})).empty());
  CHECK(bench.exchange(udp(null_call(), {.length_error = -41})).empty());
  CHECK(bench.exchange(udp(null_call(), {.checksum_error = 1})).empty());
  CHECK(bench.exchange(ipv4(Bytes(7))).empty());
  CHECK(bench.net().udp_malformed == 4);
  CHECK_FALSE(bench.exchange(udp(null_call(), {.checksum_absent = true})).empty());
  CHECK(bench.net().udp == 1);
}

TEST_CASE("a datagram to the echo port comes back as it is", "[firmware]") {
  ProtocolBench bench;
  for (size_t n : {0u, 1u, 3u, 64u, 1472u}) {
    Bytes data(n, 0x5a);
    Bytes reply = bench.exchange(udp(data, {.destination = UDP_PORT_ECHO}));
    CHECK(udp_payload(reply) == data);
    CHECK(get16(reply, 34) == UDP_PORT_ECHO);
  }
  CHECK(bench.exchange(udp(text("x"), {.destination = UDP_PORT_ECHO + 1})).empty());
}

TEST_CASE("the NIC's verdict on checksums is believed when it has examined them", "[firmware]") {
  ProtocolBench bench(true);
  CHECK_FALSE(bench.exchange(udp(null_call(), {.checksum_error = 1}), NIC_FRAME_CHECKED).empty());
  CHECK(bench.last_kind() == NIC_SEND_UDP);
  CHECK(bench.exchange(udp(null_call()), NIC_FRAME_CHECKED | NIC_FRAME_L4_ERROR).empty());
  CHECK(bench.exchange(udp(null_call()), NIC_FRAME_CHECKED | NIC_FRAME_IP_ERROR).empty());
  CHECK(bench.net().udp_malformed == 1);
  CHECK(bench.net().ipv4_malformed == 1);
  // The NIC has not examined this frame: software does.
  CHECK(bench.exchange(udp(null_call(), {.checksum_error = 1})).empty());
  CHECK(bench.net().udp_malformed == 2);
}

TEST_CASE("a TCP client of the portmapper connects, calls and leaves", "[firmware]") {
  ProtocolBench bench;
  Bytes reply = bench.exchange(Segment{.flags = 0x02}.frame());
  CHECK(tcp_flags(reply, 1001) == 0x12);
  uint32_t sent = get32(reply, 38) + 1;

  CHECK(bench.exchange(Segment{.sequence = 1001, .acknowledgment = sent}.frame()).empty());
  Bytes call = Writer().u32(0x80000028).u32(5).u32(0).u32(2).u32(100000).u32(2).u32(0).u32(0).u32(0).u32(0).u32(0);
  Segment data{.flags = 0x18, .sequence = 1001, .acknowledgment = sent};
  reply = bench.exchange(data.frame(call));
  CHECK(tcp_flags(reply, 1045) == 0x18);
  CHECK(get32(reply, 38) == sent);
  CHECK(Bytes(reply.begin() + 54, reply.end()) ==
        Bytes(Writer().u32(0x80000018).u32(5).u32(1).u32(0).u32(0).u32(0).u32(0)));
  CHECK(bench.exchange(data.frame(call)) == reply);  // repeated: answered again

  reply = bench.exchange(Segment{.flags = 0x11, .sequence = 1045, .acknowledgment = sent + 28}.frame());
  CHECK(tcp_flags(reply, 1046) == 0x11);
  CHECK(get32(reply, 38) == sent + 28);
}

TEST_CASE("TCP that makes no sense is reset or ignored", "[firmware]") {
  ProtocolBench bench;
  CHECK(tcp_flags(bench.exchange(Segment{.flags = 0x02, .port = 22}.frame()), 1001) == 0x14);
  CHECK(tcp_flags(bench.exchange(Segment{.acknowledgment = 77}.frame(text("what"))), 1004) == 0x14);
  CHECK(bench.exchange(Segment{.flags = 0x04}.frame()).empty());
  CHECK(bench.exchange(Segment{.flags = 0x02, .checksum_error = 1}.frame()).empty());
  CHECK(bench.exchange(ipv4(Bytes(19), {.protocol = 6})).empty());
  uint32_t sent = get32(bench.exchange(Segment{.flags = 0x02}.frame()), 38) + 1;
  Segment data{.flags = 0x18, .sequence = 1001, .acknowledgment = sent};
  CHECK(bench.exchange(data.frame(Writer().u32(0x00000004).u32(5))).empty());  // not the last fragment
  CHECK(bench.exchange(data.frame(Writer().u32(0x80000008).u32(5))).empty());  // not all there
  CHECK(bench.exchange(data.frame(Bytes(3))).empty());
  CHECK(bench.net().tcp_ignored == 6);
}

TEST_CASE("random damage to frames is survived, and each buffer ends once", "[firmware]") {
  ProtocolBench bench(true);
  std::mt19937 random(1);
  Writer echo;
  echo.u32(9).u32(0).u32(2).u32(RPC_PROGRAM_ECHO).u32(1).u32(1).u32(1).u32(20).u32(0).u32(0).u32(0).u32(0).u32(0);
  echo.u32(0).u32(0).opaque(text("some bytes that come back"));
  Writer callit;
  callit.u32(9).u32(0).u32(2).u32(RPC_PROGRAM_PORTMAPPER).u32(2).u32(5).u32(0).u32(0).u32(0).u32(0);
  callit.u32(RPC_PROGRAM_KV).u32(1).u32(2).opaque(Writer().opaque(text("key")).opaque(text("value")));
  const Bytes seeds[] = {udp(echo), udp(callit, {.destination = RPC_PORT_PORTMAPPER}), arp_request(server_address),
                         Segment{.flags = 2}.frame(), ipv4(echo_request(text("abc")), {.protocol = 1})};
  size_t answered = 0;
  for (int i = 0; i < 40000; i++) {
    Bytes frame = seeds[random() % std::size(seeds)];
    for (uint32_t n = random() % 4; n > 0; n--) {
      uint8_t value = static_cast<uint8_t>(random() % 3 == 0   ? 0xff
                                           : random() % 3 == 0 ? 1u << random() % 8
                                                               : random());
      frame[random() % frame.size()] = value;
    }
    if (random() % 4 == 0) frame.resize(random() % (frame.size() + 1));
    answered += !bench.exchange(frame, NIC_FRAME_CHECKED).empty();
  }
  CHECK(answered > 10000);
  CHECK(answered < 39000);
}

TEST_CASE("a changed word moves a UDP checksum as a sum over all words would") {
  // 0xffff, not 0, stands for a sum whose complement is 0.
  const auto field = [](uint64_t sum) {
    const uint16_t f = checksum_finish(sum);
    return f == 0 ? uint16_t{0xffff} : f;
  };
  unsigned wrong = 0;
  for (uint32_t others = 1; others < 0x10000; ++others) {
    for (uint32_t byte = 0; byte < 0x100; ++byte) {
      const auto before = static_cast<uint16_t>(byte << 8), after = static_cast<uint16_t>((byte + 1) << 8);
      const auto swapped = [](uint16_t w) { return static_cast<uint16_t>(w << 8 | w >> 8); };
      wrong += checksum_update(field(others + swapped(before)), before, after) != field(others + swapped(after));
    }
  }
  CHECK(wrong == 0);
  CHECK(checksum_update(0, 0x100, 0x200) == 0);
}
