// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Writes instructions as text, in the format of GNU objdump -M no-aliases. Plain C++.

#include <cstdint>
#include <string>

namespace sluice::riscv {

/// The instruction at `pc`: mnemonic, a tab, operands; targets of branches and jumps are absolute addresses. A word
/// that is no instruction becomes ".2byte" or ".4byte". The upper half of the word is ignored when the lower half is a
/// compressed instruction.
std::string disassemble(std::uint32_t word, std::uint64_t pc);

/// Name of a CSR, 0 to 4095, whether or not a hart has the CSR. If it has no name, its number in hexadecimal.
std::string csr_name(unsigned number);
const char* integer_register(unsigned n);  ///< 0 to 31: "zero", "ra", ...
const char* float_register(unsigned n);    ///< 0 to 31: "ft0", ...

}  // namespace sluice::riscv
