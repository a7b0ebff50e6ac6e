// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One change that a debugger makes, in the form in which it is logged. Plain C++.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::debug {

/// Appends a number, lowest byte first.
void put_number(std::vector<std::uint8_t>& bytes, std::uint64_t value, unsigned width = 8);
/// The number in all of the bytes, 8 at most.
std::uint64_t number_of(std::span<const std::uint8_t> bytes);

/// Physical addresses.
struct AddressRange {
  std::uint64_t address, length;
};

struct Change {
  /// end: ends the run. bus: a write to a device by physical address, as a hart makes it. device: a write to a register
  /// of a device that is given by its path. reset: resets the board.
  enum class Kind : std::uint8_t { memory, integer, floating, pc, csr, privilege, end, bus, device, reset };
  Kind kind = Kind::memory;
  std::uint32_t hart = 0;   ///< index among all harts of the board; memory, bus: any hart of the system
  std::uint64_t place = 0;  ///< memory, bus: physical address; device: offset; else the register's number in its kind
  /// memory, bus: the bytes written. Registers: 8 bytes, lowest first. device: width (1 byte), value (8 bytes), path.
  /// end: empty. reset: empty for the board's images; for a program that has been loaded, the entry at which the hart's
  /// cluster begins, and address and length of each range of the program, 8 bytes each.
  std::vector<std::uint8_t> bytes;

  /// Whether the change acts on a device or on the whole board.
  bool acts() const { return kind > Kind::end; }

  static Change to_end();
  static Change to_device(std::string_view path, std::uint64_t offset, std::uint64_t value, unsigned width);
  static Change to_entry(std::uint32_t hart, std::uint64_t entry, const std::vector<AddressRange>& program = {});
  /// For a device: width and path.
  unsigned width() const { return bytes[0]; }
  std::string path() const { return {bytes.begin() + 9, bytes.end()}; }
  /// The value that a register receives, or the address at which harts begin after a reset.
  std::uint64_t value() const;
  /// For a reset to an entry: the ranges of the program.
  std::vector<AddressRange> program() const;

  std::vector<std::uint8_t> encoded() const;
  /// False: the bytes are not a change.
  static bool decode(std::span<const std::uint8_t> encoded, Change&);
};

}  // namespace sluice::debug
