// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Which of several services a call goes to. Plain C++.

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/base/parameters/quantity.h"
#include "models/base/parameters/random.h"
#include "models/base/time/time.h"

namespace sluice::net {

enum class Popularity { uniform, zipf, hot_set };

/// Part of a traffic source's parameters.
struct ServiceParameters {
  std::uint32_t services = 1;  ///< instances of the program, each at a UDP port of its own
  Popularity popularity = Popularity::uniform;
  double zipf_exponent = 1;      ///< zipf: service i gets calls in proportion to 1 / (i + 1)^exponent
  std::uint32_t hot = 1;         ///< hot-set: services that share hot_share evenly
  base::Ratio hot_share{9, 10};  ///< hot-set: of all calls; the other services share the rest evenly
  base::Time hot_period;         ///< hot-set: after which others are hot; 0: never
};

/// Draws the service of each call. The draws have streams of their own, and a call takes as many of them whenever it is
/// made. So its service depends on the seed, on the number of calls before it, and on which services are hot.
///
/// The hot set: the services are in an order that is drawn once. The first `hot` of it are hot in the first period, the
/// next ones in the second, round and round. So the set moves to services that were not hot, as far as there are such,
/// and which are hot at a time follows from that time alone.
class ServiceChoice {
 public:
  /// path: of the component that makes the calls.
  ServiceChoice(const ServiceParameters&, base::RandomSeed, std::string_view path);

  /// The service of the next call, which is due `since` after the calls have begun.
  std::uint16_t next(base::Time since) { return parameters_.services == 1 ? std::uint16_t{0} : draw(since); }
  /// How often a call has met another hot set than the call before.
  const std::uint64_t& moves() const { return moves_; }

 private:
  std::uint16_t draw(base::Time since);
  std::uint64_t draw_by_rank();
  std::uint64_t draw_by_set(base::Time since);

  ServiceParameters parameters_;
  base::RandomStream draws_;
  std::vector<std::uint64_t> below_;  ///< zipf: 2^64 times the share of the calls that go to this service or one before
  std::vector<std::uint16_t> order_;  ///< hot-set: the services as they become hot
  std::uint64_t period_ = 0;          ///< hot-set: of the latest call
  std::uint64_t moves_ = 0;
};

}  // namespace sluice::net
