// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "models/base/files/output_file.h"

using namespace sluice::base;

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("sluice_test_output_file." + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("an output file has what was written, in order, however much", "[output]") {
  const Folder folder;
  const std::string path = folder.path / "x";
  std::string all;
  {
    OutputFile file(path);
    for (int i = 0; i < 100'000; ++i) {
      const std::string part = std::to_string(i) + '\0';
      file.write(part);
      all += part;
    }
    file.close();
    CHECK(content(path) == all);
    file.write("nothing");
    file.flush();
    file.close();
  }
  CHECK(content(path) == all);
  OutputFile{path};
  CHECK(content(path).empty());
}

TEST_CASE("an output file is there after a flush and after its writer's end", "[output]") {
  const Folder folder;
  const std::string path = folder.path / "x";
  {
    OutputFile file(path);
    file.write("one");
    CHECK(content(path).empty());
    file.flush();
    CHECK(content(path) == "one");
    file.write("two");
  }
  CHECK(content(path) == "onetwo");
}

TEST_CASE("what an output file could not write is said once, at its end", "[output]") {
  CHECK_THROWS_WITH(OutputFile("/no/such/x"), "/no/such/x: cannot be written: No such file or directory");
  OutputFile full("/dev/full");
  full.write("some");
  full.flush();
  full.write("more");
  CHECK_THROWS_WITH(full.close(), "/dev/full: cannot be written: No space left on device");
  full.close();
}
