// SPDX-License-Identifier: Apache-2.0
/// Captures, as a replay workload names them.

#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "models/net/pcap.h"
#include "tests/fuzz/frames.h"

namespace sluice::fuzz {
namespace {

/// What the writer writes, and the same as others write it: microseconds, big-endian.
std::vector<Bytes> corpus() {
  const std::string path = std::filesystem::temp_directory_path() / ("fuzz-pcap-" + std::to_string(getpid()));
  {
    net::PcapWriter writer(path);
    base::Time at;
    for (const Bytes& f : valid_frames()) {
      writer.write(at, f.data(), static_cast<std::uint32_t>(f.size()));
      at = at + base::Time::us(3);
    }
    writer.close();
  }
  const Bytes ours = read_file(path);
  std::filesystem::remove(path);
  Bytes few(ours.begin(), ours.begin() + 24 + 16 + static_cast<std::ptrdiff_t>(valid_frames().front().size()));
  Bytes microseconds = few;
  microseconds[0] = 0xd4;
  microseconds[1] = 0xc3;
  Bytes swapped = few;
  for (std::size_t at : {0, 8, 12, 16, 20, 24, 28, 32, 36}) std::reverse(&swapped[at], &swapped[at] + 4);
  std::reverse(&swapped[4], &swapped[4] + 2);
  std::reverse(&swapped[6], &swapped[6] + 2);
  return {ours, few, microseconds, swapped};
}

}  // namespace

const Target target{.name = "pcap", .corpus = corpus, .runs = 20'000, .full_runs = 500'000};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  static fuzz::MemoryFile file("capture");
  file.assign(data, size);
  std::size_t bytes = 24;
  try {
    net::PcapReader reader(file.path());
    net::PcapReader::Frame frame;
    while (reader.next(frame)) {
      bytes += 16 + frame.bytes.size();
      fuzz::require(frame.bytes.size() <= net::Packet::kCapacity, "a frame is longer than any can be");
      fuzz::require(bytes <= size, "more was read than is there");
    }
    fuzz::require(bytes == size, "bytes were left out without an error");
  } catch (const std::runtime_error& e) {
    const std::string what = e.what();
    fuzz::require(what.starts_with(file.path() + ": ") && what.find('\n') == std::string::npos, e.what());
  }
  return 0;
}
