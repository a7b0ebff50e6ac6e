// SPDX-License-Identifier: Apache-2.0
/// ELF files that are not what they say, and the counters of an image whose memory is not what it should be.
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>
#include <elf.h>
#include <unistd.h>

#include "firmware/kernel/statistics.h"
#include "platform/firmware/firmware.h"
#include "platform/firmware/firmware_counters.h"

using namespace sluice;

namespace {

constexpr std::uint64_t kRam = 0x8000'0000;

/// One segment, then symbols, their names, and section headers.
struct Image {
  std::vector<Elf64_Sym> symbols;
  std::string names = std::string(1, '\0');
  unsigned tables = 1;  ///< section headers that claim the symbols

  void add(const std::string& name, unsigned char type, std::uint64_t address) {
    symbols.push_back({static_cast<Elf64_Word>(names.size()), type, 0, 0, address, 8});
    names += name + '\0';
  }
  platform::Firmware load() const {
    std::string file(sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), '\0');
    const auto append = [&file](const auto& what) { file.append(reinterpret_cast<const char*>(&what), sizeof what); };
    const auto code = static_cast<Elf64_Half>(tables + 1);
    Elf64_Shdr table{0, SHT_SYMTAB, 0, 0, file.size(), symbols.size() * sizeof(Elf64_Sym), tables, 0, 8, 24};
    for (Elf64_Sym s : symbols) {
      s.st_shndx = code;
      append(s);
    }
    const Elf64_Shdr strings{0, SHT_STRTAB, 0, 0, file.size(), names.size(), 0, 0, 1, 0};
    file += names;
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_EXEC;
    header.e_machine = EM_RISCV;
    header.e_entry = kRam;
    header.e_phoff = sizeof header;
    header.e_shoff = file.size();
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    header.e_shnum = static_cast<Elf64_Half>(tables + 2);
    for (unsigned i = 0; i < tables; ++i) append(table);
    append(strings);
    append(Elf64_Shdr{0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kRam, 0, 0x1000, 0, 0, 4, 0});
    const Elf64_Phdr segment{PT_LOAD, 5, 0, kRam, kRam, 64, 64, 8};
    std::memcpy(file.data(), &header, sizeof header);
    std::memcpy(file.data() + sizeof header, &segment, sizeof segment);
    const std::string path = std::filesystem::temp_directory_path() / ("image-" + std::to_string(getpid()) + ".elf");
    std::ofstream(path, std::ios::binary) << file;
    std::optional<platform::Firmware> firmware;
    firmware.emplace(platform::Image("firmware", {path, {}}, path, "--firmware x"));
    std::filesystem::remove(path);
    return std::move(*firmware);
  }
};

const unsigned char kFunction = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
const unsigned char kObject = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);

/// A table at kRam, whose blocks a test fills.
struct Counting {
  Counting() { image.add("statistics_table", kObject, kRam); }
  void set_count(std::uint64_t n) { ram.write(kRam, &n, sizeof n); }
  void set_block(unsigned n, const char* names, std::uint64_t counters) {
    const std::uint64_t at = kRam + 0x8000 + n * 0x100;
    ram.write(at, names, std::strlen(names) + 1);
    set_block_at(n, at, counters);
  }
  void set_block_at(unsigned n, std::uint64_t names, std::uint64_t counters) {
    const statistics_block b = {names, counters};
    ram.write(kRam + 8 + n * sizeof b, &b, sizeof b);
  }
  void set(std::uint64_t address, std::uint64_t value) { ram.write(address, &value, sizeof value); }
  platform::FirmwareCounters read() { return platform::read_counters(image.load(), {&ram}); }

  Image image;
  base::GuestRam ram{kRam, 1 << 20};
};

}  // namespace

TEST_CASE("functions and variables of an image are found by name and address", "[firmware]") {
  Image image;
  image.add("start", kFunction, kRam);
  image.add("table", kObject, kRam + 0x100);
  const platform::Firmware firmware = image.load();
  CHECK(firmware.symbols().at(kRam + 4) == "start+0x4");
  CHECK(firmware.symbols().at(kRam + 0x100).empty());
  CHECK(firmware.symbols().variable("table") == kRam + 0x100);
  CHECK_FALSE(firmware.symbols().variable("start"));
  CHECK_FALSE(firmware.symbols().variable("tabl"));
}

TEST_CASE("an image that claims its symbols many times, with endless names, is read in no time", "[firmware]") {
  Image image;
  image.tables = 60'000;
  for (unsigned i = 0; i < 2'000; ++i) image.add("", kFunction, kRam + i);
  image.names = std::string(1 << 20, 'x');
  const auto start = std::chrono::steady_clock::now();
  const platform::Firmware firmware = image.load();
  CHECK(firmware.symbols().at(kRam + 1'999).size() == 1024);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("counters of one name are summed over an image's blocks", "[firmware]") {
  Counting c;
  c.set_count(2);
  c.set_block(0, "udp tcp", kRam + 0x4000);
  c.set_block(1, "udp tcp", kRam + 0x5000);
  c.set(kRam + 0x4000, 3);
  c.set(kRam + 0x4008, 5);
  c.set(kRam + 0x5000, 4);
  CHECK(c.read() == platform::FirmwareCounters{{"udp", 7}, {"tcp", 5}});
}

TEST_CASE("what a guest wrote over its table of counters is left out", "[firmware]") {
  Counting c;
  c.set_count(~std::uint64_t{0});
  CHECK(c.read().empty());
  c.set_count(6);
  c.set_block(0, "good", kRam + 0x4000);
  c.set_block(1, "no\nname", kRam + 0x4000);
  c.set_block(2, "two  spaces", kRam + 0x4000);
  c.set_block(3, "outside", kRam - 8);
  c.set_block_at(4, ~std::uint64_t{0}, kRam);
  c.set_block(5, std::string(STATISTICS_NAMES_MAX, 'x').c_str(), kRam + 0x4000);
  c.set(kRam + 0x4000, 9);
  CHECK(c.read() == platform::FirmwareCounters{{"good", 9}});

  Image without;
  without.add("start", kFunction, kRam);
  CHECK(platform::read_counters(without.load(), {&c.ram}).empty());
  CHECK(platform::read_counters(c.image.load(), {}).empty());
}
