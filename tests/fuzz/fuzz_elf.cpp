// SPDX-License-Identifier: Apache-2.0
/// ELF images, as --firmware names them.

#include <elf.h>

#include "models/base/memory/guest_ram.h"
#include "platform/firmware/image.h"
#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {
namespace {

constexpr std::uint64_t kRam = 0x8000'0000;

/// The smallest image that has everything: two segments, a symbol table and its strings.
Bytes small_image() {
  constexpr std::uint64_t kSegments = sizeof(Elf64_Ehdr), kCode = 0x100, kSymbols = 0x180, kStrings = 0x200;
  constexpr std::uint64_t kSections = 0x240;
  const char strings[] = "\0start\0handler\0a_longer_name_of_a_function";
  Bytes image(kSections + 4 * sizeof(Elf64_Shdr));
  const auto put = [&image](std::uint64_t at, const auto& what) { std::memcpy(&image[at], &what, sizeof what); };
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_EXEC;
  header.e_machine = EM_RISCV;
  header.e_entry = kRam;
  header.e_phoff = kSegments;
  header.e_shoff = kSections;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  put(0, header);
  put(kSegments, Elf64_Phdr{PT_LOAD, 5, kCode, kRam, kRam, 0x40, 0x40, 4});
  put(kSegments + sizeof(Elf64_Phdr),
      Elf64_Phdr{PT_LOAD, 6, kCode + 0x40, kRam + 0x1000, kRam + 0x1000, 0x40, 0x2000, 8});
  const Elf64_Word names[] = {1, 7, 15};
  for (unsigned i = 0; i < 3; ++i)
    put(kSymbols + i * sizeof(Elf64_Sym),
        Elf64_Sym{names[i], ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 3, kRam + 16 * i, i == 1 ? 0u : 16u});
  put(kStrings, strings);
  put(kSections + sizeof(Elf64_Shdr),
      Elf64_Shdr{0, SHT_SYMTAB, 0, 0, kSymbols, 3 * sizeof(Elf64_Sym), 2, 0, 8, sizeof(Elf64_Sym)});
  put(kSections + 2 * sizeof(Elf64_Shdr), Elf64_Shdr{0, SHT_STRTAB, 0, 0, kStrings, sizeof strings, 0, 0, 1, 0});
  put(kSections + 3 * sizeof(Elf64_Shdr),
      Elf64_Shdr{0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kRam, kCode, 0x40, 0, 0, 4, 0});
  return image;
}

std::vector<Bytes> corpus() {
  // The real image is a hundred times as large and as slow: it is one of sixteen.
  std::vector<Bytes> inputs(15, small_image());
  inputs.push_back(read_file(SLUICE_FIRMWARE "/hello.elf"));
  return inputs;
}

/// Replaces numbers in the file's structures, or anywhere.
void mutate(Bytes& image, Random& random) {
  if (image.size() < sizeof(Elf64_Ehdr)) return;
  for (std::uint64_t changes = 1 + random.below(4); changes != 0; --changes) {
    Elf64_Ehdr header;
    std::memcpy(&header, image.data(), sizeof header);
    std::uint64_t start = 0, bytes = sizeof header;
    const std::uint64_t what = random.below(4);
    if (what == 1) {
      start = header.e_phoff + random.below(header.e_phnum + 1u) * sizeof(Elf64_Phdr);
      bytes = sizeof(Elf64_Phdr);
    } else if (what == 2) {
      start = header.e_shoff + random.below(header.e_shnum + 1u) * sizeof(Elf64_Shdr);
      bytes = sizeof(Elf64_Shdr);
    } else if (what == 3) {
      start = random.below(image.size());
    }
    const std::uint64_t size = std::uint64_t{1} << random.below(4);
    const std::uint64_t at = start + random.below(bytes / size) * size;
    if (at > image.size() || image.size() - at < size) continue;
    const std::uint64_t v = random.chance(1, 2) ? edge(random) : random.below(image.size() + 64);
    std::memcpy(&image[at], &v, size);
  }
}

}  // namespace

const Target target{
    .name = "elf", .corpus = corpus, .mutate = mutate, .runs = 10'000, .full_runs = 500'000, .longest = 1 << 20};

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  static fuzz::MemoryFile file("image");
  static base::GuestRam ram(fuzz::kRam, 1 << 20);
  file.assign(data, size);
  try {
    const platform::Image firmware("firmware", {file.path(), {}}, file.path(), "--firmware x");
    for (const std::uint64_t address : {firmware.entry(), firmware.end(), fuzz::kRam + 20, ~std::uint64_t{0}})
      fuzz::require(firmware.symbols().at(address).size() < size + 32, "a symbol is longer than the file");
    firmware.load({{&ram}, "the system"});
  } catch (const config::UserError& e) {
    const std::string what = e.what();
    fuzz::require(what.starts_with("--firmware x: firmware ") && what.find('\n') == std::string::npos, e.what());
  }
  return 0;
}
