// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The architectural state that every execution engine shares. Plain C++, no SystemC.

#include <cstdint>

namespace sluice::riscv {

enum class Privilege : std::uint8_t { user = 0, supervisor = 1, machine = 3 };
enum class Access : std::uint8_t { fetch, load, store };  ///< AMOs and SC count as stores

/// How a page is accessed: the values of a page-table entry's field PBMT (Svpbmt, which reserves the last).
enum class MemoryType : std::uint8_t {
  normal,        ///< as what is there: RAM and lines with homes through the caches, devices in order
  noncacheable,  ///< NC: no caches; stores are combined, and loads may read a block
  io,            ///< no caches, in order
  write_through  ///< devices through a cache that only software keeps up to date; all else as `normal`
};

/// RISC-V exception codes (mcause without the interrupt bit).
enum class Cause : std::uint8_t {
  fetch_misaligned = 0,
  fetch_access = 1,
  illegal_instruction = 2,
  breakpoint = 3,
  load_misaligned = 4,
  load_access = 5,
  store_misaligned = 6,
  store_access = 7,
  ecall_user = 8,
  ecall_supervisor = 9,
  ecall_machine = 11,
  fetch_page = 12,
  load_page = 13,
  store_page = 15,
  none = 255
};

struct HartState {
  static constexpr unsigned kSink = 32;  ///< writes to x0 are decoded as writes to x[kSink]

  std::uint64_t x[33] = {};
  std::uint64_t pc = 0;
  std::uint64_t f[32] = {};  ///< singles are NaN-boxed
  std::uint64_t instret = 0;
  /// Time on this hart's clock, in issue slots: a cycle has `issue_width` of them. Stalls count. A reset does not
  /// change it.
  std::uint64_t slots = 0;
  /// timing = "interval": when the last instruction has retired, in slots. 0: as soon as the next one begins.
  std::uint64_t retired = 0;
  Privilege privilege = Privilege::machine;
  std::uint8_t fflags = 0;
  std::uint8_t frm = 0;
  bool reservation = false;
  std::uint64_t reservation_address = 0;  ///< physical, of the reserved 64 B line
};

}  // namespace sluice::riscv
