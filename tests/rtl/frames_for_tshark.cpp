// SPDX-License-Identifier: Apache-2.0
// Writes frames as a pcap file, and what the RPC decoder makes of each as a line on standard output: the verdict, and
// of a call its transaction id, program, version and procedure. frames_for_tshark FILE COUNT SEED
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "models/nic/rpc_decoder/decode.h"
#include "tests/rtl/rpc_frames.h"

using namespace sluice;
using namespace sluice::nic::rpc;

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  test::RpcFrames random(std::strtoull(argv[3], nullptr, 10));
  ServiceTable table;
  std::vector<Service> services;
  for (unsigned i = 0; i < kServices; ++i) {
    services.push_back(random.service(i));
    services.back().owner = static_cast<std::uint16_t>(i);
    table.set(i, services.back());
  }
  std::FILE* file = std::fopen(argv[1], "wb");
  if (file == nullptr) return 1;
  const std::array<std::uint32_t, 6> head = {0xa1b23c4d, 2 | 4 << 16, 0, 0, 65535, 1};
  std::fwrite(head.data(), 4, head.size(), file);
  Decoded decoded;
  Path path;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const Service& s = services[random.upto(kServices - 1)];
    const test::FrameBytes f = random.one_in(2) ? random.call(s) : random.changed(s);
    const auto length = static_cast<std::uint32_t>(f.size());
    const std::array<std::uint32_t, 4> record = {static_cast<std::uint32_t>(i), 0, length, length};
    std::fwrite(record.data(), 4, record.size(), file);
    std::fwrite(f.data(), 1, f.size(), file);
    decode(f, table, decoded, path);
    std::printf("%u", decoded.verdict);
    if (decoded.verdict == RPCD_CALL) {
      std::uint32_t xid;
      std::memcpy(&xid, decoded.line.data() + 4, 4);
      const ServiceKey& key = services[decoded.owner].key;
      std::printf(" %u %u %u %u", xid, key.program, key.version, key.procedure);
    }
    std::printf("\n");
  }
  return std::fclose(file) == 0 ? 0 : 1;
}
