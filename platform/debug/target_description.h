// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The registers of a hart in the form in which GDB asks for them.

#include <string>

#include "models/riscv/iss/privileged/csr.h"

namespace sluice::debug {

/// Features org.gnu.gdb.riscv.cpu, .fpu, .csr and .virtual of an RV64 hart; numbers as in register_number.
std::string target_description(const riscv::PrivilegedConfig&);

}  // namespace sluice::debug
