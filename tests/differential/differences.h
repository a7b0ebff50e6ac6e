// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Where the ISS and QEMU 7.2 may differ: what is not compared or not drawn, each with its reason. This is the whole
/// list; docs/differential.md explains it.

#include <cstdint>
#include <string>
#include <vector>

#include "models/riscv/iss/decode/decode.h"
#include "tests/differential/draw.h"
#include "tests/differential/image.h"

namespace sluice::differential {

struct Difference {
  const char* what;
  const char* why;
  const char* tested_by;  ///< what tests the ISS there
};
const std::vector<Difference>& known_differences();

/// CSR numbers whose existence or value differs: not drawn.
bool csr_differs(unsigned number);
/// Bits of a CSR that programs may write: all but those that only one of the two has.
std::uint64_t drawn_bits(unsigned number);
/// Operations for which QEMU 7.2 is wrong where the low half of the operand is zero and the upper one is not.
bool operand_differs(riscv::Opcode op);
/// Words that one of the two executes though they are no instructions of the other: not drawn.
bool word_differs(std::uint32_t word);
/// A pmpcfg byte that both store as it is: without lock, without W where R is missing.
std::uint64_t draw_pmp_config(Draw& draw);

/// Replaces what QEMU wrote down by what the ISS should have there, for the comparison. `word`: the instruction at epc,
/// 0 if it is not in the program's code. `to_supervisor`: an entry of the supervisor's log.
void expect(LogEntry& from_qemu, const LogEntry& from_iss, std::uint32_t word, const Descriptor& program,
            bool to_supervisor);
void expect(Result& from_qemu, const Result& from_iss);

}  // namespace sluice::differential
