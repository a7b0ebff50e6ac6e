// SPDX-License-Identifier: Apache-2.0
/// Processes of a kernel by the list that it keeps in memory, damaged lists included.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <elf.h>
#include <unistd.h>

#include "firmware/process/record.h"
#include "platform/firmware/processes.h"

using namespace sluice;

namespace {

constexpr std::uint64_t kRam = 0x8000'0000, kUser = 0x3f'c000'0000;
constexpr std::uint64_t kHead = kRam + 0x100, kRecords = kRam + 0x1000, kElf = kRam + 0x8000;

/// An ELF file with code at an address and one symbol.
std::vector<std::uint8_t> elf(const std::string& symbol, unsigned char type, std::uint64_t code,
                              std::uint64_t address) {
  std::string file(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), '\0');
  const auto append = [&file](const auto& what) { file.append(reinterpret_cast<const char*>(&what), sizeof what); };
  const Elf64_Shdr table{0, SHT_SYMTAB, 0, 0, file.size(), sizeof(Elf64_Sym), 1, 0, 8, 24};
  append(Elf64_Sym{1, type, 0, 2, address, 8});
  const Elf64_Shdr strings{0, SHT_STRTAB, 0, 0, file.size(), symbol.size() + 2, 0, 0, 1, 0};
  file += '\0' + symbol + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_EXEC;
  header.e_machine = EM_RISCV;
  header.e_entry = code;
  header.e_phoff = sizeof header;
  header.e_shoff = file.size();
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  header.e_shnum = 3;
  append(table);
  append(strings);
  append(Elf64_Shdr{0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, code, 0, 0x1000, 0, 0, 4, 0});
  const Elf64_Phdr segment{PT_LOAD, 5, 0, code, code, 64, 64, 8};
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, &segment, sizeof segment);
  return {file.begin(), file.end()};
}

/// A kernel whose symbol of this name lies at kHead.
platform::Firmware kernel(const std::string& symbol) {
  const auto bytes = elf(symbol, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), kRam, kHead);
  const std::string path = std::filesystem::temp_directory_path() / ("kernel-" + std::to_string(getpid()) + ".elf");
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  platform::Firmware firmware(platform::Image("firmware", {path, {}}, path, "--firmware x"));
  std::filesystem::remove(path);
  return firmware;
}

std::uint64_t satp(unsigned asid) { return std::uint64_t{8} << 60 | std::uint64_t{asid} << 44 | 0x80123; }

struct Bench {
  explicit Bench(const std::string& symbol = "sluice_processes") : firmware(kernel(symbol)) {}
  void begin_at(std::uint64_t record) { ram.write(kHead, &record, sizeof record); }
  void set(unsigned n, std::uint64_t next, unsigned asid, const std::string& name, std::uint64_t at = 0,
           std::uint64_t bytes = 0) {
    process_record r{next, satp(asid), at, bytes, {}};
    std::memcpy(r.name, name.data(), std::min(name.size(), sizeof r.name));
    ram.write(kRecords + n * sizeof r, &r, sizeof r);
  }
  static std::uint64_t record(unsigned n) { return kRecords + n * sizeof(process_record); }
  /// Puts a program with this function at the start of its code at an address; its length.
  std::uint64_t put(const std::string& function, std::uint64_t address) {
    const auto bytes = elf(function, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), kUser, kUser);
    ram.write(address, bytes.data(), bytes.size());
    return bytes.size();
  }
  std::string names() {
    std::string all;
    for (const auto& p : processes.list()) all += platform::title_of_process(p.name, platform::asid_of(p.satp)) + "; ";
    return all;
  }

  platform::Firmware firmware;
  base::GuestRam ram{kRam, 1 << 20};
  platform::Processes processes{firmware, {&ram}};
};

}  // namespace

TEST_CASE("processes are found by their address spaces", "[processes]") {
  Bench b;
  CHECK(b.names().empty());
  b.begin_at(b.record(0));
  b.set(0, b.record(1), 7, "kv", kElf, b.put("kv_get", kElf));
  b.set(1, 0, 2, "echo-2.x_y");
  CHECK(b.names() == "process echo-2.x_y (2); process kv (7); ");
  CHECK(b.processes.find(satp(7))->name == "kv");
  CHECK_FALSE(b.processes.find(satp(7) + 1));  // the same number, by other tables
  CHECK(b.processes.function(satp(7), kUser + 4) == "kv_get+0x4");
  CHECK(b.processes.function(satp(7), kUser + 8).empty());
  CHECK(b.processes.function(satp(2), kUser + 4).empty());
  CHECK(b.processes.function(satp(3), kUser + 4).empty());
  CHECK(platform::title_of_process("", 3) == "asid 3");
}

TEST_CASE("a process that gets the address space of another has its own functions", "[processes]") {
  Bench b;
  b.begin_at(b.record(0));
  b.set(0, 0, 7, "kv", kElf, b.put("kv_get", kElf));
  CHECK(b.processes.function(satp(7), kUser) == "kv_get");
  SECTION("from another place") { b.set(0, 0, 7, "calc", kElf + 0x4000, b.put("calc_add", kElf + 0x4000)); }
  SECTION("loaded over the old file") { b.set(0, 0, 7, "calc", kElf, b.put("calc_add", kElf)); }
  CHECK(b.names() == "process calc (7); ");
  CHECK(b.processes.function(satp(7), kUser) == "calc_add");
}

TEST_CASE("what is no list of processes gives no names", "[processes]") {
  Bench b;
  b.set(0, 0, 7, "kv", kElf, b.put("kv_get", kElf));
  SECTION("outside memory") {
    b.begin_at(0x1234);
    CHECK(b.names().empty());
    b.begin_at(kRam + (1 << 20) - 8);
    CHECK(b.names().empty());
  }
  SECTION("in a circle") {
    b.begin_at(b.record(0));
    b.set(0, b.record(1), 7, "kv");
    b.set(1, b.record(0), 8, "echo");
    CHECK(b.names() == "process kv (7); process echo (8); ");
    CHECK_FALSE(b.processes.find(satp(9)));
  }
  SECTION("names that are none") {
    b.begin_at(b.record(0));
    b.set(0, b.record(1), 7, "");
    b.set(1, b.record(2), 8, "two words");
    b.set(2, b.record(3), 9, "a-name-without-a-zero-byte");
    b.set(3, 0, 10, "kv");
    CHECK(b.names() == "process kv (10); ");
  }
  SECTION("a file that lies outside memory, or is none") {
    b.begin_at(b.record(0));
    for (const std::uint64_t bytes : {~std::uint64_t{0}, std::uint64_t{1} << 20, std::uint64_t{0}, std::uint64_t{16}}) {
      b.set(0, 0, 7, "kv", kElf, bytes);
      CHECK(b.processes.find(satp(7)));
      CHECK(b.processes.function(satp(7), kUser).empty());
    }
  }
  SECTION("of a kernel that says nothing") {
    Bench silent("processes");
    silent.begin_at(silent.record(0));
    silent.set(0, 0, 7, "kv");
    CHECK(silent.names().empty());
  }
}
