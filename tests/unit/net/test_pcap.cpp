// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "models/base/parameters/random.h"
#include "models/net/pcap.h"

using namespace sluice;
using namespace sluice::net;
using namespace sluice::base::literals;

namespace {

/// A file that is gone at the end of the test.
struct TemporaryFile {
  std::string path = "/tmp/sluice_test_pcap." + std::to_string(getpid());
  ~TemporaryFile() { std::remove(path.c_str()); }
  void fill(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

std::string bytes_of(std::initializer_list<std::uint32_t> words, bool big_endian = false) {
  std::string s;
  for (const std::uint32_t w : words)
    for (int i = 0; i < 4; ++i) s.push_back(static_cast<char>(w >> 8 * (big_endian ? 3 - i : i)));
  return s;
}

const std::string kHeader = bytes_of({0xa1b23c4d, 0x00040002, 0, 0, 262144, 1});

/// The sentence that reading `bytes` to the end fails with; empty when it does not.
std::string failure(const std::string& bytes) {
  TemporaryFile file;
  file.fill(bytes);
  try {
    PcapReader reader(file.path);
    PcapReader::Frame frame;
    while (reader.next(frame)) {
    }
  } catch (const std::runtime_error& e) {
    REQUIRE(std::string(e.what()).find(file.path + ": ") == 0);
    return std::string(e.what()).substr(file.path.size() + 2);
  }
  return {};
}

}  // namespace

TEST_CASE("what was written is read back, times relative to the first frame", "[pcap]") {
  TemporaryFile file;
  {
    PcapWriter writer(file.path);
    writer.write(base::Time::fs(5'000'000'999'999), "abc", 3);
    writer.write(3_s + 7_ns, "", 0);
    writer.write(3_s + 8_ns, "defgh", 5);
    REQUIRE(writer.frames() == 3);
    writer.close();
  }
  REQUIRE(file.bytes().substr(0, 24) == kHeader);
  PcapReader reader(file.path);
  PcapReader::Frame f;
  REQUIRE(reader.next(f));
  REQUIRE(f.at == 0_ns);
  REQUIRE(std::string(f.bytes.begin(), f.bytes.end()) == "abc");
  REQUIRE(reader.next(f));
  REQUIRE(f.at == 3_s + 7_ns - 5_ms);
  REQUIRE(f.bytes.empty());
  REQUIRE(reader.next(f));
  REQUIRE(f.bytes.size() == 5);
  REQUIRE_FALSE(reader.next(f));
  REQUIRE(reader.frames() == 3);
}

TEST_CASE("microseconds and the other byte order are understood", "[pcap]") {
  for (const bool big : {false, true}) {
    TemporaryFile file;
    file.fill(bytes_of({0xa1b2c3d4}, big) + (big ? std::string("\0\2\0\4", 4) : std::string("\2\0\4\0", 4)) +
              bytes_of({0, 0, 65535, 1}, big) + bytes_of({100, 999'999, 2, 2}, big) + "xy" +
              bytes_of({101, 1, 1, 1}, big) + "z" + bytes_of({99, 0, 1, 1}, big) + "w");
    PcapReader reader(file.path);
    PcapReader::Frame f;
    REQUIRE(reader.next(f));
    REQUIRE(reader.next(f));
    REQUIRE(f.at == 2_us);
    REQUIRE(f.bytes == std::vector<std::uint8_t>{'z'});
    REQUIRE(reader.next(f));
    REQUIRE(f.at == 0_ns);
  }
}

TEST_CASE("what is no capture is refused with one clear sentence", "[pcap]") {
  REQUIRE(failure("") == "is not a pcap file");
  REQUIRE(failure("hello, this is text and no capture") == "is not a pcap file");
  REQUIRE(failure(bytes_of({0x0a0d0d0a, 28, 0x1a2b3c4d, 1})) ==
          "is a pcapng file; convert it with: editcap -F nsecpcap OLD NEW");
  REQUIRE(failure(kHeader.substr(0, 20)) == "is a pcap file that is cut off within its header");
  REQUIRE(failure(bytes_of({0xa1b23c4d, 0x00040003, 0, 0, 1, 1})) == "is not a pcap file of version 2.4");
  REQUIRE(failure(bytes_of({0xa1b23c4d, 0x00040002, 0, 0, 1, 101})) ==
          "holds packets of link type 101, not Ethernet (1)");
  const std::string good = bytes_of({1, 2, 3, 3}) + "abc";
  REQUIRE(failure(kHeader + good).empty());
  REQUIRE(failure(kHeader + good + good.substr(0, 9)) == "is cut off within frame 2");
  REQUIRE(failure(kHeader + good + good.substr(0, 18)) == "is cut off within frame 2");
  REQUIRE(failure(kHeader + bytes_of({1, 2, 60, 1500})) == "frame 1 was captured only in part (60 of 1500 bytes)");
  REQUIRE(failure(kHeader + bytes_of({1, 2, 60, 50})) == "frame 1 has an impossible length");
  REQUIRE(failure(kHeader + bytes_of({1, 2, 0xffffffff, 0xffffffff})) == "frame 1 has an impossible length");
  REQUIRE(failure(kHeader + bytes_of({1, 1'000'000'000, 3, 3}) + "abc") == "frame 1 has an impossible time stamp");
  REQUIRE(failure(kHeader + bytes_of({1, 0, 9729, 9729})) == "frame 1 has 9729 bytes; at most 9728 are supported");
  REQUIRE(failure(kHeader + good + bytes_of({40'000, 0, 0, 0})) == "frame 2 is more than five hours after the first");
  REQUIRE_THROWS_WITH(PcapReader("/no/such.pcap"), "/no/such.pcap: cannot be read: No such file or directory");
  REQUIRE_THROWS_WITH(PcapReader("/tmp"), "/tmp: cannot be read: Is a directory");
}

TEST_CASE("random bytes behind a good header end in a sentence or in frames, never worse", "[pcap]") {
  base::RandomStream random({1, 0}, "test.pcap", "noise");
  for (int i = 0; i < 300; ++i) {
    std::string bytes = kHeader;
    for (std::uint64_t n = random.below(200); n > 0; --n) bytes.push_back(static_cast<char>(random.below(4)));
    failure(bytes);
  }
}

TEST_CASE("a capture that cannot be written is reported", "[pcap]") {
  REQUIRE_THROWS_WITH(PcapWriter("/no/such/folder/x.pcap"),
                      "/no/such/folder/x.pcap: cannot be written: No such file or directory");
  PcapWriter full("/dev/full");
  REQUIRE_THROWS_WITH(full.close(), "/dev/full: cannot be written: No space left on device");
}

TEST_CASE("tshark reads the stamps to the nanosecond", "[pcap]") {
  if (std::system("command -v tshark >/dev/null") != 0) {
    WARN("tshark is not installed: the capture was not read by it");
    return;
  }
  TemporaryFile file;
  {
    PcapWriter writer(file.path);
    writer.write(1_s + 123456789_ns, std::string(60, 'x').data(), 60);
    writer.close();
  }
  const std::string command =
      "tshark -r " + file.path + " -T fields -e frame.time_epoch 2>/dev/null | grep -qx 1.123456789";
  REQUIRE(std::system(command.c_str()) == 0);
}

TEST_CASE("a capture at an end of a wire sees both directions in order of time", "[pcap]") {
  struct End : Wire::Client {
    void frame_arrived(PacketPtr) override {}
  } a, b;
  base::calendar().clear();
  Wire wire("wire", {100_Gbps, 10_ns});
  wire.attach(Wire::kA, a);
  wire.attach(Wire::kB, b);
  TemporaryFile file;
  PcapWriter writer(file.path);
  capture(wire, Wire::kB, writer);
  const auto frame = [](char c) { return make_packet(std::string(60, c).data(), 60); };
  const base::Time start = base::now();
  wire.send(Wire::kA, frame('1'));
  wire.send(Wire::kA, frame('3'));
  wire.send(Wire::kB, frame('0'));
  wire.send(Wire::kB, frame('2'), start + 20_ns);
  while (base::calendar().next() != base::Time::max()) base::calendar().dispatch();
  writer.close();

  PcapReader reader(file.path);
  PcapReader::Frame f;
  const std::uint64_t times[] = {0, 15, 20, 22};  // '1': 10 ns and 72 octets of 0.08 ns; '3': 84 octets later
  for (int i = 0; i < 4; ++i) {
    REQUIRE(reader.next(f));
    REQUIRE(f.bytes[0] == '0' + i);
    REQUIRE(f.at == base::Time::ns(times[i]));
  }
}
