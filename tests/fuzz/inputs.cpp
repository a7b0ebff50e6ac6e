// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

namespace sluice::fuzz {

void fail(const std::string& what) {
  fmt::print(stderr, "{}: {}\n", target.name, what);
  std::abort();
}

Bytes noise(Random& random, std::size_t length) {
  Bytes bytes(length);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(random.next());
  return bytes;
}

std::uint64_t edge(Random& random) {
  switch (random.below(4)) {
    case 0:
      return random.below(17);
    case 1:
      return std::uint64_t{} - random.below(17);
    case 2:
      return (std::uint64_t{1} << random.below(64)) + random.below(3) - 1;
    default:
      return random.next() >> random.below(64);
  }
}

Bytes read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

namespace {

std::size_t place(Random& random, const Bytes& b) { return random.below(b.size() + 1); }

/// Start and length of a part, the length mostly small.
std::pair<std::size_t, std::size_t> part(Random& random, const Bytes& b) {
  const std::size_t from = place(random, b);
  const std::size_t most = b.size() - from;
  return {from, std::min<std::size_t>(most, random.below((std::uint64_t{2} << random.below(12))))};
}

void insert(Bytes& b, std::size_t at, const Bytes& what) {
  b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), what.begin(), what.end());
}

/// A number of 1, 2, 4 or 8 bytes in either byte order.
void put_number(Bytes& b, Random& random) {
  const std::size_t bytes = std::size_t{1} << random.below(4);
  if (b.size() < bytes) return;
  const std::size_t at = random.below(b.size() - bytes + 1);
  const bool swapped = random.chance(1, 2);
  std::uint64_t v = edge(random);
  if (random.chance(1, 2)) {  // near the present value
    v = random.below(33) - 16;
    for (std::size_t i = 0; i < bytes; ++i) v += std::uint64_t{b[at + (swapped ? bytes - 1 - i : i)]} << 8 * i;
  }
  for (std::size_t i = 0; i < bytes; ++i) b[at + (swapped ? bytes - 1 - i : i)] = static_cast<std::uint8_t>(v >> 8 * i);
}

/// Replaces the digits of a number in the text by those of another number.
void put_digits(Bytes& b, Random& random) {
  const auto is_digit = [](std::uint8_t c) { return c >= '0' && c <= '9'; };
  const auto first = std::find_if(b.begin() + static_cast<std::ptrdiff_t>(place(random, b)), b.end(), is_digit);
  const auto last = std::find_if_not(first, b.end(), is_digit);
  if (first == last) return;
  const Bytes digits = to_bytes(std::to_string(edge(random)));
  const std::size_t at = static_cast<std::size_t>(first - b.begin());
  b.erase(first, last);
  insert(b, at, digits);
}

void mutate_once(Bytes& b, Random& random, const std::vector<std::string>& words, const std::vector<Bytes>& others) {
  const auto [from, length] = part(random, b);
  const auto begin = b.begin() + static_cast<std::ptrdiff_t>(from);
  const auto end = begin + static_cast<std::ptrdiff_t>(length);
  switch (random.below(11)) {
    case 0:
      if (from < b.size()) b[from] ^= static_cast<std::uint8_t>(1 << random.below(8));
      return;
    case 1:
      if (from < b.size()) b[from] = static_cast<std::uint8_t>(random.next());
      return;
    case 2:
    case 3:
      return put_number(b, random);
    case 4:
      b.erase(begin, end);
      return;
    case 5: {
      const Bytes copy(begin, end);
      return insert(b, place(random, b), copy);
    }
    case 6:
      return insert(b, from, noise(random, random.below(9)));
    case 7:
      if (random.chance(1, 4)) b.resize(from);  // truncated
      return;
    case 8: {
      if (others.empty()) return;
      const Bytes& other = others[random.below(others.size())];
      const auto [a, n] = part(random, other);
      const auto start = other.begin() + static_cast<std::ptrdiff_t>(a);
      const Bytes piece(start, start + static_cast<std::ptrdiff_t>(n));
      if (random.chance(1, 2)) b.erase(begin, end);
      return insert(b, from, piece);
    }
    case 9:
      return put_digits(b, random);
    default:
      if (words.empty()) return put_number(b, random);
      if (random.chance(1, 2)) b.erase(begin, end);
      return insert(b, from, to_bytes(words[random.below(words.size())]));
  }
}

}  // namespace

void mutate_bytes(Bytes& b, Random& random, const std::vector<std::string>& words, const std::vector<Bytes>& others) {
  const std::uint64_t changes = 1 + random.below(std::uint64_t{1} << random.below(4));
  for (std::uint64_t i = 0; i < changes; ++i) mutate_once(b, random, words, others);
}

MemoryFile::MemoryFile(const char* name) : file_(memfd_create(name, 0)), path_(fmt::format("/proc/self/fd/{}", file_)) {
  if (file_ < 0) fail("memfd_create failed");
}

MemoryFile::~MemoryFile() { ::close(file_); }

void MemoryFile::assign(const void* data, std::size_t size) {
  if (ftruncate(file_, 0) != 0) fail("ftruncate failed");
  if (size != 0 && pwrite(file_, data, size, 0) != static_cast<ssize_t>(size)) fail("pwrite failed");
}

}  // namespace sluice::fuzz
