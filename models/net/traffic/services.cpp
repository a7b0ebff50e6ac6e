// SPDX-License-Identifier: Apache-2.0
#include "models/net/traffic/services.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sluice::net {
namespace {

using Wide = unsigned __int128;

constexpr unsigned kLogBits = 58;     // fraction bits of base::negative_log()
constexpr unsigned kWeightBits = 57;  // so that the weights of 64 services sum to less than 2^64

/// ln n with kLogBits fraction bits, n at most 64.
std::uint64_t natural_log(std::uint64_t n) {
  const std::uint64_t ln_64 = base::negative_log((std::uint64_t{1} << kLogBits) - 1);
  return ln_64 - base::negative_log((n << kLogBits) - 1);
}

/// e^-x with kWeightBits fraction bits, of x with kLogBits. Computed with integers, as random numbers are, to be the
/// same on every host.
std::uint64_t negative_exponential(std::uint64_t x) {
  constexpr std::uint64_t kOne = std::uint64_t{1} << kWeightBits;
  constexpr unsigned kTerms = 20;  // ln(2)^21 / 21! < 2^-76
  const std::uint64_t ln_2 = natural_log(2);
  const std::uint64_t rest = x % ln_2;
  std::uint64_t value = kOne;
  for (unsigned k = kTerms; k >= 1; --k)
    value = kOne - static_cast<std::uint64_t>((static_cast<Wide>(value) * rest >> kLogBits) / k);
  return value >> (x / ln_2);
}

/// rank^-exponent with kWeightBits fraction bits.
std::uint64_t zipf_weight(std::uint64_t rank, double exponent) {
  constexpr unsigned kExponentBits = 32;
  const auto scaled = static_cast<std::uint64_t>(exponent * 0x1p32);
  return negative_exponential(
      static_cast<std::uint64_t>(static_cast<Wide>(natural_log(rank)) * scaled >> kExponentBits));
}

/// 2^64 times the share of ranks 1 to i + 1, of all but the last.
std::vector<std::uint64_t> zipf_shares(std::uint32_t services, double exponent) {
  std::vector<Wide> sums;
  for (std::uint32_t rank = 1; rank <= services; ++rank)
    sums.push_back((sums.empty() ? 0 : sums.back()) + zipf_weight(rank, exponent));
  std::vector<std::uint64_t> shares;
  for (std::uint32_t i = 0; i + 1 < services; ++i)
    shares.push_back(static_cast<std::uint64_t>((sums[i] << 64) / sums.back()));
  return shares;
}

/// Every order is as likely (Fisher and Yates).
std::vector<std::uint16_t> drawn_order(std::uint32_t services, base::RandomStream random) {
  std::vector<std::uint16_t> order(services);
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  for (std::uint32_t left = services; left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

}  // namespace

ServiceChoice::ServiceChoice(const ServiceParameters& p, base::RandomSeed seed, std::string_view path)
    : parameters_(p), draws_(seed, path, "services") {
  if (p.popularity == Popularity::zipf) below_ = zipf_shares(p.services, p.zipf_exponent);
  if (p.popularity == Popularity::hot_set) order_ = drawn_order(p.services, {seed, path, "hot services"});
}

std::uint16_t ServiceChoice::draw(base::Time since) {
  switch (parameters_.popularity) {
    case Popularity::zipf:
      return static_cast<std::uint16_t>(draw_by_rank());
    case Popularity::hot_set:
      return order_[draw_by_set(since)];
    case Popularity::uniform:
      break;
  }
  return static_cast<std::uint16_t>(draws_.below(parameters_.services));
}

std::uint64_t ServiceChoice::draw_by_rank() {
  return static_cast<std::uint64_t>(std::upper_bound(below_.begin(), below_.end(), draws_.next()) - below_.begin());
}

/// A place in the order of the services.
std::uint64_t ServiceChoice::draw_by_set(base::Time since) {
  const std::uint64_t services = parameters_.services, hot = parameters_.hot;
  const std::uint64_t period = parameters_.hot_period == base::Time() ? 0 : since / parameters_.hot_period;
  moves_ += period != std::exchange(period_, period);
  const std::uint64_t first = period % services * hot;
  const bool is_hot = draws_.chance(parameters_.hot_share.numerator(), parameters_.hot_share.denominator());
  const std::uint64_t at = is_hot ? draws_.below(hot) : hot + draws_.below(services - hot);
  return (first + at) % services;
}

}  // namespace sluice::net
