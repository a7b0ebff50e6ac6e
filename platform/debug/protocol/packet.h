// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Framing of GDB's remote serial protocol: turns the bytes of a connection into packets, and back. Plain C++; takes
/// any bytes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sluice::debug {

/// What one step of PacketReader has found.
enum class Received : std::uint8_t {
  nothing,       ///< more bytes are needed
  packet,        ///< payload() is a packet with a good checksum
  broken,        ///< a packet with a bad checksum, or too long: ask for it again
  acknowledged,  ///< '+'
  refused,       ///< '-': send the last packet again
  interrupt,     ///< Ctrl-C
};

class PacketReader {
 public:
  /// Longest payload that is accepted, bytes, after unescaping.
  static constexpr std::size_t kMaxPayload = 0x4000;

  /// Takes bytes from the connection; packets may be split anywhere.
  void feed(std::span<const std::uint8_t> bytes);
  /// Call until it returns `nothing`.
  Received next();
  const std::string& payload() const { return payload_; }

 private:
  enum class State : std::uint8_t { idle, payload, escaped, checksum_high, checksum_low };
  Received idle(std::uint8_t byte);
  Received finish();
  void take(std::uint8_t byte);

  std::string waiting_;
  std::size_t at_ = 0;
  State state_ = State::idle;
  std::string payload_;
  std::uint8_t sum_ = 0;
  int given_sum_ = 0;  ///< -1: not hexadecimal
  bool too_long_ = false;
};

/// Makes "$payload#checksum" and escapes the characters that need it.
std::string make_packet(std::string_view payload);

/// 0 to 15; -1: no hexadecimal digit.
int hex_digit(char c);
std::string to_hex(std::span<const std::uint8_t> bytes);
std::string to_hex(std::string_view text);
/// False: an odd number of digits, or something else than digits.
bool from_hex(std::string_view hex, std::string& bytes);

/// Reads the fields of a packet from left to right.
class Fields {
 public:
  explicit Fields(std::string_view rest) : rest_(rest) {}
  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  /// Takes this prefix; false: it is not there.
  bool skip(std::string_view prefix);
  /// Takes a hexadecimal number of 1 to 16 digits; false: there is none, or it is longer.
  bool number(std::uint64_t& value);
  /// Takes everything before the separator, and the separator; without one, everything.
  std::string_view until(char separator);

 private:
  std::string_view rest_;
};

}  // namespace sluice::debug
