// SPDX-License-Identifier: Apache-2.0
// The firmware's protocol code behind a TAP interface of this machine, so that real clients can be tried on it without
// a simulator: host_server INTERFACE [SECONDS] creates the interface and serves 10.0.0.2 on it. Run it in a network
// namespace of its own.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

extern "C" {
#include "firmware/kernel/memory.h"
#include "firmware/rpc/port.h"
}

namespace {

struct Tap {
  nic_queue queue;
  int file;
  nic_frame frame;
  bool waiting;
};

Tap& tap_of(nic_queue* queue) { return *reinterpret_cast<Tap*>(queue); }

uint32_t receive(nic_queue* queue, nic_frame** frames) {
  Tap& tap = tap_of(queue);
  if (!tap.waiting) return 0;
  tap.waiting = false;
  frames[0] = &tap.frame;
  return 1;
}
void transmit(nic_queue* queue, uint8_t* data, uint32_t length, uint32_t) {
  if (write(tap_of(queue).file, data, length) < 0) std::perror("host_server: write");
}
void release(nic_queue*, uint8_t*) {}
void nothing(nic_queue*) {}
const nic_driver driver = {receive, transmit, release, nothing, nothing, nullptr, nullptr, nullptr};

int open_tap(const char* name) {
  int file = open("/dev/net/tun", O_RDWR);
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  if (file < 0 || ioctl(file, TUNSETIFF, &request) != 0) {
    std::perror("host_server");
    std::exit(1);
  }
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  alarm(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 60);
  Tap tap = {{&driver}, open_tap(argv[1]), {}, false};
  struct nic nic = {};
  const uint8_t mac[6] = {2, 0, 0, 0, 0, 2};
  std::memcpy(nic.mac, mac, sizeof mac);
  nic.max_frame = 1514;
  nic.buffer_bytes = NIC_BUFFER_BYTES;
  nic.queues = 1;
  nic.queue[0] = &tap.queue;
  static rpc_port port;
  rpc_programs_setup();
  rpc_port_setup(&port, &nic, 0, RPC_IPV4_DEFAULT);
  auto* buffer = static_cast<uint8_t*>(memory_reserve(NIC_BUFFER_BYTES, NIC_BUFFER_BYTES));
  for (;;) {
    uint8_t* frame = buffer + NIC_BUFFER_HEADROOM;
    ssize_t n = read(tap.file, frame, 1514);
    if (n <= 0) continue;
    tap.frame = {frame, static_cast<uint32_t>(n), 0};
    tap.waiting = true;
    rpc_call call;
    while (rpc_poll(&port, &call) != 0) rpc_execute(&port, &call);
  }
}
