// SPDX-License-Identifier: Apache-2.0
#include "platform/debug/target_description.h"

#include <fmt/format.h>

#include "models/riscv/iss/decode/disassemble.h"
#include "platform/debug/protocol/target.h"

namespace sluice::debug {
namespace {

bool in_float_unit(unsigned csr) {
  return csr == riscv::csr::kFflags || csr == riscv::csr::kFrm || csr == riscv::csr::kFcsr;
}

std::string csr_line(const riscv::CsrInfo& c) {
  return fmt::format("    <reg name=\"{}\" bitsize=\"64\" regnum=\"{}\" type=\"int\" group=\"{}\"/>\n", c.name,
                     register_number::kCsr0 + c.number, in_float_unit(c.number) ? "float" : "csr");
}

}  // namespace

std::string target_description(const riscv::PrivilegedConfig& config) {
  std::string xml =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n"
      "  <architecture>riscv:rv64</architecture>\n  <feature name=\"org.gnu.gdb.riscv.cpu\">\n";
  for (unsigned n = 0; n < 32; ++n) {
    const char* type = n == 1 ? "code_ptr" : n >= 2 && n <= 4 ? "data_ptr" : "int";
    xml += fmt::format("    <reg name=\"{}\" bitsize=\"64\" regnum=\"{}\" type=\"{}\"/>\n", riscv::integer_register(n),
                       n, type);
  }
  xml += fmt::format("    <reg name=\"pc\" bitsize=\"64\" regnum=\"{}\" type=\"code_ptr\"/>\n  </feature>\n",
                     register_number::kPc);
  xml +=
      "  <feature name=\"org.gnu.gdb.riscv.fpu\">\n    <union id=\"riscv_double\">\n"
      "      <field name=\"float\" type=\"ieee_single\"/>\n      <field name=\"double\" type=\"ieee_double\"/>\n"
      "    </union>\n";
  for (unsigned n = 0; n < 32; ++n)
    xml += fmt::format("    <reg name=\"{}\" bitsize=\"64\" regnum=\"{}\" type=\"riscv_double\" group=\"float\"/>\n",
                       riscv::float_register(n), register_number::kF0 + n);
  const auto csrs = riscv::csr_list(config);
  for (const auto& c : csrs)
    if (in_float_unit(c.number)) xml += csr_line(c);
  xml += "  </feature>\n  <feature name=\"org.gnu.gdb.riscv.csr\">\n";
  for (const auto& c : csrs)
    if (!in_float_unit(c.number)) xml += csr_line(c);
  xml += fmt::format(
      "  </feature>\n  <feature name=\"org.gnu.gdb.riscv.virtual\">\n"
      "    <reg name=\"priv\" bitsize=\"64\" regnum=\"{}\" type=\"int\"/>\n  </feature>\n</target>\n",
      register_number::kPrivilege);
  return xml;
}

}  // namespace sluice::debug
