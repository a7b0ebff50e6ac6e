// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/protocol/packet.h"

#include <algorithm>

namespace sluice::debug {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr std::uint8_t kInterrupt = 0x03, kEscapeFlip = 0x20;

}  // namespace

void PacketReader::feed(std::span<const std::uint8_t> bytes) {
  waiting_.erase(0, at_);
  at_ = 0;
  waiting_.append(bytes.begin(), bytes.end());
}

Received PacketReader::next() {
  while (at_ < waiting_.size()) {
    const auto byte = static_cast<std::uint8_t>(waiting_[at_++]);
    Received result = Received::nothing;
    switch (state_) {
      case State::idle:
        result = idle(byte);
        break;
      case State::payload:
        if (byte == '$') {  // the packet before was cut off
          idle(byte);
        } else if (byte == '#') {
          state_ = State::checksum_high;
        } else {
          sum_ = static_cast<std::uint8_t>(sum_ + byte);
          if (byte == '}')
            state_ = State::escaped;
          else
            take(byte);
        }
        break;
      case State::escaped:
        sum_ = static_cast<std::uint8_t>(sum_ + byte);
        take(byte ^ kEscapeFlip);
        state_ = State::payload;
        break;
      case State::checksum_high:
        given_sum_ = hex_digit(static_cast<char>(byte));
        state_ = State::checksum_low;
        break;
      case State::checksum_low: {
        const int low = hex_digit(static_cast<char>(byte));
        given_sum_ = given_sum_ < 0 || low < 0 ? -1 : given_sum_ * 16 + low;
        result = finish();
        break;
      }
    }
    if (result != Received::nothing) return result;
  }
  return Received::nothing;
}

Received PacketReader::idle(std::uint8_t byte) {
  switch (byte) {
    case '$':
      state_ = State::payload;
      payload_.clear();
      sum_ = 0;
      too_long_ = false;
      return Received::nothing;
    case '+':
      return Received::acknowledged;
    case '-':
      return Received::refused;
    case kInterrupt:
      return Received::interrupt;
    default:
      return Received::nothing;
  }
}

void PacketReader::take(std::uint8_t byte) {
  if (payload_.size() < kMaxPayload)
    payload_ += static_cast<char>(byte);
  else
    too_long_ = true;
}

Received PacketReader::finish() {
  state_ = State::idle;
  return given_sum_ == sum_ && !too_long_ ? Received::packet : Received::broken;
}

std::string make_packet(std::string_view payload) {
  std::string packet = "$";
  std::uint8_t sum = 0;
  const auto put = [&](char c) {
    packet += c;
    sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(c));
  };
  for (const char c : payload) {
    if (c == '$' || c == '#' || c == '}' || c == '*') {
      put('}');
      put(static_cast<char>(c ^ kEscapeFlip));
    } else {
      put(c);
    }
  }
  packet += '#';
  packet += kDigits[sum >> 4];
  packet += kDigits[sum & 15];
  return packet;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string hex;
  for (const std::uint8_t b : bytes) {
    hex += kDigits[b >> 4];
    hex += kDigits[b & 15];
  }
  return hex;
}

std::string to_hex(std::string_view text) {
  return to_hex({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

bool from_hex(std::string_view hex, std::string& bytes) {
  bytes.clear();
  if (hex.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes += static_cast<char>(high << 4 | low);
  }
  return true;
}

bool Fields::skip(std::string_view prefix) {
  if (!rest_.starts_with(prefix)) return false;
  rest_.remove_prefix(prefix.size());
  return true;
}

bool Fields::number(std::uint64_t& value) {
  constexpr std::size_t kMostDigits = 16;
  std::size_t digits = 0;
  std::uint64_t v = 0;
  while (digits < rest_.size() && hex_digit(rest_[digits]) >= 0) {
    if (digits == kMostDigits) return false;
    v = v << 4 | static_cast<std::uint64_t>(hex_digit(rest_[digits++]));
  }
  if (digits == 0) return false;
  value = v;
  rest_.remove_prefix(digits);
  return true;
}

std::string_view Fields::until(char separator) {
  const std::size_t end = std::min(rest_.find(separator), rest_.size());
  const std::string_view field = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  return field;
}

}  // namespace sluice::debug
