// SPDX-License-Identifier: Apache-2.0
#include "platform/plugin/plugins.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include "platform/firmware/sha256.h"
#include "platform/plugin/plugin.h"

namespace sluice::platform {
namespace {

namespace fs = std::filesystem;
using config::PluginFile;
using Entry = void (*)(Devices&);

constexpr std::uintmax_t kLargest = 1 << 30;

[[noreturn]] void refuse(const PluginFile& plugin, const std::string& why) {
  throw config::UserError(plugin.where, "plugins: " + plugin.named + " " + why);
}

std::vector<std::uint8_t> read(const PluginFile& plugin) {
  std::error_code error;
  const auto status = fs::status(plugin.path, error);
  if (status.type() == fs::file_type::none) refuse(plugin, "cannot be read: " + error.message());
  if (status.type() == fs::file_type::not_found)
    refuse(plugin, "does not exist; build it, or name another file, relative to this one");
  if (fs::is_directory(status)) refuse(plugin, "is a directory; a shared object is needed");
  if (!fs::is_regular_file(status)) refuse(plugin, "is not a regular file; a shared object is needed");
  if (fs::file_size(plugin.path, error) > kLargest) refuse(plugin, "is larger than 1 GiB");
  std::ifstream in(plugin.path, std::ios::binary);
  std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(in)), {});
  if (!in.is_open() || in.bad()) refuse(plugin, "cannot be read");
  return bytes;
}

constexpr Elf64_Half kMachine =
#if defined(__x86_64__)
    EM_X86_64;
#elif defined(__aarch64__)
    EM_AARCH64;
#elif defined(__riscv)
    EM_RISCV;
#else
#error "plug-ins: say here what machine this is"
#endif

/// Whether the file has all bytes that its headers tell of. A truncated file must not be mapped: an access to the
/// missing part would raise a signal.
bool is_complete(const Elf64_Ehdr& header, const std::vector<std::uint8_t>& bytes) {
  const auto holds = [&bytes](std::uint64_t at, std::uint64_t size) {
    return at <= bytes.size() && bytes.size() - at >= size;
  };
  // The section headers are the file's end, but a file may have none.
  if (!holds(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) return false;
  if (!holds(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr))) return false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr p;
    std::memcpy(&p, bytes.data() + header.e_phoff + i * sizeof p, sizeof p);
    if (p.p_type != PT_NULL && !holds(p.p_offset, p.p_filesz)) return false;
  }
  return true;
}

void check_is_shared_object(const PluginFile& plugin, const std::vector<std::uint8_t>& bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) refuse(plugin, "is not a shared object");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN)
    refuse(plugin, "is not a shared object");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kMachine)
    refuse(plugin, "is a shared object for another machine; build it for this one");
  if (!is_complete(header, bytes)) refuse(plugin, "is truncated");
}

/// The text SLUICE_PLUGIN_BUILD of the build that made the file; empty: the file is no plug-in.
std::string build_of(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kMark = SLUICE_PLUGIN_MARK;
  const auto found = std::search(bytes.begin(), bytes.end(), kMark.begin(), kMark.end());
  if (found == bytes.end()) return {};
  const auto text = found + static_cast<std::ptrdiff_t>(kMark.size());
  return {text, std::find(text, bytes.end(), 0)};
}

/// What dlerror() says, without the path and with a function's name as C++ writes it.
std::string loader_error(const PluginFile& plugin) {
  const char* said = dlerror();
  std::string what = said ? said : "no reason is given";
  if (const std::string path = plugin.path.string() + ": "; what.starts_with(path)) what.erase(0, path.size());
  const std::size_t last = what.rfind(' ') + 1;
  int status = 0;
  char* name = abi::__cxa_demangle(what.c_str() + last, nullptr, nullptr, &status);
  if (name) what.replace(last, std::string::npos, name);
  std::free(name);  // NOLINT(cppcoreguidelines-no-malloc): __cxa_demangle's contract
  return what;
}

/// Loads the plug-in without sharing its symbols: a comparison may load two plug-ins with the same names.
void* open(const PluginFile& plugin) {
  // dlopen() is declared noexcept, but an exception of a static initialiser passes through it. A call by this pointer
  // lets it pass.
  void* (*const volatile load)(const char*, int) = dlopen;
  try {
    void* object = load(plugin.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!object) refuse(plugin, "cannot be loaded: " + loader_error(plugin));
    return object;
  } catch (const config::UserError&) {
    throw;
  } catch (const std::exception& e) {
    refuse(plugin, std::string("cannot be loaded: a static initialiser threw: ") +
                       (*e.what() ? e.what() : "an exception without a text"));
  } catch (...) {
    refuse(plugin, "cannot be loaded: a static initialiser threw something that is no std::exception");
  }
}

void enter(const PluginFile& plugin, Entry entry, config::Registry& registry) {
  try {
    Devices devices(registry);
    entry(devices);
  } catch (const std::exception& e) {
    refuse(plugin, std::string("could not register its models: ") + (*e.what() ? e.what() : "it gives no reason"));
  } catch (...) {
    refuse(plugin, "could not register its models: it threw something that is no std::exception");
  }
}

}  // namespace

std::string load_plugin(const PluginFile& plugin, config::Registry& registry) {
  // What a process has loaded stays, even where the file is replaced: its digest must be that of the code.
  static std::map<std::filesystem::path, std::pair<Entry, std::string>> loaded;
  if (const auto known = loaded.find(plugin.path); known != loaded.end()) {
    enter(plugin, known->second.first, registry);
    return known->second.second;
  }
  const std::vector<std::uint8_t> bytes = read(plugin);
  check_is_shared_object(plugin, bytes);
  const std::string build = build_of(bytes);
  if (build.empty()) refuse(plugin, "is not a plug-in of Sluice: it has no SLUICE_PLUGIN");
  if (build != SLUICE_PLUGIN_BUILD)
    refuse(plugin, fmt::format("was built for another Sluice: it has {}, and this is {}; build it again, or Sluice "
                               "where it is older than its sources",
                               build, SLUICE_PLUGIN_BUILD));
  void* object = open(plugin);
  const auto entry = reinterpret_cast<Entry>(dlsym(object, "sluice_plugin"));
  if (!entry) refuse(plugin, "is not a plug-in of Sluice: it has no SLUICE_PLUGIN");
  enter(plugin, entry, registry);
  return loaded.try_emplace(plugin.path, entry, sha256_of(bytes)).first->second.second;
}

}  // namespace sluice::platform
