// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which combinations of instruction, rounding mode and operand classes a run has executed, against those that the
/// decoder's table says there are.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/differential/encodings.h"
#include "tests/differential/machines.h"

namespace sluice::differential {

/// A cell is an operation with up to four small numbers, whose meanings axes_of() names.
struct Cell {
  Opcode op = Opcode::illegal;
  std::uint8_t a = 0, b = 0, c = 0, d = 0;
  auto operator<=>(const Cell&) const = default;
};

/// Counts during a stepped run.
class Coverage final : public Observer {
 public:
  void before(riscv::Hart& hart) override;
  void after(riscv::Hart& hart, bool executed) override;

  /// What has not been executed, in words. Empty: coverage is complete.
  std::vector<std::string> missing() const;
  /// A table by kind of instruction: instructions, cells that there are, cells executed, executions.
  std::string table() const;

 private:
  bool fetch(riscv::Hart& hart, std::uint32_t& word);
  std::map<Cell, std::uint64_t> counts_;
  std::array<std::uint64_t, kOpcodes> compressed_{};
  std::vector<std::uint64_t> pairs_;
  Opcode last_ = Opcode::illegal;
  std::uint64_t last_end_ = 0;
  Instruction now_;
  Cell cell_;
  bool known_ = false;
};

}  // namespace sluice::differential
