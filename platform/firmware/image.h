// SPDX-License-Identifier: Apache-2.0
#pragma once
/// One file that lies in guest memory when the harts start: an ELF file for RV64, or raw bytes at an address. It is
/// checked before a byte of it is used.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/base/memory/guest_ram.h"
#include "platform/config/user_error.h"
#include "platform/firmware/symbols.h"

namespace sluice::platform {

/// How a board names an image: "u-boot.elf", "u-boot.bin@0x8020_0000".
struct ImageName {
  std::string file;
  std::optional<std::uint64_t> address;  ///< of raw bytes

  /// Takes the text after the last @ as an address if it begins with 0x and has no slash; otherwise it belongs to the
  /// file's name. Throws base::ValueError, the end of a sentence about the whole name, for an address that is not a
  /// number.
  static ImageName parse(const std::string&);
};

/// The memories of one system-on-chip, and how messages name the system: "the board", "soc.card".
struct SystemRam {
  std::vector<base::GuestRam*> rams;
  std::string owner;
};

/// An image lies outside every memory of its system. The image, or what memories the system has, may be the mistake.
class OutsideMemory : public config::UserError {
 public:
  OutsideMemory(const std::string& where, const std::string& sentence)
      : UserError(where + ": " + sentence), sentence_(sentence) {}
  const std::string& sentence() const { return sentence_; }  ///< without the place where the image is named

 private:
  std::string sentence_;
};

class Image {
 public:
  /// Bytes at the entry that must be memory: the longest instruction.
  static constexpr std::uint64_t kInstruction = 4;
  enum class Kind {
    executable,  ///< an ELF file, or raw bytes whose first one is the entry
    data,        ///< raw bytes that nothing starts at
  };
  struct Segment {
    std::uint64_t address;
    std::uint64_t memory_size;
    std::uint64_t file_offset;
    std::uint64_t file_size;
    bool code = false;  ///< to be executed, and not written to
  };

  /// what: "firmware", for messages. meant: where name.file, as the user wrote it, lies if it is a path and not the
  /// name of a shipped firmware. Data without an address in its name has none until place_at(). Throws
  /// config::UserError, which starts with `where`, when there is no such file, or when an executable without an address
  /// is not a complete RV64 ELF file.
  Image(const std::string& what, const ImageName&, const std::filesystem::path& meant, const std::string& where,
        Kind = Kind::executable);

  /// The file that an image would be read from; empty where there is none.
  static std::filesystem::path find(const ImageName&, const std::filesystem::path& meant, Kind);

  const std::string& what() const { return what_; }
  const std::string& name() const { return name_; }      ///< as the result file gives it: without directories
  const std::string& sha256() const { return sha256_; }  ///< of the file, hexadecimal
  std::uint64_t entry() const { return entry_; }
  /// Whether the file is loaded as raw bytes: data, or a file at an address.
  bool is_raw() const { return raw_; }
  /// In the order of the file.
  const std::vector<Segment>& segments() const { return segments_; }
  const std::vector<std::uint8_t>& bytes() const { return file_; }  ///< of the file
  /// Whether the image has addresses in memory.
  bool placed() const { return !segments_.empty(); }
  /// Gives an image that is data its address.
  void place_at(std::uint64_t address) { segments_ = {{address, file_.size(), 0, file_.size()}}; }
  /// Copies the segments. Throws OutsideMemory when one of them lies outside every RAM.
  void load(const SystemRam&) const;
  /// Call this for an image in which a hart starts, or to which it goes on. Throws OutsideMemory when the entry
  /// is in no RAM, and config::UserError when RAM has no whole instruction there.
  void check_entry(const SystemRam&) const;
  /// Copies the segments again into memory that has been used, and zeroes the parts for which the file has no bytes.
  void reload(const std::vector<base::GuestRam*>&) const;
  /// Throws config::UserError with the end of a sentence about the image.
  [[noreturn]] void refuse(const std::string& why) const;
  const SymbolTable& symbols() const { return symbols_; }
  /// One past the last byte in memory.
  std::uint64_t end() const;

 private:
  void read(const ImageName&, const std::filesystem::path& meant, Kind);
  void parse_elf();
  [[noreturn]] void refuse_place(const Segment&, const SystemRam&) const;
  std::string sentence(const std::string& why) const;

  std::string what_;
  std::string where_;
  std::string name_;
  std::string sha256_;
  Kind kind_;
  bool raw_ = false;
  std::vector<std::uint8_t> file_;
  std::uint64_t entry_ = 0;
  std::vector<Segment> segments_;
  SymbolTable symbols_;
};

}  // namespace sluice::platform
