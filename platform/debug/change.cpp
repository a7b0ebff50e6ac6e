// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/change.h"

#include <algorithm>

namespace sluice::debug {
namespace {

constexpr std::size_t kHeader = 1 + 4 + 8, kDevice = 1 + 8, kEntry = 8, kStretch = 8 + 8;

bool is_width(std::size_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

bool is_sound(const Change& c) {
  switch (c.kind) {
    case Change::Kind::memory:
      return !c.bytes.empty();
    case Change::Kind::end:
      return c.bytes.empty();
    case Change::Kind::bus:
      return is_width(c.bytes.size());
    case Change::Kind::device:
      return c.bytes.size() > kDevice && is_width(c.bytes[0]);
    case Change::Kind::reset:
      return c.place == 0 &&
             (c.bytes.empty() || (c.bytes.size() >= kEntry && (c.bytes.size() - kEntry) % kStretch == 0));
    default:
      return c.bytes.size() == 8;
  }
}

}  // namespace

void put_number(std::vector<std::uint8_t>& bytes, std::uint64_t value, unsigned width) {
  for (unsigned i = 0; i < width; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

std::uint64_t number_of(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

Change Change::to_end() {
  Change c;
  c.kind = Kind::end;
  return c;
}

Change Change::to_device(std::string_view path, std::uint64_t offset, std::uint64_t value, unsigned width) {
  Change c;
  c.kind = Kind::device;
  c.place = offset;
  c.bytes.push_back(static_cast<std::uint8_t>(width));
  put_number(c.bytes, value);
  c.bytes.insert(c.bytes.end(), path.begin(), path.end());
  return c;
}

Change Change::to_entry(std::uint32_t hart, std::uint64_t entry, const std::vector<AddressRange>& program) {
  Change c;
  c.kind = Kind::reset;
  c.hart = hart;
  put_number(c.bytes, entry);
  for (const AddressRange& s : program) {
    put_number(c.bytes, s.address);
    put_number(c.bytes, s.length);
  }
  return c;
}

std::vector<AddressRange> Change::program() const {
  const std::span<const std::uint8_t> all = bytes;
  std::vector<AddressRange> program;
  for (std::size_t at = kEntry; at < all.size(); at += kStretch)
    program.push_back({number_of(all.subspan(at, 8)), number_of(all.subspan(at + 8, 8))});
  return program;
}

std::uint64_t Change::value() const {
  const std::span<const std::uint8_t> all = bytes;
  return number_of(all.subspan(kind == Kind::device ? 1 : 0, std::min<std::size_t>(all.size(), 8)));
}

std::vector<std::uint8_t> Change::encoded() const {
  std::vector<std::uint8_t> out;
  out.push_back(static_cast<std::uint8_t>(kind));
  put_number(out, hart, 4);
  put_number(out, place);
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

bool Change::decode(std::span<const std::uint8_t> encoded, Change& c) {
  if (encoded.size() < kHeader || encoded[0] > static_cast<std::uint8_t>(Kind::reset)) return false;
  c.kind = static_cast<Kind>(encoded[0]);
  c.hart = static_cast<std::uint32_t>(number_of(encoded.subspan(1, 4)));
  c.place = number_of(encoded.subspan(5, 8));
  encoded = encoded.subspan(kHeader);
  c.bytes.assign(encoded.begin(), encoded.end());
  return is_sound(c);
}

}  // namespace sluice::debug
