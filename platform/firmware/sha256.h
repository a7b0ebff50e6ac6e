// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The SHA-256 of files that a run is made of, in hexadecimal.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace sluice::platform {

/// SHA-256 of these bytes, in hexadecimal.
std::string sha256_of(std::span<const std::uint8_t> bytes);

/// SHA-256 of a regular file of any size; empty where there is none, or it cannot be read.
std::string sha256_of_file(const std::filesystem::path&);

}  // namespace sluice::platform
