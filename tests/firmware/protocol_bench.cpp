// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/protocol_bench.h"

#include <cstdlib>
#include <cstring>

#include <catch2/catch.hpp>

namespace sluice::firmware_test {

Writer& Writer::u8(uint32_t v) {
  out_.push_back(static_cast<uint8_t>(v));
  return *this;
}
Writer& Writer::u16(uint32_t v) { return u8(v >> 8).u8(v); }
Writer& Writer::u32(uint32_t v) { return u16(v >> 16).u16(v); }
Writer& Writer::bytes(const Bytes& b) {
  out_.insert(out_.end(), b.begin(), b.end());
  return *this;
}
Writer& Writer::opaque(const Bytes& b) {
  u32(static_cast<uint32_t>(b.size())).bytes(b);
  while (out_.size() % 4 != 0) u8(0);
  return *this;
}

uint32_t get16(const Bytes& b, size_t at) { return static_cast<uint32_t>(b.at(at)) << 8 | b.at(at + 1); }
uint32_t get32(const Bytes& b, size_t at) { return get16(b, at) << 16 | get16(b, at + 2); }
Bytes text(const std::string& s) { return {s.begin(), s.end()}; }

uint16_t internet_checksum(const Bytes& b) {
  uint32_t sum = 0;
  for (size_t i = 0; i < b.size(); i++) {
    sum += i % 2 == 0 ? static_cast<uint32_t>(b[i]) << 8 : b[i];
    sum = (sum & 0xffff) + (sum >> 16);
  }
  return static_cast<uint16_t>(~sum);
}

Bytes ethernet(uint32_t type, const Bytes& payload) {
  return Writer().bytes({2, 0, 0, 0, 0, 2}).bytes({2, 0, 0, 0, 0, 1}).u16(type).bytes(payload);
}

Bytes ipv4(const Bytes& payload, const Ipv4& h) {
  uint32_t header = (h.version_length & 15) * 4;
  Writer w;
  w.u8(h.version_length)
      .u8(0)
      .u16(static_cast<uint32_t>(header + payload.size()) + static_cast<uint32_t>(h.length_error));
  w.u16(7).u16(h.fragment).u8(64).u8(h.protocol).u16(0).u32(h.source).u32(h.destination);
  for (uint32_t i = 20; i < header; i++) w.u8(1);  // no operation
  Bytes out = w;
  uint32_t checksum = internet_checksum(out) + static_cast<uint32_t>(h.checksum_error);
  out[10] = static_cast<uint8_t>(checksum >> 8);
  out[11] = static_cast<uint8_t>(checksum);
  out.insert(out.end(), payload.begin(), payload.end());
  return ethernet(0x0800, out);
}

static Bytes pseudo_header(uint32_t source, uint32_t destination, uint32_t length) {
  return Writer().u32(source).u32(destination).u16(17).u16(length);
}

Bytes udp(const Bytes& payload, const Udp& h, const Ipv4& ip) {
  uint32_t length = static_cast<uint32_t>(payload.size()) + 8;
  Writer w;
  w.u16(h.source).u16(h.destination).u16(length + static_cast<uint32_t>(h.length_error)).u16(0).bytes(payload);
  Bytes out = w;
  if (!h.checksum_absent) {
    Bytes all = Writer().bytes(pseudo_header(ip.source, ip.destination, length)).bytes(out);
    uint32_t checksum = internet_checksum(all);
    if (checksum == 0) checksum = 0xffff;
    checksum += static_cast<uint32_t>(h.checksum_error);
    out[6] = static_cast<uint8_t>(checksum >> 8);
    out[7] = static_cast<uint8_t>(checksum);
  }
  return ipv4(out, ip);
}

Bytes udp_payload(const Bytes& frame) {
  REQUIRE(frame.size() >= 42);
  CHECK(Bytes(frame.begin(), frame.begin() + 12) == Bytes{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2});
  REQUIRE(get16(frame, 12) == 0x0800);
  REQUIRE(get16(frame, 14) == 0x4500);
  REQUIRE(get16(frame, 16) == frame.size() - 14);
  CHECK(frame[23] == 17);
  CHECK(internet_checksum(Bytes(frame.begin() + 14, frame.begin() + 34)) == 0);
  CHECK(get32(frame, 26) == server_address);
  CHECK(get32(frame, 30) == client_address);
  CHECK(get16(frame, 36) == client_port);
  REQUIRE(get16(frame, 38) == frame.size() - 34);
  uint32_t length = get16(frame, 38);
  Bytes segment(frame.begin() + 34, frame.end());
  CHECK(get16(frame, 40) != 0);
  CHECK(internet_checksum(Writer().bytes(pseudo_header(server_address, client_address, length)).bytes(segment)) == 0);
  return Bytes(frame.begin() + 42, frame.end());
}

const nic_driver ProtocolBench::driver = {receive, transmit, release, flush, wait, nullptr, nullptr, nullptr};

ProtocolBench::ProtocolBench(bool offload)
    : port_(new rpc_port),
      memory_(static_cast<uint8_t*>(std::aligned_alloc(NIC_BUFFER_BYTES, NIC_BUFFER_BYTES)), std::free) {
  nic_.queue.driver = &driver;
  nic_.buffer = memory_.get();
  struct nic nic = {};
  const uint8_t mac[6] = {2, 0, 0, 0, 0, 2};
  std::memcpy(nic.mac, mac, 6);
  nic.rx_checksum = nic.tx_checksum = offload;
  nic.max_frame = 1514;
  nic.buffer_bytes = NIC_BUFFER_BYTES;
  nic.queues = 1;
  nic.queue[0] = &nic_.queue;
  static bool programs_are_there = false;
  if (!programs_are_there) rpc_programs_setup();
  programs_are_there = true;
  rpc_port_setup(port_.get(), &nic, 0, server_address);
}

uint32_t ProtocolBench::receive(nic_queue* queue, nic_frame** frames) {
  Nic& nic = *reinterpret_cast<Nic*>(queue);
  if (!nic.waiting) return 0;
  nic.waiting = false;
  frames[0] = &nic.frame;
  return 1;
}

void ProtocolBench::transmit(nic_queue* queue, uint8_t* data, uint32_t length, uint32_t kind) {
  Nic& nic = *reinterpret_cast<Nic*>(queue);
  nic.ended++;
  REQUIRE(data >= nic.buffer);
  REQUIRE(data + length <= nic.buffer + NIC_BUFFER_BYTES);
  REQUIRE(length <= 1514);
  nic.sent.assign(data, data + length);
  nic.last_kind = kind;
}

void ProtocolBench::release(nic_queue* queue, uint8_t* data) {
  Nic& nic = *reinterpret_cast<Nic*>(queue);
  nic.ended++;
  REQUIRE(data >= nic.buffer);
  REQUIRE(data < nic.buffer + NIC_BUFFER_BYTES);
}

void ProtocolBench::flush(nic_queue*) {}
void ProtocolBench::wait(nic_queue*) {}

Bytes ProtocolBench::exchange(const Bytes& frame, uint32_t flags) {
  REQUIRE(frame.size() <= NIC_BUFFER_BYTES - NIC_BUFFER_HEADROOM);
  std::memset(nic_.buffer, 0xee, NIC_BUFFER_BYTES);
  std::memcpy(nic_.buffer + NIC_BUFFER_HEADROOM, frame.data(), frame.size());
  nic_.frame = {nic_.buffer + NIC_BUFFER_HEADROOM, static_cast<uint32_t>(frame.size()), flags};
  nic_.waiting = true;
  nic_.ended = 0;
  nic_.sent.clear();
  rpc_call call;
  while (rpc_poll(port_.get(), &call) != 0) rpc_execute(port_.get(), &call);
  REQUIRE(nic_.ended == 1);  // the buffer was sent or released, and once
  return nic_.sent;
}

}  // namespace sluice::firmware_test
