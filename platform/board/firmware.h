#pragma once
/// A firmware image: an ELF file for RV64, checked before a byte of it is used.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "models/base/guest_ram.h"
#include "platform/board/symbols.h"
#include "platform/config/user_error.h"

namespace sluice::platform {

class Firmware {
 public:
  /// `named` is how the user named it: a shipped firmware, or a path, which then is `meant`. Throws
  /// config::UserError, which starts with `where`, when there is no such file or when it is no complete RV64
  /// executable.
  Firmware(const std::string& named, const std::filesystem::path& meant, const std::string& where);

  const std::string& name() const { return name_; }      ///< as the result file gives it: without directories
  const std::string& sha256() const { return sha256_; }  ///< of the file, hexadecimal
  std::uint64_t entry() const { return entry_; }
  /// Copies the segments. Throws config::UserError when one of them or the entry lies outside every RAM.
  void load(const std::vector<base::GuestRam*>&) const;
  /// Throws config::UserError with the end of a sentence about it.
  [[noreturn]] void refuse(const std::string& why) const;
  const SymbolTable& symbols() const { return symbols_; }
  /// One past the last byte loaded.
  std::uint64_t end() const;

 private:
  struct Segment {
    std::uint64_t address;
    std::uint64_t memory_size;
    std::uint64_t file_offset;
    std::uint64_t file_size;
    bool code;  ///< to be executed, and not written to
  };
  void parse();

  std::string where_;
  std::string name_;
  std::string sha256_;
  std::vector<std::uint8_t> file_;
  std::uint64_t entry_ = 0;
  std::vector<Segment> segments_;
  SymbolTable symbols_;
};

}  // namespace sluice::platform
