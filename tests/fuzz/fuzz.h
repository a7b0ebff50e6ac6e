// SPDX-License-Identifier: Apache-2.0
#pragma once
/// A fuzz target: LLVMFuzzerTestOneInput, and what the driver must know to make inputs for it. With GCC, driver.cpp has
/// main() of every target and makes inputs from seed and run number alone; with clang, libFuzzer has main().

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "models/base/parameters/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace sluice::fuzz {

using Bytes = std::vector<std::uint8_t>;
using Random = base::RandomStream;

struct Target {
  const char* name;
  /// Real inputs, which are mutated.
  std::vector<Bytes> (*corpus)();
  /// Changes an input with knowledge of its format; null: bytes, numbers and words only.
  void (*mutate)(Bytes&, Random&) = nullptr;
  /// Words that mean something in the format.
  std::vector<std::string> words = {};
  std::uint64_t runs = 1;         ///< of a ctest: a few seconds under the sanitizers
  std::uint64_t full_runs = 1;    ///< with SLUICE_FULL=1: the acceptance count
  std::size_t longest = 1 << 16;  ///< bytes of an input
  /// Checks what can be checked only in the end, and prints one line; null: nothing.
  void (*finish)() = nullptr;
};
/// Each target defines its own.
extern const Target target;

/// Reports that an input has shown a mistake: says which and ends the process, so that either driver keeps the input.
[[noreturn]] void fail(const std::string& what);
inline void require(bool good, const char* what) {
  if (!good) fail(what);
}

/// Mutates bytes, numbers, words and lengths: one to eight changes. others: to splice with.
void mutate_bytes(Bytes&, Random&, const std::vector<std::string>& words, const std::vector<Bytes>& others);
/// Bytes of any value.
Bytes noise(Random&, std::size_t length);
/// A number at which programs err: powers of two and their neighbours, 0, all ones.
std::uint64_t edge(Random&);
/// The whole of a file; fails when there is none.
Bytes read_file(const std::string& path);
inline Bytes to_bytes(const std::string& text) { return {text.begin(), text.end()}; }

/// Takes an input apart into decisions. At its end, every decision is 0.
class Decisions {
 public:
  Decisions(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  template <class T = std::uint8_t>
  T take() {
    static_assert(std::is_integral_v<T>);
    T v = 0;
    const std::size_t n = sizeof v < left_ ? sizeof v : left_;
    std::memcpy(&v, at_, n);
    at_ += n;
    left_ -= n;
    return v;
  }
  /// 0 to bound - 1; bound at most 65536.
  unsigned below(unsigned bound) { return (bound <= 256 ? take<std::uint8_t>() : take<std::uint16_t>()) % bound; }
  bool chance(unsigned in_256) { return take() < in_256; }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

/// A file in memory, for parsers that open one by its path. It is kept for the process; assign() replaces its contents.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  void assign(const void* data, std::size_t size);
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

}  // namespace sluice::fuzz
