// SPDX-License-Identifier: Apache-2.0
#include "platform/firmware/sha256.h"

#include <fstream>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace sluice::platform {
namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void add(const void* bytes, std::size_t count) { EVP_DigestUpdate(context_.get(), bytes, count); }
  std::string text() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &length);
    std::string hexadecimal;
    for (unsigned i = 0; i < length; ++i) hexadecimal += fmt::format("{:02x}", digest[i]);
    return hexadecimal;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256_of(std::span<const std::uint8_t> bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.text();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};  // a FIFO would wait
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) return {};
  Digest digest;
  std::vector<char> part(1 << 16);
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0)
    digest.add(part.data(), static_cast<std::size_t>(in.gcount()));
  return in.bad() ? std::string() : digest.text();
}

}  // namespace sluice::platform
