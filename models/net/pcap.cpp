// SPDX-License-Identifier: Apache-2.0
#include "models/net/pcap.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace sluice::net {

namespace {

constexpr std::uint32_t kMagicNanoseconds = 0xa1b23c4d;
constexpr std::uint32_t kMagicMicroseconds = 0xa1b2c3d4;
constexpr std::uint32_t kMagicPcapng = 0x0a0d0d0a;  ///< a section header block; the same in both byte orders
constexpr std::uint32_t kLinkTypeEthernet = 1;
constexpr std::uint32_t kSnapLength = 262144;
constexpr std::size_t kFileHeader = 24;
constexpr std::size_t kRecordHeader = 16;

std::uint32_t get32(const std::uint8_t* p) {
  return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8 |
         static_cast<std::uint32_t>(p[2]) << 16 | static_cast<std::uint32_t>(p[3]) << 24;
}

}  // namespace

PcapWriter::PcapWriter(std::string path) : file_(std::move(path), kLinkTypeEthernet) {}

void PcapWriter::write(base::Time at, const void* frame, std::uint32_t length) {
  file_.write(at.femtoseconds() / 1'000'000, {static_cast<const char*>(frame), length});
}

void capture(Wire& wire, Wire::End end, PcapWriter& writer) {
  wire.add_tap(end, [&writer](const Packet& p, Wire::Direction, base::Time t) { writer.write(t, p.bytes, p.length); });
}

PcapReader::PcapReader(std::string path) : path_(std::move(path)), file_(base::open_input_file(path_)) {
  std::uint8_t header[kFileHeader];
  const std::size_t got = std::fread(header, 1, sizeof header, file_.get());
  if (std::ferror(file_.get())) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  const std::uint32_t magic = got >= 4 ? get32(header) : 0;
  const std::uint32_t other_order = __builtin_bswap32(magic);
  if (magic == kMagicPcapng) fail("is a pcapng file; convert it with: editcap -F nsecpcap OLD NEW");
  swapped_ = other_order == kMagicNanoseconds || other_order == kMagicMicroseconds;
  nanoseconds_ = magic == kMagicNanoseconds || other_order == kMagicNanoseconds;
  if (!swapped_ && !nanoseconds_ && magic != kMagicMicroseconds) fail("is not a pcap file");
  if (got < kFileHeader) fail("is a pcap file that is cut off within its header");
  if (number(header + 4) != (swapped_ ? 2u << 16 | 4u : 2u | 4u << 16)) fail("is not a pcap file of version 2.4");
  if ((number(header + 20) & 0xffff) != kLinkTypeEthernet)
    fail(fmt::format("holds packets of link type {}, not Ethernet (1)", number(header + 20) & 0xffff));
}

void PcapReader::fail(const std::string& what) const { throw std::runtime_error(path_ + ": " + what); }

std::uint32_t PcapReader::number(const std::uint8_t* p) const {
  return swapped_ ? __builtin_bswap32(get32(p)) : get32(p);
}

bool PcapReader::next(Frame& frame) {
  std::uint8_t header[kRecordHeader];
  const std::size_t got = std::fread(header, 1, sizeof header, file_.get());
  if (std::ferror(file_.get())) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (got == 0) return false;
  const std::uint64_t name = frames_ + 1;
  if (got < sizeof header) fail(fmt::format("is cut off within frame {}", name));

  const std::uint64_t seconds = number(header);
  const std::uint64_t nanoseconds = number(header + 4) * (nanoseconds_ ? std::uint64_t{1} : 1000);
  const std::uint32_t captured = number(header + 8);
  const std::uint32_t length = number(header + 12);
  if (nanoseconds >= 1'000'000'000) fail(fmt::format("frame {} has an impossible time stamp", name));
  if (captured > length || captured > kSnapLength) fail(fmt::format("frame {} has an impossible length", name));
  if (captured < length)
    fail(fmt::format("frame {} was captured only in part ({} of {} bytes)", name, captured, length));
  if (length > Packet::kCapacity)
    fail(fmt::format("frame {} has {} bytes; at most {} are supported", name, length, Packet::kCapacity));
  frame.bytes.resize(length);
  if (length && std::fread(frame.bytes.data(), 1, length, file_.get()) != length)
    fail(fmt::format("is cut off within frame {}", name));

  const std::uint64_t now = seconds * 1'000'000'000 + nanoseconds;
  if (frames_++ == 0) first_ = now;
  const std::uint64_t since = now > first_ ? now - first_ : 0;
  if (since > base::Time::max().femtoseconds() / 1'000'000)
    fail(fmt::format("frame {} is more than five hours after the first", name));
  frame.at = base::Time::ns(since);
  return true;
}

}  // namespace sluice::net
