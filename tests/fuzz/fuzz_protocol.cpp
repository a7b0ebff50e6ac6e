// SPDX-License-Identifier: Apache-2.0
/// One frame for everything that reads frames without a board: the remote hosts' parsers, the NIC's, and the firmware's
/// stack and services built for this machine, where the sanitizers see each of their accesses.

#include <algorithm>

#include "models/net/frame.h"
#include "models/net/headers.h"
#include "models/net/traffic/rpc.h"
#include "protocols/rpc/onc_rpc.h"
#include "tests/fuzz/frames.h"

extern "C" {
#include "firmware/rpc/port.h"
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace sluice::fuzz {
namespace {

void check_parsers(const std::uint8_t* data, std::size_t size) {
  net::FrameView view;
  const char* wrong = net::parse_frame(data, size, view);
  if (!wrong && view.kind != net::FrameView::Kind::arp)
    require(view.payload + std::size_t{view.length} <= size, "a payload reaches beyond its frame");
  if (!wrong && view.kind == net::FrameView::Kind::udp) {
    net::ReplyView reply;
    if (!net::parse_reply(data + view.payload, view.length, reply)) net::reply_failure(reply);
    net::CallView call;
    net::parse_call(data + view.payload, view.length, call);
  }
  if (net::PacketPtr packet = net::make_packet(data, size); packet && net::reflect(*packet)) {
    net::FrameView back;
    require(!net::parse_frame(packet->bytes, packet->length, back), "a frame that was turned around is broken");
    require(packet->length == size, "a frame that was turned around has another length");
  }
  if (size < 14) return;  // the MAC drops what has no Ethernet header
  net::parse_headers(data, size);
  Bytes copy(data, data + size);
  for (const unsigned ethernet : {14u, 0u, 254u})
    for (const unsigned ip : {20u, 0u, 508u}) {
      net::insert_udp_checksum(copy.data(), copy.size(), ethernet, ip);
      net::insert_ipv4_checksum(copy.data(), copy.size(), ethernet, ip);
    }
}

/// The firmware behind a NIC with one buffer, which lies between poisoned ones.
class Server {
 public:
  Server() {
    nic_.queue.driver = &kDriver;
    memory_ = static_cast<std::uint8_t*>(std::aligned_alloc(NIC_BUFFER_BYTES, 3 * NIC_BUFFER_BYTES));
    nic_.buffer = memory_ + NIC_BUFFER_BYTES;
    ASAN_POISON_MEMORY_REGION(memory_, NIC_BUFFER_BYTES);
    ASAN_POISON_MEMORY_REGION(nic_.buffer + NIC_BUFFER_BYTES, NIC_BUFFER_BYTES);
    struct nic nic = {};
    std::copy_n(kBoardMac, 6, nic.mac);
    nic.max_frame = 1514;
    nic.buffer_bytes = NIC_BUFFER_BYTES;
    nic.queues = 1;
    nic.queue[0] = &nic_.queue;
    rpc_programs_setup();
    for (const bool offload : {false, true}) {
      nic.rx_checksum = nic.tx_checksum = offload;
      rpc_port_setup(&port_[offload], &nic, 0, kBoardAddress);
    }
  }

  void serve(const std::uint8_t* data, std::size_t size, bool offload) {
    if (size > 1514) return;
    std::memset(nic_.buffer, 0xee, NIC_BUFFER_BYTES);
    std::copy_n(data, size, nic_.buffer + NIC_BUFFER_HEADROOM);
    nic_.frame = {nic_.buffer + NIC_BUFFER_HEADROOM, static_cast<std::uint32_t>(size), offload ? flags(data, size) : 0};
    nic_.waiting = true;
    nic_.sent = nic_.released = 0;
    rpc_port& port = port_[offload];
    const std::uint64_t before = discarded(port);
    rpc_call call;
    while (rpc_poll(&port, &call) != 0) rpc_execute(&port, &call);
    require(nic_.sent + nic_.released == 1, "a frame was not ended once");
    require(discarded(port) - before == nic_.released, "a discarded frame was not counted once");
  }

 private:
  struct Nic {
    nic_queue queue;  // first, so that the firmware's pointer to it points to the Nic
    std::uint8_t* buffer = nullptr;
    nic_frame frame{};
    bool waiting = false;
    unsigned sent = 0, released = 0;
  };

  static Nic& nic_of(nic_queue* queue) { return *reinterpret_cast<Nic*>(queue); }
  static std::uint32_t receive(nic_queue* queue, nic_frame** frames) {
    Nic& nic = nic_of(queue);
    if (!nic.waiting) return 0;
    nic.waiting = false;
    frames[0] = &nic.frame;
    return 1;
  }
  static void transmit(nic_queue* queue, std::uint8_t* data, std::uint32_t length, std::uint32_t kind) {
    Nic& nic = nic_of(queue);
    ++nic.sent;
    require(data >= nic.buffer && length <= NIC_BUFFER_BYTES - static_cast<std::size_t>(data - nic.buffer),
            "a reply does not lie in its buffer");
    require(length >= 14 && length <= 1514, "a reply has an impossible length");
    if (kind == NIC_SEND_UDP)
      require(net::insert_udp_checksum(data, length, 14, 20) && net::insert_ipv4_checksum(data, length, 14, 20),
              "a reply is not what its checksums are asked for");
    net::FrameView view;
    const char* wrong = net::parse_frame(data, length, view);
    if (wrong) fail(std::string("a reply is broken: ") + wrong);
  }
  static void release(nic_queue* queue, std::uint8_t* data) {
    Nic& nic = nic_of(queue);
    ++nic.released;
    require(data >= nic.buffer && data < nic.buffer + NIC_BUFFER_BYTES, "another buffer was released");
  }
  static void flush(nic_queue*) {}
  static void wait(nic_queue*) {}
  static constexpr nic_driver kDriver = {receive, transmit, release, flush, wait, nullptr, nullptr, nullptr};

  /// What the NIC says of a frame's checksums.
  static std::uint32_t flags(const std::uint8_t* data, std::size_t size) {
    if (size < 14) return 0;
    const net::Headers h = net::parse_headers(data, size);
    if (!h.ipv4) return 0;
    return NIC_FRAME_CHECKED | (h.ip_checksum_good ? 0 : NIC_FRAME_IP_ERROR) |
           (h.udp && !h.udp_checksum_good ? NIC_FRAME_L4_ERROR : 0);
  }
  static std::uint64_t discarded(const rpc_port& port) {
    const net_counters& n = port.interface.counters;
    return n.ethernet_ignored + n.arp_ignored + n.ipv4_malformed + n.ipv4_fragments + n.ipv4_ignored + n.icmp_ignored +
           n.tcp_ignored + n.udp_malformed + port.counters.no_port + port.counters.malformed + port.counters.unanswered;
  }

  Nic nic_;
  std::uint8_t* memory_;
  rpc_port port_[2];
};

}  // namespace

const Target target{.name = "protocol",
                    .corpus = [] { return valid_frames(); },
                    .mutate = mutate_frame,
                    .runs = 100'000,
                    .full_runs = 2'000'000,
                    .longest = 9728};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::fuzz;
  static Server server;
  check_parsers(data, size);
  server.serve(data, size, false);
  server.serve(data, size, true);
  return 0;
}
