// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/image.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include "models/base/parameters/quantity.h"
#include "platform/config/resources.h"
#include "platform/firmware/file_structure.h"
#include "platform/firmware/sha256.h"

namespace sluice::platform {
namespace {

namespace fs = std::filesystem;

/// The file that `named` means. Data is named by a path. The name of an executable is a path if it has a slash or a
/// dot; if it has none, or there is no such file, it names a shipped executable.
fs::path find_file(const std::string& named, const fs::path& path, Image::Kind kind) {
  std::vector<fs::path> candidates;
  if (kind == Image::Kind::data || named.find_first_of("/.") != std::string::npos) candidates = {path};
  for (const fs::path& directory : config::resource_directories("firmware")) {
    if (kind == Image::Kind::data) break;
    candidates.push_back(directory / named);
    candidates.push_back(directory / (named + ".elf"));
  }
  const auto found = std::find_if(candidates.begin(), candidates.end(), [](const fs::path& candidate) {
    std::error_code ignored;
    return fs::is_regular_file(candidate, ignored);
  });
  return found == candidates.end() ? fs::path() : *found;
}

std::string outside(const SystemRam& ram) {
  std::string text = "outside every memory of " + ram.owner;
  for (const base::GuestRam* r : ram.rams)
    text += fmt::format("{}{} to {}", r == ram.rams.front() ? " (" : ", ", base::hexadecimal(r->base()),
                        base::hexadecimal(r->base() + r->size() - 1));
  return ram.rams.empty() ? text : text + ")";
}

base::GuestRam* ram_of(const std::vector<base::GuestRam*>& rams, std::uint64_t address, std::uint64_t length) {
  const auto found =
      std::find_if(rams.begin(), rams.end(), [&](base::GuestRam* r) { return r->contains(address, length); });
  return found == rams.end() ? nullptr : *found;
}

}  // namespace

ImageName ImageName::parse(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos || text.compare(at + 1, 2, "0x") != 0 || text.find('/', at) != std::string::npos)
    return {text, {}};
  std::string digits = text.substr(at + 3);
  std::erase(digits, '_');
  std::uint64_t address = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
  if (error != std::errc{} || end != digits.data() + digits.size())
    throw base::ValueError("has an address that is none behind its @, which must be hexadecimal: 0x8020_0000");
  return {text.substr(0, at), address};
}

Image::Image(const std::string& what, const ImageName& name, const fs::path& meant, const std::string& where, Kind kind)
    : what_(what), where_(where), name_(fs::path(name.file).filename().string()), kind_(kind) {
  read(name, meant, kind);
  sha256_ = sha256_of(file_);
  const bool elf = file_.size() >= SELFMAG && std::memcmp(file_.data(), ELFMAG, SELFMAG) == 0;
  if (kind == Kind::data || (name.address && !elf)) {
    raw_ = true;
    if (file_.empty()) refuse("is empty");
    entry_ = name.address.value_or(0);
    if (name.address && *name.address + file_.size() < *name.address) refuse("does not end within 64 bits of address");
    if (name.address) place_at(entry_);
    return;
  }
  if (name.address) refuse("is an ELF file, which has addresses of its own: leave out what is behind the @");
  parse_elf();
  symbols_ = SymbolTable(file_);
}

fs::path Image::find(const ImageName& name, const fs::path& meant, Kind kind) {
  // Shipped firmware is ELF and has its own addresses, so a name with an address is a path.
  return find_file(name.file, meant, name.address ? Kind::data : kind);
}

void Image::read(const ImageName& name, const fs::path& meant, Kind kind) {
  const std::string& named = name.file;
  const fs::path path = find(name, meant, kind);
  if (path.empty()) {
    const bool firmware = what_ == "firmware";
    const char* valid = firmware ? "give the path of an RV64 ELF file or the name of a shipped one" : "give its path";
    std::error_code ignored;
    const auto type = fs::status(meant, ignored).type();
    if (named.empty()) throw config::UserError(fmt::format("{}: the {} has no name; {}", where_, what_, valid));
    if ((kind == Kind::executable && named.find_first_of("/.") == std::string::npos) ||
        type == fs::file_type::not_found || type == fs::file_type::none)
      throw config::UserError(fmt::format("{}: there is no {} {}; {}", where_, what_, named, valid));
    throw config::UserError(fmt::format("{}: {} is {}; {}", where_, named,
                                        type == fs::file_type::directory ? "a directory" : "not a regular file",
                                        valid));
  }
  std::ifstream in(path, std::ios::binary);
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(path, failed);
  const auto machine = static_cast<std::uintmax_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (!failed && size > machine) refuse("is larger than this machine's memory");
  file_.resize(failed ? 0 : size);
  if (failed || !in.read(reinterpret_cast<char*>(file_.data()), static_cast<std::streamsize>(file_.size())))
    refuse("cannot be read");
}

std::string Image::sentence(const std::string& why) const { return fmt::format("{} {} {}", what_, name_, why); }

void Image::refuse(const std::string& why) const { throw config::UserError(where_ + ": " + sentence(why)); }

void Image::parse_elf() {
  Elf64_Ehdr header;
  if (!read_at(file_, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    refuse("is not an ELF file; an RV64 executable is needed, or raw bytes with their address: FILE@0x8000_0000");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_RISCV)
    refuse("is an ELF file for another machine; an RV64 executable is needed");
  if (header.e_type != ET_EXEC) refuse("is not an executable at fixed addresses (ET_EXEC); link it without -pie");
  if (header.e_phentsize != sizeof(Elf64_Phdr)) refuse("is damaged: its program headers have a wrong size");
  // The section headers are at the end of the file: if they are missing, the file is cut off, even if all segments are
  // there.
  const std::uint64_t sections = std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  if (header.e_shoff != 0 && (header.e_shoff > file_.size() || file_.size() - header.e_shoff < sections))
    refuse("is truncated");
  entry_ = header.e_entry;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr p;
    if (!read_at(file_, header.e_phoff + i * sizeof(Elf64_Phdr), p)) refuse("is truncated");
    if (p.p_type != PT_LOAD || p.p_memsz == 0) continue;
    if (p.p_offset > file_.size() || file_.size() - p.p_offset < p.p_filesz) refuse("is truncated");
    if (p.p_filesz > p.p_memsz || p.p_paddr + p.p_memsz < p.p_paddr)
      refuse("is damaged: a segment is larger in the file than in memory");
    segments_.push_back({p.p_paddr, p.p_memsz, p.p_offset, p.p_filesz, (p.p_flags & (PF_X | PF_W)) == PF_X});
  }
  if (segments_.empty()) refuse("has nothing to load");
}

void Image::load(const SystemRam& memory) const {
  for (const Segment& s : segments_) {
    base::GuestRam* ram = ram_of(memory.rams, s.address, s.memory_size);
    if (!ram) refuse_place(s, memory);
    ram->write(s.address, file_.data() + s.file_offset, s.file_size);
    if (s.code) ram->add_code(s.address, s.file_size);
  }
}

void Image::refuse_place(const Segment& s, const SystemRam& memory) const {
  const auto refuse_outside = [&](const std::string& why) {
    throw OutsideMemory(where_, sentence(why + outside(memory)));
  };
  if (!raw_) refuse_outside(fmt::format("has a segment at {:#x} ({} B) ", s.address, s.memory_size));
  const base::GuestRam* ram = ram_of(memory.rams, s.address, 1);
  if (!ram) refuse_outside(fmt::format("lies at {}, ", base::hexadecimal(s.address)));
  refuse(fmt::format("is too large: its {} B begin at {}, and their memory ends at {}", s.memory_size,
                     base::hexadecimal(s.address), base::hexadecimal(ram->base() + ram->size() - 1)));
}

void Image::check_entry(const SystemRam& memory) const {
  const base::GuestRam* ram = ram_of(memory.rams, entry_, 1);
  if (!ram) throw OutsideMemory(where_, sentence(fmt::format("starts at {:#x}, {}", entry_, outside(memory))));
  const std::uint64_t room = ram->base() + ram->size() - entry_;
  if (room < kInstruction)
    refuse(fmt::format("starts at {:#x}, {} B before the end of its memory: there is no room for an instruction",
                       entry_, room));
  if (entry_ % 2 != 0) refuse(fmt::format("starts at {:#x}, and instructions lie at even addresses", entry_));
}

void Image::reload(const std::vector<base::GuestRam*>& rams) const {
  constexpr std::array<std::uint8_t, base::GuestRam::kPage> kZeros{};
  for (const Segment& s : segments_) {
    base::GuestRam* ram = ram_of(rams, s.address, s.memory_size);
    ram->write(s.address, file_.data() + s.file_offset, s.file_size);
    const std::uint64_t end = s.address + s.memory_size;
    for (std::uint64_t at = s.address + s.file_size, n = 0; at < end; at += n) {
      n = std::min<std::uint64_t>(end - at, kZeros.size());
      ram->write(at, kZeros.data(), n);
    }
  }
}

std::uint64_t Image::end() const {
  std::uint64_t end = 0;
  for (const Segment& s : segments_) end = std::max(end, s.address + s.memory_size);
  return end;
}

}  // namespace sluice::platform
