// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/sha256.h"

#include <array>
#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <nettle/sha2.h>

namespace sluice::platform {
namespace {

class Digest {
 public:
  Digest() { sha256_init(&context_); }
  void add(const void* bytes, std::size_t count) {
    sha256_update(&context_, count, static_cast<const std::uint8_t*>(bytes));
  }
  std::string text() {
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&context_, digest.size(), digest.data());
    std::string hexadecimal;
    for (const std::uint8_t byte : digest) hexadecimal += fmt::format("{:02x}", byte);
    return hexadecimal;
  }

 private:
  sha256_ctx context_{};
};

}  // namespace

std::string sha256_of(std::span<const std::uint8_t> bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.text();
}

std::string sha256_of(std::string_view text) {
  return sha256_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};  // reading a FIFO could block
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) return {};
  Digest digest;
  std::vector<char> part(1 << 16);
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0)
    digest.add(part.data(), static_cast<std::size_t>(in.gcount()));
  return in.bad() ? std::string() : digest.text();
}

const std::string& FileDigests::of(const std::filesystem::path& path) {
  const auto [entry, is_new] = known_.try_emplace(path);
  if (is_new) entry->second = sha256_of_file(path);
  return entry->second;
}

}  // namespace sluice::platform
