#pragma once
/// What the addresses of a firmware are called: for diagnoses, traces and the debugger.

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::platform {

class SymbolTable {
 public:
  SymbolTable() = default;
  /// The functions and the labels in code of an ELF64 file. A damaged table is no error: it has fewer symbols.
  explicit SymbolTable(const std::vector<std::uint8_t>& elf);

  /// The function at an address as "name+0x12", at its start without offset; empty when none covers it. A symbol
  /// without a size, as assembly code has them, reaches to the next one or the end of its section.
  std::string at(std::uint64_t address) const;
  bool empty() const { return symbols_.empty(); }

 private:
  struct Symbol {
    std::uint64_t address;
    std::uint64_t end;
    bool function;  ///< else a label
    std::string name;
  };
  std::vector<Symbol> symbols_;  ///< by address, one for each
};

/// "0x80001234 <handler+0x12>"; without a symbol, the address alone.
std::string with_symbol(std::uint64_t address, const SymbolTable&);

}  // namespace sluice::platform
