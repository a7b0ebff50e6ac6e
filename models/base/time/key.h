// SPDX-License-Identifier: Apache-2.0
#pragma once
/// Stable keys of component paths: the calendar orders simultaneous entries by them and random streams are drawn from
/// them, so they must be the same on every host and in every version. Header only, plain C++.

#include <cstdint>
#include <string_view>

namespace sluice::base {

/// 64-bit FNV-1a hash of a component's path ("nic.eth0.mac"), of a purpose or of any other name. The empty string has
/// the key 0xcbf29ce484222325. Distinct names of one board are expected to have distinct keys; code that
/// must be certain compares the names as well.
constexpr std::uint64_t path_key(std::string_view path) {
  std::uint64_t key = 0xcbf29ce484222325u;
  for (const char c : path) {
    key ^= static_cast<unsigned char>(c);
    key *= 0x100000001b3u;
  }
  return key;
}

}  // namespace sluice::base
