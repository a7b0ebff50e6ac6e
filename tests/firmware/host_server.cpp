// The firmware's protocol code behind UDP sockets of this machine, so that real clients can be tried on it without a
// simulator: host_server [SECONDS] serves ports 111 and 20049 on all addresses. Run it in a network namespace.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

extern "C" {
#include "firmware/apps/kv.h"
#include "firmware/rpc/port.h"
}

extern "C" void* memory_reserve(size_t bytes, size_t alignment) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

namespace {

constexpr uint32_t header_bytes = UDP_FRAME_HEADER_BYTES;

struct Nic {
  nic_queue queue;
  nic_frame frame;
  bool waiting;
  std::vector<uint8_t> sent;
};
Nic device;

uint32_t receive(nic_queue*, nic_frame* frames) {
  if (!device.waiting) return 0;
  device.waiting = false;
  frames[0] = device.frame;
  return 1;
}
void transmit(nic_queue*, uint8_t* data, uint32_t length, uint32_t) { device.sent.assign(data, data + length); }
void release(nic_queue*, uint8_t*) {}
void nothing(nic_queue*) {}
const nic_driver driver = {receive, transmit, release, nothing, nothing};

int open_port(uint16_t port) {
  int s = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (s < 0 || bind(s, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("host_server");
    std::exit(1);
  }
  return s;
}

// Dresses a datagram as a frame whose checksums the NIC has examined, and sends the reply's payload back.
void serve(rpc_port* port, uint8_t* buffer, int s, uint16_t number) {
  uint8_t* frame = buffer + NIC_BUFFER_HEADROOM;
  std::memset(frame, 0, header_bytes);
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  ssize_t n = recvfrom(s, frame + header_bytes, 1500, 0, reinterpret_cast<sockaddr*>(&peer), &size);
  if (n < 0) return;
  auto put16 = [&](size_t at, size_t v) {
    frame[at] = static_cast<uint8_t>(v >> 8), frame[at + 1] = static_cast<uint8_t>(v);
  };
  put16(12, ETHERNET_IPV4);
  frame[14] = IPV4_VERSION_LENGTH;
  put16(16, static_cast<size_t>(n) + 28);
  frame[23] = IPV4_UDP;
  frame[26] = 10, frame[29] = 1;  // whoever asks
  frame[30] = 10, frame[33] = 2;
  std::memcpy(frame + 34, &peer.sin_port, 2);
  put16(36, number);
  put16(38, static_cast<size_t>(n) + 8);
  device.frame = {frame, static_cast<uint32_t>(n) + header_bytes, NIC_FRAME_CHECKED};
  device.waiting = true;
  device.sent.clear();
  rpc_call call;
  while (rpc_poll(port, &call) != 0) rpc_execute(port, &call);
  if (device.sent.empty()) return;
  sendto(s, device.sent.data() + header_bytes, device.sent.size() - header_bytes, 0, reinterpret_cast<sockaddr*>(&peer),
         size);
}

}  // namespace

int main(int argc, char** argv) {
  alarm(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 60);
  struct nic description = {};
  description.rx_checksum = description.tx_checksum = true;
  description.max_frame = 1514;
  description.queues = 1;
  description.queue[0] = &device.queue;
  device.queue.driver = &driver;
  static rpc_port port;
  rpc_port_setup(&port, &description, 0, RPC_IPV4_DEFAULT);
  kv_setup();
  auto* buffer = static_cast<uint8_t*>(memory_reserve(NIC_BUFFER_BYTES, NIC_BUFFER_BYTES));
  pollfd ports[] = {{open_port(RPC_PORT_PORTMAPPER), POLLIN, 0}, {open_port(RPC_PORT_SERVICES), POLLIN, 0}};
  const uint16_t numbers[] = {RPC_PORT_PORTMAPPER, RPC_PORT_SERVICES};
  for (;;) {
    poll(ports, 2, -1);
    for (int i = 0; i < 2; i++) {
      if ((ports[i].revents & POLLIN) != 0) serve(&port, buffer, ports[i].fd, numbers[i]);
    }
  }
}
