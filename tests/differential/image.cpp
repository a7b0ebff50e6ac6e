// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/image.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace sluice::differential {

#define SLUICE_NAME(name) #name,
const char* const kFinalCsrNames[kFinalCsrs] = {DIFF_FINAL_CSRS(SLUICE_NAME)};
#undef SLUICE_NAME

namespace {

std::vector<char> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

constexpr std::uint64_t kTable = kRam + DIFF_CONTROL + kPage;  // up to the first program

}  // namespace

Image::Image(const std::string& harness) : Image() {
  const std::vector<char> code = contents(harness);
  if (code.size() > DIFF_HARNESS_SIZE) throw std::runtime_error(harness + " is no harness");
  std::memcpy(bytes_.data(), code.data(), code.size());
}

Image Image::load(const std::string& path) {
  Image image;
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(image.bytes_.data()), static_cast<std::streamsize>(kRamSize)))
    throw std::runtime_error("cannot read " + path);
  return image;
}

void Image::save(const std::string& path) const {
  // Pages of zeros are left out: the file is as long as the RAM, but sparse.
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const std::vector<std::uint8_t> zeros(kPage);
  for (std::uint64_t at = 0; at < kRamSize; at += kPage) {
    if (std::memcmp(bytes_.data() + at, zeros.data(), kPage) == 0 && at + kPage < kRamSize) continue;
    file.seekp(static_cast<std::streamoff>(at));
    file.write(reinterpret_cast<const char*>(bytes_.data() + at), kPage);
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::uint64_t Image::allocate(std::uint64_t bytes) {
  const std::uint64_t at = free_;
  free_ += (bytes + kPage - 1) / kPage * kPage;
  if (free_ > kRam + kRamForPrograms) throw std::runtime_error("a batch is larger than the machine's RAM");
  return at;
}

void Image::set_programs(const std::vector<std::uint64_t>& descriptors) {
  if (descriptors.size() * 8 > kRam + DIFF_PROGRAMS - kTable) throw std::runtime_error("too many programs in a batch");
  put_words(kTable, descriptors);
  put(kRam + DIFF_CONTROL + CB_TABLE, kTable);
  put<std::uint64_t>(kRam + DIFF_CONTROL + CB_COUNT, descriptors.size());
}

}  // namespace sluice::differential
