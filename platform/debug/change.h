#pragma once
/// One change that a debugger makes, in the form in which it is logged. Plain C++.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::debug {

/// The lowest byte first.
void put_number(std::vector<std::uint8_t>& bytes, std::uint64_t value, unsigned width = 8);
/// All of the bytes, 8 at most.
std::uint64_t number_of(std::span<const std::uint8_t> bytes);

/// Physical addresses.
struct AddressRange {
  std::uint64_t address, length;
};

struct Change {
  /// end: of the run. bus: a write to a device, as a hart's; device: the same to a register by its device's name;
  /// reset: of the board.
  enum class Kind : std::uint8_t { memory, integer, floating, pc, csr, privilege, end, bus, device, reset };
  Kind kind = Kind::memory;
  std::uint32_t hart = 0;   ///< index among all harts of the board; memory, bus: any of the system's
  std::uint64_t place = 0;  ///< memory, bus: physical address; device: offset; else the register's number in its kind
  /// memory, bus: what is written. Registers: 8 bytes, lowest first. device: width, 8 bytes, its path. reset: nothing
  /// for the board's images; for a program that has been loaded, the entry that the hart's cluster begins at, and the
  /// stretches in which the program lies, address and length, 8 bytes each. end: nothing.
  std::vector<std::uint8_t> bytes;

  /// Whether devices take part.
  bool acts() const { return kind > Kind::end; }

  static Change to_end();
  static Change to_device(std::string_view path, std::uint64_t offset, std::uint64_t value, unsigned width);
  static Change to_entry(std::uint32_t hart, std::uint64_t entry, const std::vector<AddressRange>& program = {});
  /// device: what has been written where.
  unsigned width() const { return bytes[0]; }
  std::string path() const { return {bytes.begin() + 9, bytes.end()}; }
  /// The value that a register or a device's register gets, or the address at which a reset lets harts begin.
  std::uint64_t value() const;
  /// reset to an entry: where the program lies.
  std::vector<AddressRange> program() const;

  std::vector<std::uint8_t> encoded() const;
  /// False: that is no change.
  static bool decode(std::span<const std::uint8_t> encoded, Change&);
};

}  // namespace sluice::debug
