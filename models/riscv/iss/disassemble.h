#pragma once
/// Instructions as text, as GNU objdump -M no-aliases writes them. Plain C++.

#include <cstdint>
#include <string>

namespace sluice::riscv {

/// The instruction at `pc`: mnemonic, a tab, operands; targets of branches and jumps as absolute addresses. What is no
/// instruction becomes ".2byte" or ".4byte". The upper half of the word is ignored when the lower one is compressed.
std::string disassemble(std::uint32_t word, std::uint64_t pc);

/// Whether a hart has it or not; a number in hexadecimal where there is no name. 0 to 4095.
std::string csr_name(unsigned number);
const char* integer_register(unsigned n);  ///< 0 to 31: "zero", "ra", ...
const char* float_register(unsigned n);    ///< 0 to 31: "ft0", ...

}  // namespace sluice::riscv
