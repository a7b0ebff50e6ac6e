// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "models/base/measure/waveforms.h"

using namespace sluice;

namespace {

/// A block of an FST file: its type, the length of what follows the type, and contents.
std::string block(char type, std::size_t contents) {
  std::string b(1, type);
  for (int shift = 56; shift >= 0; shift -= 8) b += static_cast<char>((contents + 8) >> shift);
  return b + std::string(contents, 'x');
}

}  // namespace

TEST_CASE("a waveform is complete where its blocks end with the file") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("waveform-" + std::to_string(getpid()) + ".fst");
  const std::string whole = block(0, 321) + block(8, 70'000) + block(3, 0) + block(6, 255);
  const auto is_complete = [&](const std::string& contents) {
    std::ofstream(file, std::ios::binary) << contents;
    try {
      base::check_waveform(file);
    } catch (const std::runtime_error& e) {
      CHECK(e.what() == file.string() + ": not all of it could be written: is the disk full?");
      return false;
    }
    return true;
  };
  CHECK(is_complete(whole));
  CHECK(is_complete(block(0, 321)));
  CHECK_FALSE(is_complete(""));
  CHECK_FALSE(is_complete(whole + std::string(1, '\0')));
  for (std::size_t size = 1; size < whole.size(); size += size % 70'000 < 400 ? 1 : 997) {
    INFO("cut behind " << size);
    CHECK(is_complete(whole.substr(0, size)) == (size == 330 || size == 330 + 70'009 || size == 330 + 70'009 + 9));
  }
  // A length that cannot be.
  CHECK_FALSE(is_complete(std::string(1, '\0') + std::string(8, '\0')));
  CHECK_FALSE(is_complete(std::string(9, '\xff')));
  std::filesystem::remove(file);
  CHECK_THROWS_AS(base::check_waveform(file), std::runtime_error);
}
