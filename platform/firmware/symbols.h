// SPDX-License-Identifier: Apache-2.0
#pragma once
/// What the addresses of a firmware are called: for diagnoses, traces and the debugger.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::platform {

class SymbolTable {
 public:
  SymbolTable() = default;
  /// The functions, the labels and the variables of an ELF64 file. A damaged table is no error: it has fewer symbols.
  /// Names are cut after 1,024 characters.
  explicit SymbolTable(const std::vector<std::uint8_t>& elf);

  /// The function at an address as "name+0x12", at its start without offset; empty when none covers it. A symbol
  /// without a size, as assembly code has them, reaches to the next one or the end of its section.
  std::string at(std::uint64_t address) const;
  bool empty() const { return symbols_.empty(); }
  /// Adds the symbols of another file. Of several symbols at one address or variables with one name, the first one
  /// counts.
  void add(const SymbolTable&);
  /// Where a variable, or a label in front of data, of this name lies; nothing when there is none.
  std::optional<std::uint64_t> variable(std::string_view name) const;

 private:
  void keep_first_of_each_address();

  struct Symbol {
    std::uint64_t address;
    std::uint64_t end;
    bool function;  ///< else a label
    std::string name;
  };
  struct Variable {
    std::uint64_t address;
    std::string name;
  };
  std::vector<Symbol> symbols_;      ///< in order of address, one for each address
  std::vector<Variable> variables_;  ///< in the order of the table
};

/// "0x80001234 <handler+0x12>"; without a symbol, the address alone.
std::string with_symbol(std::uint64_t address, const SymbolTable&);

}  // namespace sluice::platform
