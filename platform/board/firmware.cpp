#include "platform/board/firmware.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include <elf.h>
#include <fmt/format.h>

#include "models/base/quantity.h"
#include "platform/board/sha256.h"
#include "platform/config/resources.h"

namespace sluice::platform {
namespace {

namespace fs = std::filesystem;

fs::path find_firmware(const std::string& named, const fs::path& path) {
  std::vector<fs::path> candidates;
  if (named.find('/') != std::string::npos || named.ends_with(".elf")) candidates = {path};
  for (const fs::path& directory : config::resource_directories("firmware")) {
    candidates.push_back(directory / named);
    candidates.push_back(directory / (named + ".elf"));
  }
  const auto found = std::find_if(candidates.begin(), candidates.end(), [](const fs::path& candidate) {
    std::error_code ignored;
    return fs::is_regular_file(candidate, ignored);
  });
  return found == candidates.end() ? fs::path() : *found;
}

/// A structure at an offset of the file; false when the file ends before.
template <class T>
bool read_at(const std::vector<std::uint8_t>& file, std::uint64_t offset, T& out) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, file.data() + offset, sizeof(T));
  return true;
}

}  // namespace

Firmware::Firmware(const std::string& named, const fs::path& meant, const std::string& where) : where_(where) {
  const fs::path path = find_firmware(named, meant);
  name_ = fs::path(named).filename().string();
  if (path.empty()) {
    constexpr const char* kValid = "give the path of an RV64 ELF file or the name of a shipped one";
    std::error_code ignored;
    const auto type = fs::status(meant, ignored).type();
    if (named.empty()) throw config::UserError(fmt::format("{}: the firmware has no name; {}", where, kValid));
    if (named.find('/') == std::string::npos || type == fs::file_type::not_found || type == fs::file_type::none)
      throw config::UserError(fmt::format("{}: there is no firmware {}; {}", where, named, kValid));
    throw config::UserError(fmt::format("{}: {} is {}; {}", where, named,
                                        type == fs::file_type::directory ? "a directory" : "not a regular file",
                                        kValid));
  }
  std::ifstream in(path, std::ios::binary);
  file_.assign(std::istreambuf_iterator<char>(in), {});
  if (!in && !in.eof()) refuse("cannot be read");
  parse();
  sha256_ = sha256_of(file_);
  symbols_ = SymbolTable(file_);
}

void Firmware::refuse(const std::string& why) const {
  throw config::UserError(fmt::format("{}: firmware {} {}", where_, name_, why));
}

void Firmware::parse() {
  Elf64_Ehdr header;
  if (!read_at(file_, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    refuse("is not an ELF file; an RV64 executable is needed");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_RISCV)
    refuse("is an ELF file for another machine; an RV64 executable is needed");
  if (header.e_type != ET_EXEC) refuse("is not an executable at fixed addresses (ET_EXEC); link it without -pie");
  if (header.e_phentsize != sizeof(Elf64_Phdr)) refuse("is damaged: its program headers have a wrong size");
  // The section headers are the file's end; without them it is cut off even where every segment is there.
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

namespace {
std::string outside(const std::vector<base::GuestRam*>& rams) {
  std::string text = "outside every memory of the board";
  for (const base::GuestRam* r : rams)
    text += fmt::format("{}{} to {}", r == rams.front() ? " (" : ", ", base::hexadecimal(r->base()),
                        base::hexadecimal(r->base() + r->size() - 1));
  return rams.empty() ? text : text + ")";
}
}  // namespace

void Firmware::load(const std::vector<base::GuestRam*>& rams) const {
  for (const Segment& s : segments_) {
    const auto ram = std::find_if(rams.begin(), rams.end(),
                                  [&](base::GuestRam* r) { return r->contains(s.address, s.memory_size); });
    if (ram == rams.end())
      refuse(fmt::format("has a segment at {:#x} ({} B) {}", s.address, s.memory_size, outside(rams)));
    (*ram)->write(s.address, file_.data() + s.file_offset, s.file_size);
    if (s.code) (*ram)->add_code(s.address, s.file_size);
  }
  if (std::none_of(rams.begin(), rams.end(), [&](base::GuestRam* r) { return r->contains(entry_, 4); }))
    refuse(fmt::format("starts at {:#x}, {}", entry_, outside(rams)));
}

std::uint64_t Firmware::end() const {
  std::uint64_t end = 0;
  for (const Segment& s : segments_) end = std::max(end, s.address + s.memory_size);
  return end;
}

}  // namespace sluice::platform
