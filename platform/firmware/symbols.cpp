// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/symbols.h"

#include <algorithm>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>

#include "platform/firmware/file_structure.h"

namespace sluice::platform {
namespace {

constexpr std::uint64_t kLongestName = 1024;

bool section(const std::vector<std::uint8_t>& file, const Elf64_Ehdr& header, std::uint64_t index, Elf64_Shdr& out) {
  if (index >= header.e_shnum || header.e_shoff > file.size()) return false;
  return read_at(file, header.e_shoff + index * sizeof(Elf64_Shdr), out);
}

std::string name_at(const std::vector<std::uint8_t>& file, const Elf64_Shdr& strings, std::uint32_t at) {
  if (strings.sh_offset > file.size() || file.size() - strings.sh_offset < strings.sh_size || at >= strings.sh_size)
    return {};
  const char* name = reinterpret_cast<const char*>(file.data() + strings.sh_offset + at);
  return {name, strnlen(name, std::min(strings.sh_size - at, kLongestName))};
}

}  // namespace

SymbolTable::SymbolTable(const std::vector<std::uint8_t>& elf) {
  Elf64_Ehdr header;
  if (!read_at(elf, 0, header)) return;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table, strings;
    if (!section(elf, header, i, table)) break;
    if (table.sh_type != SHT_SYMTAB || !section(elf, header, table.sh_link, strings)) continue;
    Elf64_Sym s;
    for (std::uint64_t at = 0; at + sizeof s <= table.sh_size && table.sh_offset + at >= at; at += sizeof s) {
      if (!read_at(elf, table.sh_offset + at, s)) break;
      const bool label = ELF64_ST_TYPE(s.st_info) == STT_NOTYPE && s.st_shndx != SHN_UNDEF;
      if (label || ELF64_ST_TYPE(s.st_info) == STT_OBJECT)
        variables_.push_back({s.st_value, name_at(elf, strings, s.st_name)});
      const bool function = ELF64_ST_TYPE(s.st_info) == STT_FUNC;
      if (!function && ELF64_ST_TYPE(s.st_info) != STT_NOTYPE) continue;
      Elf64_Shdr home;
      if (!section(elf, header, s.st_shndx, home) || !(home.sh_flags & SHF_EXECINSTR)) continue;
      std::string name = name_at(elf, strings, s.st_name);
      // "$x" and "$d" mark code and data; ".L" begins the names of labels that the compiler made.
      if (name.empty() || name[0] == '$' || name.starts_with(".L")) continue;
      const std::uint64_t end = s.st_size != 0 ? s.st_value + s.st_size : home.sh_addr + home.sh_size;
      symbols_.push_back({s.st_value, end, function, std::move(name)});
    }
    break;  // a file has one such table; one that claims more is not read again and again
  }
  std::stable_sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    return a.address != b.address ? a.address < b.address : a.function > b.function;
  });
  keep_first_of_each_address();
}

void SymbolTable::add(const SymbolTable& other) {
  const auto before = static_cast<std::ptrdiff_t>(symbols_.size());
  symbols_.insert(symbols_.end(), other.symbols_.begin(), other.symbols_.end());
  std::inplace_merge(symbols_.begin(), symbols_.begin() + before, symbols_.end(),
                     [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  keep_first_of_each_address();
  variables_.insert(variables_.end(), other.variables_.begin(), other.variables_.end());
}

void SymbolTable::keep_first_of_each_address() {
  const auto same = [](const Symbol& a, const Symbol& b) { return a.address == b.address; };
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), same), symbols_.end());
}

std::string SymbolTable::at(std::uint64_t address) const {
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                [](std::uint64_t a, const Symbol& s) { return a < s.address; });
  if (after == symbols_.begin()) return {};
  const Symbol& s = *--after;
  if (address >= s.end) return {};
  return address == s.address ? s.name : fmt::format("{}+{:#x}", s.name, address - s.address);
}

std::optional<std::uint64_t> SymbolTable::variable(std::string_view name) const {
  for (const Variable& v : variables_)
    if (v.name == name) return v.address;
  return {};
}

std::string with_symbol(std::uint64_t address, const SymbolTable& symbols) {
  const std::string symbol = symbols.at(address);
  return symbol.empty() ? fmt::format("{:#x}", address) : fmt::format("{:#x} <{}>", address, symbol);
}

}  // namespace sluice::platform
