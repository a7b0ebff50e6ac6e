// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Configuration space of one function: which bits software may change, base address registers, capabilities. Offsets
/// and bits: models/pcie/pcie_regs.h. Plain C++.

#include <array>
#include <cstdint>

#include "models/base/parameters/quantity.h"

namespace sluice::pcie {

/// The identification registers of a function.
struct Identity {
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint32_t class_code = 0;  ///< 24 bits: base class, sub-class, interface
  std::uint8_t revision = 0;
  std::uint16_t subsystem_vendor = 0;
  std::uint16_t subsystem = 0;
};

/// One base address register; a 64-bit one takes the next number too.
struct Bar {
  enum class Kind : std::uint8_t { kNone, kMemory32, kMemory64 };
  Kind kind = Kind::kNone;
  bool prefetchable = false;
  std::uint64_t size = 0;  ///< bytes, a power of two, at least 16; of a 32-bit one at most 2 GiB
};

/// 256 bytes of registers: PCIE_VENDOR_ID to PCIE_INTERRUPT_PIN, for a bridge also PCIE_PRIMARY_BUS to
/// PCIE_BRIDGE_CONTROL, and those of the capabilities. This is no RegisterBank, because software also writes single
/// bytes of a register and words that span registers. The extended space beyond reads as zero: there are no extended
/// capabilities.
class ConfigSpace {
 public:
  static constexpr unsigned kBytes = 256;

  /// header_type: PCIE_HEADER_TYPE_ENDPOINT or _BRIDGE.
  ConfigSpace(const Identity&, std::uint8_t header_type);

  /// Software's view; reg is a multiple of 4 below 4096, bit n of byte_enables stands for byte reg + n.
  std::uint32_t read(unsigned reg) const { return reg < kBytes ? words_[reg / 4] : 0; }
  void write(unsigned reg, std::uint32_t value, unsigned byte_enables);

  /// The model's view: no masks.
  std::uint8_t get8(unsigned reg) const { return static_cast<std::uint8_t>(words_[reg / 4] >> reg % 4 * 8); }
  std::uint16_t get16(unsigned reg) const { return static_cast<std::uint16_t>(words_[reg / 4] >> reg % 4 * 8); }
  std::uint32_t get32(unsigned reg) const { return words_[reg / 4]; }
  void set8(unsigned reg, std::uint8_t v) { set(reg, v, 0xffu); }
  void set16(unsigned reg, std::uint16_t v) { set(reg, v, 0xffffu); }
  void set32(unsigned reg, std::uint32_t v) { words_[reg / 4] = v; }
  /// Bits of the DW at reg that software may change, on top of those it already may.
  void writable(unsigned reg, std::uint32_t bits) { writable_[reg / 4] |= bits; }
  /// Bits that software clears by writing one.
  void clear_by_one(unsigned reg, std::uint32_t bits) { clear_by_one_[reg / 4] |= bits; }

  /// Puts a capability at the end of the list; its registers follow from the returned offset on and are zero.
  unsigned add_capability(std::uint8_t id, unsigned bytes);
  /// Offset of a capability; 0 where there is none.
  unsigned find_capability(std::uint8_t id) const;
  /// Adds the PCI Express capability, version 2. type: PCIE_EXPRESS_TYPE_*.
  void add_express(unsigned type);

  /// Throws std::logic_error for an impossible BAR: one with an invalid size, a number out of range or in use, or no
  /// free number for the upper half of a 64-bit BAR.
  void define_bar(unsigned n, const Bar&);
  const Bar& bar(unsigned n) const { return bars_[n]; }
  /// The address that software has set; meaningful while memory decoding is on.
  std::uint64_t bar_address(unsigned n) const;

  bool memory_enabled() const;
  bool bus_master() const;

  /// PCI Express capability: sizes in bytes.
  unsigned max_payload() const;
  unsigned max_read_request() const;
  void set_max_payload(unsigned bytes, unsigned supported);
  void set_max_read_request(unsigned bytes);
  /// Of a root port: 64 or 128. A reset keeps it.
  void set_read_completion_boundary(unsigned bytes);
  /// Describes the link at the function's port in the PCI Express capability. A reset keeps these values.
  void set_link(unsigned generation, unsigned lanes, unsigned max_payload);

  /// reset() sets every register to its value at the last keep_reset_values().
  void keep_reset_values() { reset_ = words_; }
  void reset() { words_ = reset_; }

 private:
  void check_bar(unsigned n, const Bar&) const;
  void set(unsigned reg, std::uint32_t v, std::uint32_t mask) {
    const unsigned shift = reg % 4 * 8;
    words_[reg / 4] = (words_[reg / 4] & ~(mask << shift)) | v << shift;
  }

  std::array<std::uint32_t, kBytes / 4> words_{};  ///< every register, by its offset
  std::array<std::uint32_t, kBytes / 4> writable_{};
  std::array<std::uint32_t, kBytes / 4> clear_by_one_{};
  std::array<std::uint32_t, kBytes / 4> reset_{};
  std::array<Bar, 6> bars_{};
  unsigned next_capability_ = 0x40;
  unsigned last_capability_ = 0;
  unsigned express_ = 0;
};

}  // namespace sluice::pcie
