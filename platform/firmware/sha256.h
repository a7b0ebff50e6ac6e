// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The SHA-256 of files that a run is made of, in hexadecimal.

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace sluice::platform {

/// SHA-256 of these bytes, in hexadecimal.
std::string sha256_of(std::span<const std::uint8_t> bytes);
std::string sha256_of(std::string_view text);

/// SHA-256 of a regular file of any size; empty where there is none, or it cannot be read.
std::string sha256_of_file(const std::filesystem::path&);

/// Remembers what it has read of files, each of which must stay the same while this object lives.
class FileDigests {
 public:
  /// As sha256_of_file().
  const std::string& of(const std::filesystem::path&);

 private:
  std::map<std::filesystem::path, std::string> known_;
};

}  // namespace sluice::platform
