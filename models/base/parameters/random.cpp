// SPDX-License-Identifier: Apache-2.0
#include "models/base/parameters/random.h"

#include <Random123/philox.h>

#include "models/base/parameters/random_table.h"
#include "models/base/time/key.h"

namespace sluice::base {

namespace {

using Wide = unsigned __int128;

/// ln 2 with 64 fraction bits.
constexpr std::uint64_t kLn2 = 0xb17217f7d1cf79abu;

/// Binary logarithm of x / 2^63 for x in [2^63, 2^64), with 62 fraction bits: one bit per squaring. Slow, and exact to
/// the last bits; it makes the table below at compile time.
constexpr std::uint64_t slow_log2(std::uint64_t x) {
  std::uint64_t result = 0;
  for (int bit = 61; bit >= 0; --bit) {
    const Wide square = static_cast<Wide>(x) * x;  // in [2^126, 2^128)
    if (square >> 127) {
      result |= std::uint64_t{1} << bit;
      x = static_cast<std::uint64_t>(square >> 64);
    } else {
      x = static_cast<std::uint64_t>(square >> 63);
    }
  }
  return result;
}

/// For the 128 intervals of m in [1, 2): an approximate reciprocal r of the interval's middle, and ln(1 / r).
struct LogTable {
  static constexpr unsigned kBits = 7;
  std::uint64_t reciprocal[1 << kBits] = {};  ///< 63 fraction bits, in (1/2, 1)
  std::uint64_t log[1 << kBits] = {};         ///< 62 fraction bits

  constexpr LogTable() {
    for (unsigned i = 0; i < 1 << kBits; ++i) {
      const std::uint64_t middle =
          (std::uint64_t{1} << 63) + (2 * std::uint64_t{i} + 1) * (std::uint64_t{1} << (62 - kBits));
      reciprocal[i] = static_cast<std::uint64_t>((static_cast<Wide>(1) << 126) / middle);
      // 1 / r = 2 / (2 r), and 2 r lies in [1, 2).
      const std::uint64_t log2 = (std::uint64_t{1} << 62) - slow_log2(reciprocal[i] << 1);
      log[i] = static_cast<std::uint64_t>((static_cast<Wide>(log2) * kLn2) >> 64);
    }
  }
};
constexpr LogTable kLogTable;

}  // namespace

std::uint64_t negative_log(std::uint64_t u) {
  if (u == ~std::uint64_t{0}) return 0;  // u + 1 = 2^64 does not fit 64 bits
  const std::uint64_t x = u + 1;
  const unsigned zeros = static_cast<unsigned>(__builtin_clzll(x));
  const std::uint64_t m = x << zeros;  // [1, 2) with 63 fraction bits
  const unsigned i = static_cast<unsigned>(m >> (63 - LogTable::kBits)) & ((1u << LogTable::kBits) - 1);

  // m r = 1 + d with |d| < 2^-7; ln m = ln(1 / r) + d - d^2/2 + d^3/3 - ..., cut after d^7 (error below 2^-59).
  const auto d =
      static_cast<std::int64_t>(static_cast<std::uint64_t>((static_cast<Wide>(m) * kLogTable.reciprocal[i]) >> 64) -
                                (std::uint64_t{1} << 62));  // 62 fraction bits
  std::int64_t series = 0;
  for (int n = 7; n >= 1; --n) {
    const std::int64_t one_nth = (std::int64_t{1} << 62) / n;
    series = static_cast<std::int64_t>((static_cast<__int128>(one_nth - series) * d) >> 62);
  }
  const auto log_m =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(kLogTable.log[i]) + series);  // 62 fraction bits

  // x / 2^64 = m 2^-(zeros + 1)
  const Wide whole = static_cast<Wide>(kLn2) * (zeros + 1);  // 64 fraction bits
  const Wide part = static_cast<Wide>(log_m) << 2;
  return whole > part ? static_cast<std::uint64_t>((whole - part) >> 6) : 0;  // if m is near 2, log_m may exceed ln 2
}

RandomStream::RandomStream(RandomSeed seed, std::string_view path, std::string_view purpose)
    : key_{seed.seed, path_key(path)}, counter_{0, seed.replication, path_key(purpose), 0} {}

std::uint64_t random_at(std::uint64_t key, std::uint64_t index) {
  const philox2x64_ctr_t counter{{index, 0}};
  const philox2x64_key_t keys{{key}};
  return philox2x64(counter, keys).v[0];
}

void RandomStream::refill() {
  const philox4x64_ctr_t counter{{counter_[0], counter_[1], counter_[2], counter_[3]}};
  const philox4x64_key_t key{{key_[0], key_[1]}};
  const philox4x64_ctr_t block = philox4x64(counter, key);
  for (unsigned i = 0; i < kBlock; ++i) block_[i] = block.v[i];
  ++counter_[0];
  left_ = kBlock;
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  if (bound == 0) return next();
  // Lemire's method: the high half of the product is uniform if products whose low half is below 2^64 mod bound are
  // drawn again.
  Wide product = static_cast<Wide>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t refused = -bound % bound;
    while (static_cast<std::uint64_t>(product) < refused) product = static_cast<Wide>(next()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t RandomStream::exponential(std::uint64_t mean) {
  const Wide product = (static_cast<Wide>(mean) * negative_log(next())) >> 58;
  return product >> 64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(product);
}

}  // namespace sluice::base
