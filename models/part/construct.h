// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How factories make the instances of their models.

#include <memory>
#include <type_traits>
#include <utility>

#include "models/base/parameters/random.h"

namespace sluice::part {

/// Makes a T from these arguments and, if its constructor takes a seed after them, from the seed.
template <class T, class... Arguments>
std::unique_ptr<T> construct(base::RandomSeed seed, Arguments&&... arguments) {
  if constexpr (std::is_constructible_v<T, Arguments..., base::RandomSeed>)
    return std::make_unique<T>(std::forward<Arguments>(arguments)..., seed);
  else
    return std::make_unique<T>(std::forward<Arguments>(arguments)...);
}

}  // namespace sluice::part
