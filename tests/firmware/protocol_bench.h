// SPDX-License-Identifier: Apache-2.0
/// The firmware's protocol code on the host, behind a NIC that is a list: frames go in, frames come out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "firmware/programs/kv_limits.h"
#include "firmware/rpc/port.h"
#include "protocols/rpc/calc.h"
#include "protocols/rpc/echo.h"
#include "protocols/rpc/kv.h"
}

namespace sluice::firmware_test {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t client_address = 0x0a000001;
constexpr uint32_t server_address = 0x0a000002;
constexpr uint16_t client_port = 700;

/// Appends big-endian fields.
class Writer {
 public:
  Writer& u8(uint32_t v);
  Writer& u16(uint32_t v);
  Writer& u32(uint32_t v);
  Writer& bytes(const Bytes& b);
  Writer& opaque(const Bytes& b);  ///< XDR: length, bytes, zero padding
  const Bytes& done() const { return out_; }
  operator Bytes() const { return out_; }

 private:
  Bytes out_;
};

uint32_t get16(const Bytes& b, size_t at);
uint32_t get32(const Bytes& b, size_t at);
Bytes text(const std::string& s);

/// Internet checksum, written apart from the firmware's.
uint16_t internet_checksum(const Bytes& b);

/// What a frame's IPv4 header and UDP header say; a test changes what it wants wrong.
struct Ipv4 {
  uint32_t version_length = 0x45;
  uint32_t fragment = 0;
  uint32_t protocol = 17;
  uint32_t source = client_address, destination = server_address;
  int length_error = 0;    ///< added to the length field
  int checksum_error = 0;  ///< added to the checksum field
};
struct Udp {
  uint32_t source = client_port, destination = RPC_PORT_SERVICES;
  int length_error = 0;
  int checksum_error = 0;
  bool checksum_absent = false;
};

Bytes ethernet(uint32_t type, const Bytes& payload);
Bytes ipv4(const Bytes& payload, const Ipv4& header = {});
Bytes udp(const Bytes& payload, const Udp& header = {}, const Ipv4& ip = {});

/// Payload of a sent UDP frame; requires that lengths, addresses and checksums are right.
Bytes udp_payload(const Bytes& frame);

class ProtocolBench {
 public:
  /// With `offload`, the NIC vouches for checksums on receive and is asked to insert them on transmit.
  explicit ProtocolBench(bool offload = false);

  /// Lets the firmware serve one frame and returns what it sent (at most one frame; empty if nothing).
  Bytes exchange(const Bytes& frame, uint32_t flags = 0);

  rpc_port& port() { return *port_; }
  const net_counters& net() const { return port_->interface.counters; }
  uint32_t last_kind() const { return nic_.last_kind; }

 private:
  struct Nic {
    nic_queue queue;  // first, so that the firmware's pointer to it points to the Nic
    uint8_t* buffer = nullptr;
    nic_frame frame{};
    bool waiting = false;
    int ended = 0;  // times the frame in hand was sent or released
    Bytes sent;
    uint32_t last_kind = 0;
  };
  static uint32_t receive(nic_queue*, nic_frame**);
  static void transmit(nic_queue*, uint8_t*, uint32_t, uint32_t);
  static void release(nic_queue*, uint8_t*);
  static void flush(nic_queue*);
  static void wait(nic_queue*);
  static const nic_driver driver;

  Nic nic_;
  std::unique_ptr<rpc_port> port_;
  std::unique_ptr<uint8_t[], void (*)(void*)> memory_;
};

}  // namespace sluice::firmware_test
