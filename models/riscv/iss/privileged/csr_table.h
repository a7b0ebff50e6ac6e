// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The table behind the CSR instructions: one row per register or run of registers. Internal to Privileged.

#include <cstdint>

#include "models/riscv/iss/privileged/csr.h"

namespace sluice::riscv {

class Privileged;

struct CsrTable {
  /// What an access needs beyond the privilege that the CSR's number encodes.
  enum class Needs : std::uint8_t { nothing, fp, counter, satp, pmp, aia, sstc };

  struct Row {
    const char* name = nullptr;
    std::uint16_t number = 0;
    std::uint16_t count = 1;      ///< CSRs with consecutive numbers
    std::uint8_t name_index = 0;  ///< of the first, appended to the name when count > 1
    Needs needs = Needs::nothing;
    /// Storage, and the bits that a write may change. Null: the functions read and write are used.
    std::uint64_t CsrRegisters::*field = nullptr;
    std::uint64_t mask = 0;
    bool (*read)(Privileged&, unsigned number, std::uint64_t& value) = nullptr;  ///< null: the field, or zero
    bool (*write)(Privileged&, unsigned number, std::uint64_t value) = nullptr;  ///< null: the field under its mask
  };

  /// The row of a CSR that a hart with this configuration has; null: it has none of this number.
  static const Row* find(unsigned number, const PrivilegedConfig& config);
  static bool read(const Row& row, Privileged& hart, unsigned number, std::uint64_t& value);
  static bool write(const Row& row, Privileged& hart, unsigned number, std::uint64_t value);

  // Functions that rows point to, for reads and writes that are more than storage.
  using Value = std::uint64_t;
  static bool read_fcsr(Privileged&, unsigned, Value&);
  static bool write_fcsr(Privileged&, unsigned, Value);
  static bool read_status(Privileged&, unsigned, Value&);
  static bool write_status(Privileged&, unsigned, Value);
  static bool read_identity(Privileged&, unsigned, Value&);
  static bool read_interrupts(Privileged&, unsigned, Value&);
  static bool write_interrupts(Privileged&, unsigned, Value);
  static bool write_vector(Privileged&, unsigned, Value);
  static bool write_senvcfg(Privileged&, unsigned, Value);
  static bool write_menvcfg(Privileged&, unsigned, Value);
  static bool write_satp(Privileged&, unsigned, Value);
  static bool write_stimecmp(Privileged&, unsigned, Value);
  static bool read_counter(Privileged&, unsigned, Value&);
  static bool write_counter(Privileged&, unsigned, Value);
  static bool read_pmp(Privileged&, unsigned, Value&);
  static bool write_pmp(Privileged&, unsigned, Value);
  static bool read_aia(Privileged&, unsigned, Value&);
  static bool write_aia(Privileged&, unsigned, Value);
};

}  // namespace sluice::riscv
